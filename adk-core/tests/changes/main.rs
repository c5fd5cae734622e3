//! A run waits, is interrupted or fails, and the program changes before it is resumed.

#![allow(clippy::unwrap_used, reason = "a test fails by a panic")]

use adk_store_kit::trees as support;

mod random;
mod rows;
mod table;
