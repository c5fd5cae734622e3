//! Tests of workflows, for the crates of their authors: [`golden`] makes a recorded run a test.

mod golden;

pub use golden::{Compare, Golden, GoldenFiles, RunMode, Tools, golden};
