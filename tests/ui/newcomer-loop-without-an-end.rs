use adk::prelude::*;

workflow! {
    pub Writing(topic: String) -> text: String {
        agent writer -> text: String { instruction: "Write about {topic}." }
        agent critic -> notes: String { instruction: "Review {text}." }

        loop < writer; critic >
    }
}

fn main() {}
