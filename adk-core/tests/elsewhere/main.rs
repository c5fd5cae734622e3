//! The seam for an engine that runs elsewhere, as a distributed one does: every effect is posted over a channel to the
//! handler that owns the log, each branch runs in a context of its own that is made from JSON, a wait stays pending, and a
//! run that was killed is executed once more, answered from the log of that engine.

#![allow(clippy::unwrap_used, reason = "a test fails by a panic")]

#[path = "../support/mod.rs"]
mod support;
#[path = "../durable/talks.rs"]
mod talks;
#[path = "../durable/trees.rs"]
mod trees;

mod client;
mod handed;
mod log;
mod posted;
mod runs;
mod serve;
