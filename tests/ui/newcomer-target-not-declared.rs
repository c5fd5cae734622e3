use adk::prelude::*;

workflow! {
    pub Writing(topic: String) -> text: String {
        agent writer -> text: String { instruction: "Write about {topic}.", transfer: [editor], max_turns: 3 }

        writer
    }
}

fn main() {}
