//! Lifetimes that `#[data]` does not declare: one message for each place.

use adk::prelude::*;
use std::borrow::Cow;

#[data]
pub struct Undeclared {
    pub title: &'a str,
    pub lines: Vec<&'a str>,
}

#[data]
pub enum Word {
    Known(Cow<'w, str>),
    Marked { by: Option<Vec<&'w str>> },
    Unknown,
}

#[data]
pub struct Both<'a, T> {
    pub title: &'a str,
    pub words: [&'b str; 2],
    pub marks: T,
}

fn main() {}
