//! A run waits, is interrupted or fails, and the program changes before it is resumed.

#![allow(clippy::unwrap_used, reason = "a test fails by a panic")]

#[path = "../support/mod.rs"]
mod support;

mod random;
mod rows;
mod table;
