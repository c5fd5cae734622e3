use adk::prelude::*;

workflow! {
    pub Writing(topic: String) -> text: String {
        let tone = "plain";
        agent writer -> text: String { instruction: "Write about {topic}, {tone}." }

        writer
    }
}

fn main() {}
