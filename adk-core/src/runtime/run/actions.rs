//! [`ToolActions`]: requests to the workflow from a tool or a callback.

use crate::Name;

/// Requests of a tool call or a callback beside its result: ADK's event actions, as plain values.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct ToolActions {
    /// Ends the innermost loop. A tool that sets it must announce it: the macro finds it in the
    /// body, or the tool has `#[tool(escalates)]`.
    pub escalate: bool,
    /// Whether the model is not asked to put the result into words.
    pub skip_summarization: bool,
    /// The agent that gets the handover.
    pub transfer_to_agent: Option<Name>,
    /// The name of the enclosing loop to end.
    pub exit_to: Option<Name>,
    /// The answer of the agent, which the built-in tool `set_model_response` sets.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub set_model_response: Option<serde_json::Value>,
}
