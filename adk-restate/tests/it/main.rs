//! Integration tests with a real server: runs, blocks, waits and turns, and rejected
//! configurations.

#![allow(clippy::unwrap_used, reason = "a test fails by a panic")]

mod changes;
mod people;
mod refusals;
mod runs;
#[path = "../support/mod.rs"]
mod support;
