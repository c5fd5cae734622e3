//! Names that are similar to names of the runtime.

use adk::tool;

/// Transfers to another agent.
#[tool]
pub fn transfer_to_agents(name: &str) {
    let _ = name;
}

/// Sets the answer.
#[tool(name = "set_response")]
pub fn set_model_response() {}
