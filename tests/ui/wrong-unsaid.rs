//! Types that say none, and what is behind `dyn`: one message for each.

use adk::AgentMeta;
use adk::prelude::*;

#[agent(writes = grade)]
fn left_out(text: Vec<_>) -> Option<_> {
    text.first().map(|word| word.len())
}

#[agent(writes = grade)]
fn of_trait(text: impl Into<String>) -> Vec<impl Clone> {
    vec![text.into()]
}

#[agent]
fn object(text: &dyn Clone, lent: &'_ str) {
    drop((text.clone(), lent));
}

/// Looks a word up.
#[tool(writes(found: impl Clone, seen: Vec<_>))]
fn look_up(word: Vec<_>, by: impl Into<String>) -> Result<_, String> {
    Ok(word.len() + by.into().len())
}

struct Reader;

#[agent(reads(draft: dyn Clone, note: _), writes(grade: Option<str>))]
impl Agent for Reader {
    const META: AgentMeta<'static> = AgentMeta::custom("reader");
    async fn run(&self, _: &mut Context) -> adk::Result<Flow> {
        Ok(Flow::Continue)
    }
}

#[agent]
fn context(cx: &Context, text: &str) {
    drop((cx, text));
}

fn main() {}
