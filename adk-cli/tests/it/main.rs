//! Tests of the program `adk`. They share one test program, because each program links all stores
//! and the server.

#![allow(clippy::unwrap_used, missing_docs, reason = "a test fails by a panic")]

mod audit;
#[path = "../../../adk-postgres/tests/support/mod.rs"]
mod database;
mod golden;
mod mcp;
mod new;
mod page;
mod postgres;
mod sqlite;
#[path = "../support/mod.rs"]
mod support;
mod typescript;
