use adk::prelude::*;

workflow! {
    pub Writing(topic: String) -> text: String {
        agent writer -> text: String { instruction: "Write about {topic}." }
        agent critic -> notes: String { instruction: "Review {text}." }

        parallel < writer; critic >
    }
}

fn main() {}
