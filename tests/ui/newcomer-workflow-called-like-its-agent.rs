use adk::prelude::*;

workflow! {
    pub Writer(topic: String) -> text: String {
        agent writer -> text: String { instruction: "Write about {topic}." }

        writer
    }
}

fn main() {}
