//! Each protocol over real connections and with its official client. The tests share one program,
//! because each program compiles the workflows and links the server.

#![allow(clippy::unwrap_used, reason = "a test fails by a panic")]

mod a2a;
mod a2a_peers;
mod a2a_push;
mod a2a_remote;
mod a2a_tasks;
mod access;
mod answerers;
mod api;
mod balanced;
mod caller_inputs;
mod connections;
mod foreign;
mod keys;
mod lists;
mod mcp;
mod openapi_document;
mod page;
mod pauses;
mod protocols;
mod prune;
#[path = "../support/mod.rs"]
mod support;
mod tenants;
