//! A lifetime that is missing is proposed where the user wrote the item.

use adk::prelude::*;
use std::borrow::Cow;

#[agent(writes = score)]
fn grade(draft: &'a str, words: Option<Vec<&'a str>>) -> usize {
    draft.len()
}

#[agent(writes = title)]
fn title(draft: &str, words: &str) -> &str {
    draft
}

/// Looks something up.
#[tool]
fn look_up<'a>(word: &'a str, place: &'b str) -> String {
    word.into()
}

#[data]
struct Page {
    text: Option<&str>,
    title: Cow<str>,
}

fn main() {}
