use adk::prelude::*;

/// Answers in the place of a block.
fn is_done(_: &mut CallbackContext) -> Option<&'static str> {
    Some("Nothing is to be done.")
}

/// Needs the draft.
#[agent]
fn publish(draft: &str) {
    println!("{draft}");
}

// A callback may skip the block, with all that is written in it.
workflow! {
    pub Writing(topic: String) {
        agent writer -> draft: String { instruction: "Write about {topic}." }

        work: loop(max = 2, before_agent = is_done) < writer >
        publish
    }
}

workflow! {
    pub Planning(topic: String) -> plan: String {
        agent planner -> plan: String { instruction: "Plan {topic}." }
        agent critic { instruction: "Criticise {topic}." }

        parallel < work: sequence(before_agent = |_| Some("no")) < planner > critic >
    }
}

// Behind a `break` that may be skipped not all is written.
workflow! {
    pub Leaving(topic: String) {
        agent writer -> draft: String { instruction: "Write about {topic}." }

        loop(max = 2) < work: sequence(before_agent = is_done) < break > publish; writer >
    }
}

/// A macro that gives a value.
macro_rules! never {
    () => {
        Some("never")
    };
}

workflow! {
    pub Guarded(topic: String) {
        agent writer -> draft: String { instruction: "Write about {topic}." }

        work: loop(max = 2, before_agent = |_| { never! {} }) < writer >
        publish
    }
}

// Nor are there lists behind an `each` that is.
workflow! {
    pub Listing(topics: Vec<String>) -> draft: Vec<String> {
        agent writer -> draft: String { instruction: "Write about {topic}." }

        work: each(before_agent = is_done) topic in topics < writer >
    }
}

fn main() {}
