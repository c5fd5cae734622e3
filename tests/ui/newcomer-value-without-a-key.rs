use adk::prelude::*;

#[agent]
fn count(text: &str) -> usize {
    text.len()
}

fn main() {}
