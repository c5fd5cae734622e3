//! What is wrong with an agent is told at the agent, and nothing follows from it for the workflow that runs it.

use adk::prelude::*;

#[agent]
fn forgotten(draft: &str) -> f64 {
    draft.len() as f64
}

#[agent(writes = sum)]
fn nothing(draft: &str) {
    drop(draft.to_owned());
}

#[agent(writes = part)]
fn open(draft: &str) -> impl Into<f64> {
    draft.len() as f64
}

#[agent(write = whole)]
fn misspelled(draft: &str) -> f64 {
    draft.len() as f64
}

#[agent(writes = rest)]
unsafe fn dangerous(draft: &str) -> f64 {
    draft.len() as f64
}

#[agent(writes = last)]
fn nameless(_: &str) -> f64 {
    0.0
}

#[agent]
fn reader(forgotten: f64, sum: f64, part: f64, whole: f64, rest: f64, last: u8) -> Flow {
    Flow::exit_if(forgotten + sum + part + whole + rest + f64::from(last) > 1.0)
}

workflow! {
    pub Graded(draft: String) -> sum: f64 {
        forgotten; nothing; open; misspelled; dangerous; nameless;
        loop < reader >
    }
}

fn main() {}
