use adk::prelude::*;

/// Searches the web.
#[tool]
fn search(query: String) -> String {
    query
}

/// Searches the web once more.
#[tool(name = "search")]
fn again(query: String) -> String {
    query
}

workflow! {
    pub Writing() {
        agent critic { instruction: "Review.", tools: [search, again] }
        agent writer { instruction: "Write.", tools: [search, search] }

        critic;
        writer
    }
}

fn main() {}
