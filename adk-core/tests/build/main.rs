//! Trees that are made at run time.

#![allow(clippy::unwrap_used, reason = "a test fails by a panic")]

mod awaits;
mod config;
mod faults;
mod fluent;
mod llm;
mod run;
mod support;
mod tool;
