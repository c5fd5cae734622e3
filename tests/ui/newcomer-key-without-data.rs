use adk::prelude::*;

struct Review {
    notes: String,
}

workflow! {
    pub Reviewing(topic: String) {
        agent critic -> review: Review { instruction: "Review {topic}." }

        critic
    }
}

fn main() {}
