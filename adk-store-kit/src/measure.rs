//! Measurements of a store, for benchmarks and for tests of its costs.

pub mod appends;
pub mod size;
pub mod waits;
