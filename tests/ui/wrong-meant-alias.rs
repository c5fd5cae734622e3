//! Returns nothing, by an alias: an agent, and no tool.

use adk::prelude::*;

type Nothing = ();

/// Does nothing.
#[agent]
fn idle(draft: &str) -> Nothing {
    assert!(!draft.is_empty());
}

workflow! {
    /// Rests.
    pub Resting(draft: String) -> rest: String {
        agent sleeper -> rest: String {
            instruction: "Rest after {draft}.",
            tools: [idle],
        }

        sleeper
    }
}

fn main() {}
