use adk::prelude::*;

workflow! {
    pub Writing(topic: String) -> text: String {
        agent writer -> text: String { instruction: "Write about {topic}.", include_contents: "none" }

        writer
    }
}

fn main() {}
