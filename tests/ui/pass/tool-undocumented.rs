//! Doc comments in all forms.

use adk::tool;

/// Looks up a word.
#[tool]
pub fn look_up(
    /// A word.
    word: String,
) -> usize {
    word.len()
}

/** Searches. */
#[tool]
pub fn search() {}

#[doc = concat!("Finds", " it.")]
#[tool]
pub fn find() {}
