//! What reads a key as another type is named where it is a tool of the agent, or an agent that takes over from it.

use adk::prelude::*;

/// Counts.
#[agent(writes = digits)]
fn count(number: u32) -> String {
    number.to_string()
}

workflow! {
    /// Tells.
    pub Telling(number: String) -> told: String {
        agent teller -> told: String { instruction: "Tell {number}.", tools: [agent(count)] }
        teller
    }
}

fn main() {}
