//! A file of its own, and one below it.

pub mod below;

use adk::prelude::*;

workflow! {
    /// Runs what the root declares.
    pub Filed(text: String) -> text: String { crate::Rooted }
}
