//! The interface for an engine that runs in other processes, as a distributed one does. Effects are
//! posted over a channel to the handler that owns the log. Each branch runs in its own context,
//! which is made from JSON. A wait stays pending. A killed run is executed again and replayed from
//! the log of that engine.

#![allow(clippy::unwrap_used, reason = "a test fails by a panic")]

use adk_store_kit::trees as support;

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
