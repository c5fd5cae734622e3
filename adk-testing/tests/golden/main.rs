//! Golden tests of recorded runs, as users write them.

#![allow(clippy::unwrap_used, missing_docs, reason = "a test fails by a panic")]

mod calls;
mod files;
mod linear;
mod merge;
mod order;
mod secrets;
mod support;
