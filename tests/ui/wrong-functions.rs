//! Invalid functions and insufficient types: one message, from rustc if it reads the code first.

use adk::prelude::*;

#[agent(writes = count)]
fn count(words: Vec<impl AsRef<str>>) -> usize {
    words.len()
}

#[agent(writes = letters)]
fn letters(draft: &str) -> Option<impl Iterator<Item = char>> {
    Some(draft.chars().collect::<Vec<_>>().into_iter())
}

#[agent(writes = never)]
fn never(draft: &str) -> ! {
    panic!("{draft}")
}

#[agent(writes = call)]
fn call(with: Box<dyn for<'a> Fn(&'a str) -> usize>) -> usize {
    with("it")
}

#[agent(writes = unwritten)]
fn unwritten(draft: &str) -> usize;

#[agent(writes = sum)]
fn sum(a: u8 b: u8) -> u8 {
    a + b
}

/// Doubles the number.
#[tool]
fn double(number) -> u8 {
    number * 2
}

#[data]
struct Page {
    lines: u8 words: u8,
}

fn main() {}
