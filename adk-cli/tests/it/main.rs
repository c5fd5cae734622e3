//! The program `adk` as a process. One program: each of its own would link all stores and the server once more.

#![allow(clippy::unwrap_used, missing_docs, reason = "a test fails by a panic")]

#[path = "../../../adk-postgres/tests/support/mod.rs"]
mod database;
mod mcp;
mod new;
mod page;
mod postgres;
mod sqlite;
#[path = "../support/mod.rs"]
mod support;
mod typescript;
