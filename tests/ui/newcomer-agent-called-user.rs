use adk::prelude::*;

workflow! {
    pub Writing(topic: String) -> text: String {
        agent user -> text: String { instruction: "Write about {topic}." }

        user
    }
}

fn main() {}
