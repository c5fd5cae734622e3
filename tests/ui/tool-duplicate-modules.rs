use adk::prelude::*;

mod web {
    use adk::prelude::*;

    /// Searches the web.
    #[tool]
    pub fn search(query: String) -> String {
        query
    }

    /// Searches the web again.
    #[tool(name = "search")]
    pub fn again(query: String) -> String {
        query
    }
}
use web::search;

workflow! {
    pub Writing() {
        agent critic { instruction: "Review.", tools: [search, web::again] }
        agent writer { instruction: "Write.", tools: [search] }
        critic;
        critic as second;
        writer
    }
}

adk::llm::agent! { pub lone { instruction: "Think.", tools: [search, web::search] } }

fn main() {}
