//! [`Invocation`]: one turn of the user with the answer, expected or actual.

use super::content::{RawContent, ToolResult, ToolUse};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// One turn of the user, with the answer of the agents and the calls in between.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Invocation {
    /// The id; may be empty.
    pub invocation_id: String,
    /// The message of the user.
    pub user_content: RawContent,
    /// The answer.
    pub final_response: Option<RawContent>,
    /// The calls of tools and the messages before the answer.
    pub intermediate_data: Option<IntermediateData>,
    /// Seconds since 1970; 0 if unknown.
    pub creation_timestamp: f64,
    /// Seconds that the turn took. Files do not have it.
    pub duration: Option<f64>,
    /// Seconds of `duration` with a call of a model.
    pub model_duration: Option<f64>,
    /// Seconds of `duration` in a tool and not in a model.
    pub tool_duration: Option<f64>,
    /// Rubrics of this turn.
    pub rubrics: Option<Vec<Rubric>>,
    /// The instructions and tools of the agents, for judges.
    pub app_details: Option<Value>,
}

/// The calls and messages between the message of the user and the answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum IntermediateData {
    /// The events in their order.
    Events {
        /// The events.
        invocation_events: Vec<InvocationEvent>,
    },
    /// The calls, answers and messages, each in their order.
    Lists {
        /// The calls of tools.
        tool_uses: Vec<ToolUse>,
        /// The answers of the tools.
        tool_responses: Vec<ToolResult>,
        /// Messages of agents before the answer, each with its author and its parts.
        intermediate_responses: Vec<(String, Vec<Value>)>,
    },
}

/// An event of a turn.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct InvocationEvent {
    /// The agent.
    pub author: String,
    /// The message.
    pub content: Option<RawContent>,
    /// Sources of the answer, as JSON of google-genai.
    pub grounding_metadata: Option<Value>,
    /// Tokens, as JSON of google-genai.
    pub usage_metadata: Option<Value>,
    /// The model that answered.
    pub model_version: Option<String>,
}

/// A property that a judge looks for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Rubric {
    /// The id.
    pub rubric_id: String,
    /// The property.
    pub rubric_content: RubricContent,
    /// An explanation of the result.
    pub description: Option<String>,
    /// The kind, such as `TOOL_USE_QUALITY`.
    pub r#type: Option<String>,
}

/// The text of a [`Rubric`].
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RubricContent {
    /// The property, such as "The answer names the price".
    pub text_property: Option<String>,
}

impl Invocation {
    /// Creates a turn with an answer and without calls.
    pub fn new(user_content: RawContent, final_response: Option<RawContent>) -> Self {
        Self {
            invocation_id: String::new(),
            user_content,
            final_response,
            intermediate_data: None,
            creation_timestamp: 0.0,
            duration: None,
            model_duration: None,
            tool_duration: None,
            rubrics: None,
            app_details: None,
        }
    }

    /// Returns the text of the answer; empty without an answer.
    pub fn response_text(&self) -> String {
        let response = self.final_response.as_ref();
        response.map(RawContent::text).unwrap_or_default()
    }

    /// Returns all calls of tools, in order. `transfer_to_agent` is one.
    pub fn tool_uses(&self) -> Vec<ToolUse> {
        match &self.intermediate_data {
            None => Vec::new(),
            Some(IntermediateData::Lists { tool_uses, .. }) => tool_uses.clone(),
            Some(IntermediateData::Events { invocation_events }) => {
                let contents = invocation_events
                    .iter()
                    .filter_map(|event| event.content.as_ref());
                contents.flat_map(RawContent::tool_uses).collect()
            }
        }
    }

    /// Returns the events, unless the turn has lists.
    pub fn events(&self) -> Option<&[InvocationEvent]> {
        match &self.intermediate_data {
            Some(IntermediateData::Events { invocation_events }) => Some(invocation_events),
            _ => None,
        }
    }
}
