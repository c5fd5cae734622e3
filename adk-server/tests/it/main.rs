//! Each protocol over real connections, and by its official client. One program: each of its own
//! would compile the served workflows and link the server once more.

#![allow(clippy::unwrap_used, reason = "a test fails by a panic")]

mod a2a;
mod a2a_peers;
mod a2a_remote;
mod adk_web;
mod ag_ui;
mod answerers;
mod api;
mod balanced;
mod caller_inputs;
mod foreign;
mod keys;
mod mcp;
mod page;
#[path = "../support/mod.rs"]
mod support;
mod tenants;
