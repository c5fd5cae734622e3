//! Tests of workflows, for the crates of their authors: [`commands`](fn@commands) lets the program
//! `adk` use the workflows of a crate.

pub mod commands;

pub use commands::{Commands, commands};
