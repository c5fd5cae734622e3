//! AG-UI over real connections, and with its official client.

#![allow(clippy::unwrap_used, reason = "a test fails by a panic")]

mod fixtures;
mod interrupts;
mod official;
mod runs;
#[path = "../../../adk-server/tests/support/mod.rs"]
mod support;
