//! Each of several keys that are renamed to one is told for itself.

use adk::prelude::*;

/// A score.
#[derive(Clone, serde::Serialize, serde::Deserialize)]
struct Score(u8);

/// Reads one key by several names.
#[agent]
fn all(exact: u64, rough: f32, score: Score, value: &str, whole: Vec<u8>) {
    drop((exact, rough, score, value.len(), whole));
}

workflow! {
    /// Reads a number, which fits one of the five.
    Numbers(value: u64) {
        all(exact = value, rough = value, score = value, whole = value)
    }
}

workflow! {
    /// One wrong key needs no more words.
    One(text: String, list: Vec<u8>, share: f32, score: Score) {
        all(exact = text, rough = share, value = text, whole = list)
    }
}

fn main() {}
