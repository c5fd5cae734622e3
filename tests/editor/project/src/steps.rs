//! Agents and tools in a module of their own.

use adk::prelude::*;

/// Takes the blanks off both ends of the draft.
#[agent(writes = draft)]
pub fn trim(draft: &str) -> String {
    draft.trim().to_owned()
}

/// Says what day it is.
#[tool]
pub fn today() -> &'static str {
    "Monday"
}

/// Asks the owner.
#[derive(Debug, Default)]
pub struct Owner;

impl Agent for Owner {
    const META: adk::AgentMeta<'static> = adk::AgentMeta::custom("owner");
    async fn run(&self, _cx: &mut Context) -> Result<Flow> {
        Ok(Flow::Continue)
    }
}

/// Wakes somebody up.
#[agent]
pub fn page(ticket: &str) {
    eprintln!("{ticket}");
}
