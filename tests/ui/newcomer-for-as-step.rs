use adk::prelude::*;

workflow! {
    pub Writing(topics: Vec<String>) -> text: Vec<String> {
        agent writer -> text: String { instruction: "Write about {topic}." }

        for topic in topics { writer }
    }
}

fn main() {}
