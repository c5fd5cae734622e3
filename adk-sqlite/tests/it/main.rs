//! Integration tests of the store in a file. They are one program, because the shared test trees
//! compile once per program.

#![allow(clippy::unwrap_used, reason = "a test fails by a panic")]

mod adk_python;
mod artifacts;
mod broken;
mod disk;
mod memory;
#[cfg(unix)]
mod names;
mod parts;
#[path = "../place/mod.rs"]
mod place;
mod promises;
#[path = "../../../tests/peers/adk_python.rs"]
mod python;
mod runs;
mod store;
#[path = "../support/mod.rs"]
mod support;
mod waits;
