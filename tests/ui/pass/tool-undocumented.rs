//! A doc comment in each of its forms.

use adk::tool;

/// Looks it up.
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
