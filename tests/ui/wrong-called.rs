//! Parameters that are functions, or contexts that are not borrowed, and instructions that are wrong by themselves: one message each.

use adk::prelude::*;
use adk::{ReadonlyContext, ToolContext};

#[agent(writes = page)]
fn rate(draft: &str, by: fn(&str) -> bool) -> usize {
    if by(draft) { draft.len() } else { 0 }
}

#[agent(writes = sum)]
fn sum(draft: &str, by: Option<Box<dyn Fn(&str) -> usize + Send>>) -> usize {
    by.map_or(0, |by| by(draft))
}

/// Looks.
#[tool]
async fn look(word: String, by: fn(&str) -> String) -> String {
    by(&word)
}

/// Searches.
#[tool]
async fn search(query: String, cx: ToolContext) -> adk::Result<String> {
    cx.state().set("temp:last_query", &query)?;
    Ok(query)
}

#[agent]
async fn remember(cx: adk::Context, query: String) -> adk::Result<()> {
    cx.state().set("temp:last_query", &query)?;
    Ok(())
}

const WRITER: String = "Write about {topic}.";
const CRITIC: &[u8] = concat!("Criticise ", "{draft}.");

async fn greeting(cx: ReadonlyContext) -> adk::Result<String> {
    Ok(cx.get::<String>("user:name")?.unwrap_or_default())
}

workflow! {
    /// Asks.
    pub Asking(topic: String, query: String) -> draft: String {
        agent writer -> draft: String { instruction: WRITER, tools: [look, search] }
        agent critic -> notes: String { instruction: CRITIC }
        agent greeter { instruction: greeting() }

        greeter; writer; rate; sum; critic; remember
    }
}

fn main() {}
