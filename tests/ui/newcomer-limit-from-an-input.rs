use adk::prelude::*;

workflow! {
    pub Writing(topic: String, rounds: u32) -> text: String {
        agent writer -> text: String { instruction: "Write about {topic}." }

        loop(max = rounds) < writer >
    }
}

fn main() {}
