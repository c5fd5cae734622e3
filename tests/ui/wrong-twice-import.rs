//! A type of ours and an import of its name are told once, and what is ours is checked too.

use adk::llm::agent;
use adk::prelude::*;
use std::time::{Duration, Instant as judge, *};

/// What others have.
mod other {
    use adk::prelude::*;

    pub struct Reviewing;

    workflow! {
        /// Reviews a text.
        pub Judging(text: String) -> text: String {
            agent writer -> text: String { instruction: "{text}" }

            writer
        }
    }
}

use other::Reviewing;

workflow! {
    /// Is imported already.
    pub Reviewing(text: String) -> text: String {
        agent writer -> text: String { instruction: "{text}" }

        first: sequence < writer >
    }
}

agent! {
    /// Is the import of another name.
    pub judge -> grade: u8 { instruction: "Grade {text}." }
}

workflow! {
    /// Is imported from another crate.
    Duration(text: String) -> grade: u8 {
        agent writer -> grade: u8 { instruction: "{essay}" }

        writer
    }
}

/// Imports of a block.
fn main() {
    use other::{self, Judging};

    workflow! {
        /// Is a workflow already.
        Judging(text: String) -> text: String { other::Judging }
    }
}
