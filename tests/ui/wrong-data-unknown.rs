//! An unknown type in `#[data]`, beside a field that may borrow: one message.

use adk::prelude::*;
use std::borrow::Cow;

#[data]
pub struct Unknown {
    pub title: Cow<'static, str>,
    pub lines: Vec<Nope>,
}

fn main() {}
