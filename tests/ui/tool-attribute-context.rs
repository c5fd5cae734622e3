//! The context of a run as a key of a tool, spelled or under another name.

use adk::prelude::*;

type Cx<'a> = &'a mut Context;

/// Says where it is.
#[tool]
fn place(#[key] cx: Cx<'_>) -> String {
    cx.path().to_string()
}

/// Says where it is.
#[tool]
async fn spelled(n: u32, #[key(user:cx)] context: &mut Context) -> String {
    format!("{n} {}", context.path())
}

/// Says what it is.
#[tool]
fn key(#[key] cx: &Cx2) -> String {
    cx.0.clone()
}

/// A key of that name is no context.
#[adk::data]
struct Cx2(String);

fn main() {}
