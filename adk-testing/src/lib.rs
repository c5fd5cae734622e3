//! Tests of workflows, for the crates of their authors: [`golden`] makes a recorded run a test, and
//! [`commands`](fn@commands) lets the program `adk` use the workflows of a crate.

pub mod commands;
mod golden;

pub use commands::{Commands, commands};
pub use golden::{Compare, Golden, GoldenFiles, RunMode, Tools, golden};
