//! A crate that is compiled twice.

use adk::prelude::*;

/// A type with a const parameter, so no number identifies it for the check `key-type`.
#[adk::data]
pub struct Plan<const STEPS: usize> {
    pub text: String,
}

#[adk::data]
pub struct Price {
    pub cents: u32,
}

#[agent(writes = plan)]
pub fn planner(topic: &str) -> Plan<3> {
    Plan {
        text: topic.to_owned(),
    }
}

#[agent]
pub fn reader(plan: &Plan<3>) {
    drop(plan.clone());
}

#[agent(writes = price)]
pub fn pricing(topic: &str) -> Price {
    Price {
        cents: u32::try_from(topic.len()).unwrap_or_default(),
    }
}

#[agent]
pub fn buyer(price: &Price) {
    drop(price.clone());
}

/// Saves the plan.
#[tool(writes(plan: Plan<3>))]
pub fn save(cx: &mut ToolContext) {
    drop(cx.path().clone());
}
