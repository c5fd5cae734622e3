//! What is borrowed to be changed, and a function with `self` that is no method: one message for each.

use adk::prelude::*;

#[data]
struct Draft {
    text: String,
}

#[agent]
fn clear(text: &mut String) {
    text.clear();
}

#[agent]
fn shorten(cx: &mut Context, draft: &mut Draft) {
    drop(cx.path().clone());
    draft.text.truncate(3);
}

/// Clears it.
#[tool]
fn wipe(lines: &mut Vec<String>) {
    lines.clear();
}

#[agent(writes = length)]
fn length(&self, text: &str) -> usize {
    self.add(text.len())
}

/// Looks it up.
#[tool]
fn look_up(self, word: String) -> String {
    self.word(word)
}

fn main() {}
