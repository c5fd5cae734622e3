//! A workflow that misspells its own input: nothing is said of what the workflow around it gives it.

use adk::prelude::*;

workflow! {
    pub Drafting(txt: String) -> draft: String {
        agent drafter -> draft: String { instruction: "Draft {text}." }
        drafter
    }
}

workflow! {
    pub Publishing(text: String) -> draft: String {
        Drafting
    }
}

fn main() {}
