use adk::prelude::*;

/// Searches.
#[tool]
fn search(query: &str) -> String {
    query.to_owned()
}

workflow! {
    pub Writing(topic: String) -> text: String {
        agent writer -> text: String { instruction: "Write about {topic}.", tools: [search()] }

        writer
    }
}

fn main() {}
