//! Data that is less visible than who takes it: one message for each type, where it stands first.

use adk::prelude::*;

#[data]
struct Score {
    points: u32,
}

#[agent(writes = best)]
pub fn best(scores: &[Score]) -> u32 {
    scores.iter().map(|score| score.points).max().unwrap_or(0)
}

#[agent(writes = better)]
pub fn better(_: &mut Context, text: &str, score: Option<&Score>) -> Score {
    score.cloned().unwrap_or(Score { points: text.len() as u32 })
}

workflow! {
    /// Reads and writes it too.
    pub Bettering(text: String, score: Score) -> better: Score {
        better;
    }
}

fn main() {}
