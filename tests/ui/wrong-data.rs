//! Mistakes in `#[data]`, and data that is less visible than what takes it: one message each.

use adk::prelude::*;
use std::borrow::Cow;

#[data]
pub struct Undeclared {
    pub title: &'a str,
}

#[data]
pub enum Word {
    Known(Cow<'w, str>),
    Unknown,
}

#[data]
pub struct Unknown {
    pub title: Cow<'static, str>,
    pub lines: Vec<Nope>,
}

#[data]
struct Score {
    points: u32,
}

#[agent(writes = best)]
pub fn best(scores: &[Score]) -> u32 {
    scores.iter().map(|score| score.points).max().unwrap_or(0)
}

fn main() {}
