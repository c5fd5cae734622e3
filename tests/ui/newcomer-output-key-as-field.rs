use adk::prelude::*;

workflow! {
    pub Writing(topic: String) -> text: String {
        agent writer { instruction: "Write about {topic}.", output_key: "text" }

        writer
    }
}

fn main() {}
