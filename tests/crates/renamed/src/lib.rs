//! `agents = { package = "adk-workflow" }`: the macros find the crate under the user's name.
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
