//! Agents, tools and workflows of another crate, for the cases that show a check across crates.
//!
//! Everything here is right by itself; what a case makes of it is not. One module per kind of thing, one line of
//! documentation that says what is read and written.

/// The facade, for those who do not depend on it.
pub use adk as facade;
/// With it this crate can be called `adk`.
pub use adk::__private;

pub mod by_hand;
pub mod data;
pub mod functions;
pub mod llm;
pub mod prompts;
pub mod tools;
pub mod workflows;
