//! `agents = { package = "adk-workflow" }`: the macros find the name under which the user knows the crate.
#![deny(warnings, missing_docs)]

use agents::prelude::*;

agents::llm::agent! {
    /// Reviews the draft.
    pub critic -> criticism: String { instruction: "Review {draft}." }
}

workflow! {
    /// Reviews a draft.
    pub Review(draft: String) -> criticism: String {
        critic
    }
}
