//! Agents, a tool and a workflow for other crates.
#![deny(warnings, missing_docs)]

use adk::prelude::*;

/// The instruction of the reviewer.
pub const REVIEW: &str = "Review the draft: {draft}";

/// Counts the words of the draft.
#[agent(writes = words)]
pub fn count_words(draft: &str) -> usize {
    draft.split_whitespace().count()
}

/// Ends the loop when the draft is long enough.
#[agent]
pub fn long_enough(words: usize) -> Flow {
    Flow::exit_if(words > 100)
}

/// Looks up a fact in the archive.
#[tool]
pub fn archive(fact: String) -> String {
    format!("nothing is known about {fact}")
}

adk::llm::agent! {
    /// Reviews the draft as a reader would.
    pub reviewer -> review: String { instruction: REVIEW, tools: [archive] }
}

workflow! {
    /// Checks the facts of a draft.
    pub FactCheck(draft: String) -> facts: String {
        /// Lists what is wrong.
        agent checker -> facts: String { instruction: "List what is wrong in {draft}." }

        checker
    }
}
