use adk::prelude::*;

workflow! {
    pub Writing(topic: String) -> draft: String {
        agent planner -> plan: String { instruction: "Plan a text about {topic}." }
        agent writer -> draft: String { instruction: "Write it after {plan}." }
        agent critic { instruction: "Review {draft} for {user:name}, {app:rules?} and {temp:note?}." }

        writer;
        planner;
        critic
    }
}

/// Whether it is good.
#[agent(writes = good)]
fn is_good(text: &str) -> bool {
    text.len() > 9
}

// It was to stand in the loop.
workflow! {
    pub Refining(topic: String) -> text: String {
        agent editor -> text: String { instruction: "Write about {topic}." }

        loop(max = 3, until = good) < editor >
        is_good
    }
}

fn main() {}
