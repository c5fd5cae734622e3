//! Keys that are keywords, wherever they are named; and an agent that is one is told once.

use adk::prelude::*;

#[agent(writes = match)]
fn choose() -> u8 {
    1
}

#[agent(exits(loop))]
fn end() -> Flow {
    Flow::ExitTo("loop".into())
}

/// Saves it. Behind a prefix any word is a key.
#[tool(writes(type: String, user:self: u8))]
fn save(text: String) -> String {
    text
}

struct ByHand;

#[agent(reads(fn: String), writes(_: u8))]
impl Agent for ByHand {
    const META: AgentMeta<'static> = AgentMeta::custom("by_hand");

    async fn run(&self, _: &mut Context) -> adk::Result<Flow> {
        Ok(Flow::Continue)
    }
}

// With `r#` they are names.
#[agent(writes = r#type)]
fn kind(r#match: u8) -> u8 {
    r#match
}

workflow! {
    pub Choosing(text: String) {
        choose(match = text) -> type;
        kind
    }
}

workflow! {
    pub Handing(text: String) {
        agent match { instruction: "Match {text}." }
        agent first { instruction: "Read {text}.", transfer: [match] }
        first
    }
}

fn main() {}
