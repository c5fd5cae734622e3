//! What a function says by itself is not said again.

use adk::prelude::*;

#[adk::agent(writes = count: usize)]
fn count(text: String) -> usize {
    text.len()
}

#[adk::agent(writes = names: Vec<String>)]
fn names(text: String) -> Vec<String> {
    vec![text]
}

#[adk::agent(writes = round, exits)]
fn round(text: String) -> (String, Flow) {
    (text, Flow::Exit)
}

fn main() {}
