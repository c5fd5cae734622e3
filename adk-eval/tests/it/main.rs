//! Evals through the facade, as users write them.

#![allow(clippy::unwrap_used, reason = "a test fails by a panic")]

mod files;
mod numbers;
mod peer;
mod reports;
mod runs;
