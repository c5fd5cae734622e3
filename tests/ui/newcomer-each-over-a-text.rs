use adk::prelude::*;

workflow! {
    pub Writing(topic: String) -> text: String {
        agent critic -> notes: String { instruction: "Review {word}." }
        agent writer -> text: String { instruction: "Write about {topic}." }

        writer;
        each word in text < critic >
    }
}

fn main() {}
