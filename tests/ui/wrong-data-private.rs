//! Data that is less visible than the agent that takes it: one message.

use adk::prelude::*;

#[data]
struct Score {
    points: u32,
}

#[agent(writes = best)]
pub fn best(scores: &[Score]) -> u32 {
    scores.iter().map(|score| score.points).max().unwrap_or(0)
}

fn main() {}
