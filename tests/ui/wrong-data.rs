//! Lifetimes that `#[data]` does not declare: one message for each place.

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

fn main() {}
