//! A block without its brackets is told once.

use adk::prelude::*;

/// Reviews.
#[agent]
fn critic() {}

workflow! {
    /// Runs two at once.
    Both() { parallel critic; critic }
}

workflow! {
    /// Runs one.
    One() { sequence critic }
}

fn main() {}
