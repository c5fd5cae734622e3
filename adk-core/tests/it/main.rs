//! Tests of the public API. They are one program, because each program would compile the trees
//! again.

#![allow(
    clippy::unwrap_used,
    unreachable_pub,
    missing_debug_implementations,
    missing_docs,
    reason = "these are tests"
)]

use adk_store_kit::trees as support;

mod artifacts;
mod blocks;
mod build;
mod callbacks;
mod engine;
mod guards;
mod iterations;
mod keys;
mod lifecycle;
mod limits;
mod live;
mod llm;
#[path = "../memory_place/mod.rs"]
mod memory_place;
mod panics;
mod progress;
mod promises;
mod runtime;
mod sessions;
mod stores;
mod together;
mod tool_workflow;
mod updates;
