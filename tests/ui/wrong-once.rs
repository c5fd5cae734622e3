//! Mistakes of which more than one place could speak.

use adk::prelude::*;

#[tool]
#[agent(writes = score)]
fn both(draft: &str) -> f64 {
    draft.len() as f64
}

#[agent(writes = words)]
#[tool]
fn second(draft: &str) -> usize {
    draft.len()
}

#[agent(writes = read)]
fn unread(draft) -> usize {
    draft.len()
}

workflow! {
    pub Graded(draft: String) {
        agent critic: String { instruction: "Criticise {draft}." }
        agent reader { instruction: "{score} {words} {read}", tools: [second] }

        both; second; unread; critic;
        reader
    }
}

fn main() {}
