//! What a tool or a callback asks for beside its result.

use crate::Name;

/// What a tool call or a callback asks for beside its result: ADK's event actions, as plain values.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[non_exhaustive]
pub struct ToolActions {
    /// Ends the innermost loop. A tool that sets it says so: the macro sees it in the body, or `#[tool(escalates)]`.
    pub escalate: bool,
    /// The model is not asked to put the result into words.
    pub skip_summarization: bool,
    /// The agent that goes on.
    pub transfer_to_agent: Option<Name>,
    /// Ends the enclosing loop of that name.
    pub exit_to: Option<Name>,
    /// The answer of the agent, which the runtime's own tool `set_model_response` gives.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub set_model_response: Option<serde_json::Value>,
}
