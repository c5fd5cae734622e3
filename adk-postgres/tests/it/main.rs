//! Integration tests of the store in a database. They are one program, because the shared test
//! trees compile once per program.
//!
//! Run by `tests/peers/run-postgres.sh cargo test -p adk-workflow-postgres -- --ignored`.

#![allow(clippy::unwrap_used, reason = "a test fails by a panic")]

mod adk_python;
mod artifacts;
mod broken;
mod clock;
mod driven;
#[path = "../support/large.rs"]
mod filled;
mod groups;
mod large;
mod lease;
#[path = "../support/lossy.rs"]
mod lossy;
#[path = "../place/mod.rs"]
mod place;
mod pooler;
mod promises;
#[path = "../../../tests/peers/adk_python.rs"]
mod python;
mod silent;
#[path = "../support/silent.rs"]
mod silent_network;
mod starts;
mod stopped;
mod store;
#[path = "../support/mod.rs"]
mod support;
mod turns;
mod waits;
