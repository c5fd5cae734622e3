//! An unknown type in `#[data]`, beside a field that may borrow or among parameters: one message.

use adk::prelude::*;
use std::borrow::Cow;

#[data]
pub struct Unknown {
    pub title: Cow<'static, str>,
    pub lines: Vec<Nope>,
}

#[data]
pub struct Page<'a> {
    pub title: &'a str,
    pub author: Nobody,
}

#[data]
pub struct Held<'a, T: Clone> {
    pub title: &'a str,
    pub held: Vec<T>,
    pub by: Option<Holder>,
}

#[data]
pub enum Sized<const N: usize> {
    Words([String; 2]),
    Size(Size),
}

fn main() {}
