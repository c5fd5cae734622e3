//! Agents of two macro calls that are tools of each other: rustc reports a cycle of constants.

use adk::prelude::*;

llm::agent! {
    /// Writes.
    pub writer -> text: String { instruction: "Write.", tools: [agent(critic)], max_turns: 2 }
}

llm::agent! {
    /// Reviews.
    pub critic -> review: String { instruction: "Review.", tools: [agent(writer)], max_turns: 2 }
}

workflow! {
    pub Writing() -> text: String { writer }
}

fn main() {}
