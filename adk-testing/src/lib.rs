//! Tests of workflows, for the crates of their authors.
//!
//! - [`golden`] makes a recorded run a test.
//! - [`explore`] plays a workflow in all orders of answers, with early, late and missing answers of
//!   people, and with a death of the process at each point.
//! - [`commands`](fn@commands) lets the program `adk` use the workflows of a crate.

pub mod commands;
mod explore;
mod golden;

pub use commands::{Commands, commands};
pub use explore::{
    BadHistory, Call, Explore, Explored, HistoryEnd, PersonAnswer, Verdict, World, explore,
};
pub use golden::{Compare, Golden, GoldenFiles, RunMode, Tools, golden};
