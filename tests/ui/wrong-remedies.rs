//! Mistakes in the signatures of functions: each is one message, whose remedy can be followed.

use adk::prelude::*;
use std::pin::Pin;

#[agent(writes = sent)]
fn send(answer: &str) -> Option<Result<bool>> {
    Some(Ok(answer.is_empty()))
}

#[agent(writes = later)]
fn later(answer: &str) -> Pin<Box<dyn Future<Output = bool> + Send>> {
    let is_empty = answer.is_empty();
    Box::pin(async move { is_empty })
}

#[agent(writes = shown)]
async fn show(answer: String) -> Result<String, Box<dyn std::error::Error>> {
    Ok(answer)
}

#[agent(exits(outer))]
fn stop(answer: &str) -> Result<bool> {
    Ok(answer.is_empty())
}

#[agent(writes = size)]
fn size(answer: &'static str, note: Option<&'static str>) -> usize {
    answer.len() + note.map_or(0, str::len)
}

/// Looks it up.
#[tool]
fn look_up(mut cx: ToolContext, word: &str) -> String {
    cx.actions.escalate = true;
    word.to_owned()
}

/// Finds it.
#[tool]
fn find(cx: &mut Context, word: &str) -> String {
    let _ = cx;
    word.to_owned()
}

#[agent]
#[derive(Clone, Debug)]
pub struct Draft {
    pub text: String,
}

#[agent(writes = draft)]
fn draft(answer: &str) -> Draft {
    Draft { text: answer.to_owned() }
}

workflow! {
    Sending(answer: String) -> (sent: bool, later: bool, shown: String, size: usize, draft: Draft) {
        agent reader -> note: Draft { instruction: "Read {draft}.", tools: [look_up, find] }
        send;
        later;
        show;
        size;
        outer: loop(max = 2) < stop; draft >
        reader
    }
}

fn main() {}
