//! The type of a key that steers a block is wrong where it is declared: the writer that has the right one tells it.

use adk::prelude::*;

#[agent(writes = good)]
fn is_good(text: &str) -> bool {
    text.len() > 5
}

#[agent(writes = parts)]
fn split(text: &str) -> Vec<String> {
    text.lines().map(str::to_owned).collect()
}

workflow! {
    pub Refining(text: String, parts: String) -> text: String {
        let good: u32 = 0;
        agent refiner -> text: String { instruction: "Refine {text}." }
        agent noter { instruction: "Note {part}." }

        loop(max = 3, until = good) < refiner; is_good >
        split;
        each part in parts < noter >
    }
}

fn main() {}
