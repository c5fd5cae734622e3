use adk::prelude::*;

workflow! {
    pub Writing(topic: String) -> text: String {
        agent writer -> text: String { instruction: "Write about {topic}.", temperature: "0.5" }

        writer
    }
}

fn main() {}
