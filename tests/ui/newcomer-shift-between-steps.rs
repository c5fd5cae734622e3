use adk::prelude::*;

workflow! {
    pub Writing(topic: String) -> text: String {
        agent writer -> text: String { instruction: "Write about {topic}." }
        agent critic { instruction: "Review {text}." }

        writer >> critic
    }
}

fn main() {}
