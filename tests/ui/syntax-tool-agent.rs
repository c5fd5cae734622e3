use adk::prelude::*;

mod tools {
    use adk::prelude::*;

    /// Searches.
    #[tool]
    pub async fn search(query: String) -> Result<String> {
        Ok(query)
    }
}

use tools::search;

workflow! {
    pub Writing(topic: String) -> draft: String {
        agent writer -> draft: String { instruction: "Write about {topic}.", tools: [search, critic, self::refiner] }
        agent critic -> criticism: String { instruction: "Criticise it.", tools: [critic] }
        agent refiner -> refined: String { instruction: "Refine it." }
        // One that has the name of a tool.
        agent search -> found: String { instruction: "Search for {topic}.", tools: [search] }
        search; writer
    }
}

fn main() {}
