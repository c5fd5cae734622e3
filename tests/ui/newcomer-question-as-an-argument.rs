use adk::prelude::*;

workflow! {
    pub Writing(topic: String) -> text: String {
        agent writer -> text: String { instruction: "Write about {topic}." }

        writer;
        await("May it go?") fine: bool
    }
}

fn main() {}
