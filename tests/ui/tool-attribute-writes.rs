//! Keys that a tool says to write, without a context to write them with. What a context is, types tell.

use adk::prelude::*;
use adk::{Context as Run, ToolContext as Cx};

type Call<'a> = &'a mut Cx;

/// Saves a score.
#[tool(writes(score: u8))]
fn save(score: u8) -> u8 {
    score
}

/// Saves a place, with nothing.
#[tool(name = "save-place", writes(user:place: String, found: Vec<String>), blocking)]
fn save_place() {}

/// Has one by another name.
#[tool(writes(plan: String))]
fn plan(cx: Call<'_>, text: String) -> Result<()> {
    cx.state().set("plan", text)
}

/// Takes one of an agent, which is told alone.
#[tool(writes(note: String))]
fn note(cx: &mut Context, text: String) {
    drop((cx.path().clone(), text));
}

/// The same by another name.
#[tool(writes(note: String))]
fn again(cx: &mut Run, text: String) {
    drop((cx.path().clone(), text));
}

/// Takes what is none, which is told alone.
#[tool(writes(line: String))]
fn line(text: Txt) {
    drop(text);
}

fn main() {
    let _ = (save, save_place, plan, note, again, line);
}
