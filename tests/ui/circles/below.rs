use super::Filed;
use adk::prelude::*;

workflow! {
    /// Runs what the file around it declares.
    pub Below(text: String) -> text: String { Filed }
}
