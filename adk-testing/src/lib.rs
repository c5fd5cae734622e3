//! Tests of workflows, for the crates of their authors.
