//! A renaming the wrong way round: the key that is missing for it is not told as well.

use adk::prelude::*;

workflow! {
    pub Writing(paper: String) -> summary: String {
        agent summariser -> summary: String { instruction: "Summarise {text}." }

        summariser(paper = text) as first
    }
}

fn main() {}
