//! An invalid tool may have any effect, so no more errors are reported for its agent.

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
