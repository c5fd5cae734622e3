//! Agents that were meant as tools, and tools that were meant as agents: one message each, under what shows it.

use adk::prelude::*;

/// Call this ONLY when nothing is left to do.
#[agent]
fn exit_loop(cx: &mut ToolContext) {
    cx.actions.escalate = true;
}

/// Looks a word up.
#[agent]
fn look_up(word: &str) -> String {
    word.to_owned()
}

#[tool]
fn store(word: &str) -> String {
    word.to_owned()
}

/// Notes what was said.
#[tool]
async fn note(cx: &mut Context, draft: &str) -> Result<()> {
    cx.state().set("temp:note", draft)
}

workflow! {
    /// Writes.
    pub Writing(word: String) -> draft: String {
        agent writer -> draft: String {
            instruction: "Write about {word}.",
            tools: [exit_loop, look_up],
        }

        loop(max = 3) < writer; store; note >
    }
}

fn main() {}
