//! What is no tool may do anything, so nothing more is said of the agent that has it.

use adk::prelude::*;

/// Reviews a draft.
#[agent(writes = verdict)]
fn reviewer(draft: &str) -> bool {
    !draft.is_empty()
}

workflow! {
    Writing(topic: String) -> draft: String {
        agent writer -> draft: String { instruction: "Write about {topic}.", tools: [reviewer] }

        writer
    }
}

fn main() {}
