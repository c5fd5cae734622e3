use adk::prelude::*;

fn count(text: &str) -> usize {
    text.len()
}

workflow! {
    pub Writing(topic: String) -> text: String {
        agent writer -> text: String { instruction: "Write about {topic}." }

        writer;
        count
    }
}

fn main() {}
