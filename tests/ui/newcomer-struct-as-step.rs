use adk::prelude::*;

struct Checker;

workflow! {
    pub Writing(topic: String) -> text: String {
        agent writer -> text: String { instruction: "Write about {topic}." }

        writer;
        Checker
    }
}

fn main() {}
