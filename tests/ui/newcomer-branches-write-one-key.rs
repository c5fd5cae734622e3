use adk::prelude::*;

workflow! {
    pub Writing(topic: String) -> text: String {
        agent left -> text: String { instruction: "Praise {topic}." }
        agent right -> text: String { instruction: "Mock {topic}." }

        parallel < left; right >
    }
}

fn main() {}
