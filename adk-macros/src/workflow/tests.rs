//! Tests of the parser: its syntax trees, its messages, and its robustness.

#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used
)]

mod fuzz;
mod messages;
mod names;
mod shapes;
