//! Defaults of a tool that are none, and fields of data that are: one message.

use adk::prelude::*;

/// Looks something up.
#[tool]
fn look_up(#[default(1.5)] pages: u8, #[default(3)] lines: Option<u8>) -> u8 {
    pages + lines.unwrap_or(0)
}

/// Looks something up.
#[tool]
fn twice(
    #[default(1)]
    #[default(2)]
    pages: u8,
) -> u8 {
    pages
}

/// Looks something up.
#[tool]
fn context(#[default(1)] cx: &mut ToolContext) -> bool {
    cx.state().get::<bool>("known").is_ok()
}

#[data]
struct Page {
    lines: u8,
    words: u8,
    lines: u16,
}

#[data]
#[adk::data]
struct Book {
    pages: Vec<Page>,
    held: Option<impl Clone>,
}

workflow! {
    /// A key is not the workflow itself.
    Reading(books: Vec<Self>) -> text: String {
        agent reader -> text: String { instruction: "Read {books}." }
        reader
    }
}

fn main() {}
