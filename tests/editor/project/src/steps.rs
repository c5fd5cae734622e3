//! Agents and tools in their own module.

use adk::prelude::*;

/// Removes the blanks at both ends of the draft.
#[agent(writes = draft)]
pub fn trim(draft: &str) -> String {
    draft.trim().to_owned()
}

/// Returns the current day.
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

/// Calls a person.
#[agent]
pub fn page(ticket: &str) {
    eprintln!("{ticket}");
}
