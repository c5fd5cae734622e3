//! Agents, tools and workflows of another crate, for the cases that show a check across crates.
//!
//! Each item is correct by itself; a case makes the mistake. There is one module per kind of item,
//! and a line of documentation names the keys that are read and written.

/// The facade, for crates that do not depend on it.
pub use adk as facade;
/// This item lets other crates call this crate `adk`.
pub use adk::__private;

pub mod by_hand;
pub mod data;
pub mod functions;
pub mod llm;
pub mod prompts;
pub mod tools;
pub mod workflows;
