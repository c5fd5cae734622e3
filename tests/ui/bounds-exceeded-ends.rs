use adk::prelude::*;

async fn never() -> Option<&'static str> {
    std::future::pending::<()>().await;
    None
}

workflow! {
    /// A callback never ends.
    #[bounds(ends)]
    Asking(topic: String) -> answer: String {
        agent asker -> answer: String { instruction: "{topic}", timeout: "1s", before_agent: |_| never() }
        asker
    }
}

async fn instruct(_: adk::ReadonlyContext) -> Result<String> {
    std::future::pending().await
}

workflow! {
    /// An instruction never comes.
    #[bounds(ends)]
    Making(topic: String) -> answer: String {
        agent asker -> answer: String { instruction: instruct, timeout: "1s" }
        asker
    }
}

workflow! {
    /// A callback of a block never ends.
    #[bounds(ends)]
    Blocks(topic: String) -> answer: String {
        agent asker -> answer: String { instruction: "{topic}", timeout: "1s" }
        steps: sequence(after_agent = |_| never()) < asker >
    }
}

workflow! {
    /// With a limit of time it ends.
    #[bounds(ends, time = "10m")]
    Limited(topic: String) -> answer: String {
        agent asker -> answer: String { instruction: "{topic}", timeout: "1s", before_agent: |_| never() }
        asker
    }
}

workflow! {
    /// What is known of it is too much.
    #[bounds(model_calls = 7)]
    Calls(task: String) -> result: String {
        /// Researches a question.
        agent researcher -> facts: String { instruction: "Look it up." }
        agent boss -> result: String { instruction: "{task}", tools: [agent(researcher)], max_turns: 8 }
        boss
    }
}

fn main() {}
