use adk::prelude::*;

workflow! {
    pub Writing(topic: String) -> text: String {
        agent critic -> notes: Vec<String> { instruction: "Review {topic}." }
        agent writer -> text: String { instruction: "Apply {notes[0]} to {topic}." }

        critic;
        writer
    }
}

fn main() {}
