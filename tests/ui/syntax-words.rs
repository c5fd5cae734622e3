//! A block without its brackets is reported once.

use adk::prelude::*;

/// Reviews.
#[agent]
fn critic() {}

workflow! {
    /// Runs two steps in parallel.
    Both() { parallel critic; critic }
}

workflow! {
    /// Runs one step.
    One() { sequence critic }
}

fn main() {}
