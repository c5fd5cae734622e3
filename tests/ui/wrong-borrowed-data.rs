//! Fields of `#[data]` that borrow what lives for ever, or for a time that is not declared: told once, and no use of the type is.

use adk::prelude::*;
use std::collections::HashMap;

#[data]
pub struct Draft {
    pub text: &'static str,
    pub words: usize,
}

#[data]
#[serde(transparent)]
pub struct Title(&'static str);

#[data]
#[derive(PartialEq)]
#[serde(tag = "kind")]
pub enum Verdict {
    Good { why: Option<&'static [u8]> },
    Bad,
}

#[data]
pub enum Mark {
    Of(Vec<&'static str>),
    None,
}

#[data]
pub struct Marks {
    #[serde(rename = "all", borrow)]
    pub marks: HashMap<&'static str, (u8, [&'static str; 2])>,
}

#[data]
pub struct Undeclared {
    pub lines: Vec<&'a str>,
}

#[agent(writes = draft)]
fn write(title: Title) -> Draft {
    Draft { text: title.0, words: 1 }
}

#[agent(writes = verdict)]
async fn judge(draft: &Draft, marks: Option<Marks>) -> Result<Verdict> {
    match marks {
        Some(marks) if marks.marks.is_empty() => Ok(Verdict::Good { why: Some(draft.text.as_bytes()) }),
        _ => Ok(Verdict::Bad),
    }
}

/// Looks it up.
#[tool]
fn look_up(of: Mark) -> Undeclared {
    drop(of);
    Undeclared { lines: Vec::new() }
}

workflow! {
    /// Writes.
    pub Writing(title: Title) -> (draft: Draft, undeclared: Undeclared) {
        agent reader -> undeclared: Undeclared { instruction: "Read {draft}", tools: [look_up] }
        write; judge; reader
    }
}

fn main() {}
