//! The JSON of ADK and its dev UI.

#![allow(clippy::unwrap_used, reason = "a test fails by a panic")]

mod differences;
mod files;
mod fixtures;
mod page;
mod python;
mod routes;
#[path = "../support/mod.rs"]
mod support;
mod users;
