//! The JSON API of ADK and its dev UI over real connections, with google-adk and in Chromium.

#![allow(clippy::unwrap_used, reason = "a test fails by a panic")]

mod differences;
mod files;
mod fixtures;
mod page;
mod python;
mod refusals;
mod requests;
mod runs;
mod sessions;
#[path = "../../../adk-server/tests/support/mod.rs"]
mod support;
mod users;
mod waits;
