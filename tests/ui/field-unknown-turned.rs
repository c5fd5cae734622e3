//! A renaming the wrong way round, of a key that was renamed, or of the key that is written: what is missing for it is not told as
//! well.

use adk::prelude::*;

workflow! {
    pub Writing(paper: String) -> summary: String {
        agent summariser -> summary: String { instruction: "Summarise {text}." }

        summariser(paper = text) as first
    }
}

/// Counts words. The text was called `text` once.
#[agent(writes = words)]
fn count(content: &str) -> usize {
    content.split_whitespace().count()
}

/// Grades a text.
#[agent(writes = mark)]
fn grade(text: &str) -> f64 {
    text.len() as f64
}

workflow! {
    pub Counting(draft: String) -> words: usize {
        count(text = draft)
    }
}

workflow! {
    pub Grading(essay: String) -> (mark: f64, score: f64) {
        parallel < grade(text = essay); grade(text = essay, mark = score) as second >
    }
}

fn main() {}
