use adk::prelude::*;

workflow! {
    pub Writing(topic: String) -> text: String {
        agent writer -> text: Result<String> { instruction: "Write about {topic}." }

        writer
    }
}

fn main() {}
