//! Runs, blocks, waits and turns on a real server, and what is refused.

#![allow(clippy::unwrap_used, reason = "a test fails by a panic")]

mod changes;
mod people;
mod refusals;
mod runs;
#[path = "../support/mod.rs"]
mod support;
#[path = "../../../adk-core/tests/support/mod.rs"]
mod trees;
