//! Attributes that fit the function.

use adk::{ToolContext, tool};

/// Looks it up.
#[tool(name = "look-up", confirm)]
pub fn look_up() {}

/// Waits.
#[tool(blocking, escalates)]
pub fn wait(cx: &mut ToolContext) {
    cx.actions.escalate = true;
}

/// Writes keys.
#[tool(writes(plan: String), long_running)]
pub async fn plan(cx: &ToolContext, text: String) -> String {
    let _ = cx.call_id();
    text
}
