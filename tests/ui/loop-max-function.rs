use adk::prelude::*;

/// Says how many rounds there are to be.
#[agent(writes = rounds_left)]
fn plan(topic: &str) -> u32 {
    u32::try_from(topic.len()).unwrap_or(5)
}

// A key that a function writes is no constant.
workflow! {
    pub Writing(topic: String) -> text: String {
        agent writer -> text: String { instruction: "Write about {topic}." }

        plan;
        loop(max = rounds_left) < writer >
    }
}

// An agent as a tool that nothing is called like, and one nearly.
workflow! {
    pub Asking(topic: String) -> text: String {
        agent writer -> text: String { instruction: "Write about {topic}.", tools: [agent(reviwer)] }

        /// Reviews a text.
        agent reviewer { instruction: "Review." }

        writer
    }
}

// A key of the session that is no output of the workflow which writes it.
workflow! {
    Inner(topic: String) {
        agent namer -> user:name: String { instruction: "Name {topic}." }

        namer
    }
}

workflow! {
    pub Greeting(topic: String) -> text: String {
        agent writer -> text: String { instruction: "Greet {user:name}." }

        Inner;
        writer
    }
}

fn main() {}
