//! Data with a lifetime: each field that borrows is told, and no use of the type is, with its lifetime or without.

use adk::prelude::*;
use std::borrow::Cow;

#[data]
pub struct Page<'a> {
    pub title: &'a str,
    #[serde(borrow)]
    pub text: Cow<'a, str>,
    pub size: usize,
}

#[data]
#[derive(PartialEq)]
pub enum Word<'a> {
    Known(&'a str),
    Marked { by: Vec<&'a str> },
    Unknown,
}

impl<'a> Word<'a> {
    fn text(&self) -> &'a str {
        match self {
            Self::Known(text) => text,
            _ => "",
        }
    }
}

#[data]
pub struct Held<'a, T: Clone> {
    pub title: &'a str,
    pub held: T,
}

#[agent(writes = size)]
fn size(page: &Page) -> usize {
    page.title.len() + page.text.len() + page.size
}

#[agent(writes = word)]
fn word(page: Page, held: Held<'_, u8>) -> Word<'static> {
    Word::Marked { by: vec![page.title, held.title] }
}

/// Looks.
#[tool]
fn look(title: String) -> Page {
    Page { title: &title, text: Cow::Owned(title.clone()), size: 1 }
}

workflow! {
    /// Reads.
    pub Reading(page: Page, held: Held<'static, u8>) -> (size: usize, word: Word<'static>) {
        agent reader { instruction: "Read {page}.", tools: [look] }
        size;
        word;
        reader
    }
}

fn main() {
    let page = Page { title: "A", text: "b".into(), size: 1 };
    println!("{}", Word::Known(&page.title).text());
}
