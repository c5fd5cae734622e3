//! Tests of the public API. They are one program, because each program would compile the trees
//! again.

#![allow(
    clippy::unwrap_used,
    unreachable_pub,
    missing_debug_implementations,
    missing_docs,
    reason = "these are tests"
)]

mod artifacts;
mod blocks;
mod build;
mod callbacks;
mod engine;
mod iterations;
mod keys;
mod lifecycle;
mod limits;
mod live;
mod llm;
mod runtime;
mod sessions;
mod stores;
#[path = "../support/mod.rs"]
mod support;
mod together;
mod tool_workflow;
mod updates;
