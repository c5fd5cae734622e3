//! Two tools with one name in two agents, and in one agent under another name.

use adk::prelude::*;

/// Searches the web again.
#[tool(name = "search_again")]
pub fn search(query: String) -> String {
    query
}

workflow! {
    pub Writing() {
        agent critic { instruction: "Review.", tools: [search, agents::tools::search] }
        agent writer { instruction: "Write.", tools: [search, agents::tools::archive::search] }

        critic;
        writer
    }
}
