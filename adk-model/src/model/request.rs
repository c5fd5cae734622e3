//! [`ModelRequest`]: the input of one model call.

use super::Contents;
use crate::{Name, Part, Path, RunId};
use serde_json::Value;
use std::iter;
use std::sync::Arc;

/// One call of a model.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct ModelRequest {
    /// The system instruction; empty for none.
    pub system_instruction: String,
    /// Length in bytes of the part of the system instruction that is equal in all calls of the
    /// agent: the part before its first placeholder. Providers with explicit cache markers get a
    /// marker after this part.
    pub fixed_len: usize,
    /// The conversation so far, oldest first.
    pub contents: Contents,
    /// The tools that the model may call.
    pub tools: Vec<ToolDeclaration>,
    /// The names of the tools that the provider runs, such as `google_search`. Before a run, each
    /// model has accepted the names by
    /// [`check_provider_tool`](super::Model::check_provider_tool).
    pub provider_tools: Vec<Name>,
    /// The JSON schema of the reply; `None` for free text.
    pub response_schema: Option<Arc<Value>>,
    /// Sampling parameters and limits.
    pub config: GenerationConfig,
    /// Whether the model should stream pieces of its reply.
    pub stream: bool,
    /// Origin of the call. Not sent to the provider.
    pub info: CallInfo,
}

impl ModelRequest {
    /// Estimates the tokens of the call, including a reply of the maximal length.
    pub fn tokens(&self) -> u64 {
        self.input_tokens() + u64::from(self.config.max_output_tokens.unwrap_or_default())
    }

    /// Returns everything that the model reads as text: the system instruction and the texts of all
    /// contents, in lines. Media, tool calls and their results are not included.
    pub fn prompt(&self) -> String {
        let instruction = iter::once(&*self.system_instruction);
        let parts = self.contents.iter().flat_map(|content| &content.parts);
        let lines = instruction.chain(parts.filter_map(Part::as_text));
        lines.collect::<Vec<_>>().join("\n")
    }

    /// Estimates the tokens of the request, at 4 bytes per token.
    pub fn input_tokens(&self) -> u64 {
        let json = |value: &Value| value.to_string().len();
        let part = |part: &Part| match part {
            Part::Text(text) => text.len(),
            // Providers count media by image size and duration, which are unknown here.
            Part::InlineData(_) | Part::FileData(_) => 4_000,
            part => serde_json::to_string(part).map_or(0, |text| text.len()),
        };
        let contents: usize = self
            .contents
            .iter()
            .flat_map(|content| &content.parts)
            .map(part)
            .sum();
        let tools: usize = self
            .tools
            .iter()
            .map(|tool| tool.description.len() + json(&tool.parameters))
            .sum();
        let schema = self.response_schema.as_deref().map_or(0, json);
        let bytes = self.system_instruction.len() + contents + tools + schema;
        (bytes as u64).div_ceil(4)
    }
}

/// Sampling parameters and limits of a call; `None` leaves the choice to the provider.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct GenerationConfig {
    /// Randomness; 0 for none.
    pub temperature: Option<f64>,
    /// Nucleus sampling, from 0 to 1.
    pub top_p: Option<f64>,
    /// Maximum number of tokens in the reply.
    pub max_output_tokens: Option<u32>,
    /// Texts that end the reply.
    pub stop: Vec<String>,
    /// Seed for repeatable sampling, if the provider supports it.
    pub seed: Option<u64>,
}

/// The declaration of a tool that a model reads.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ToolDeclaration {
    /// The name that the model calls.
    pub name: Name,
    /// The purpose of the tool, and when to call it.
    pub description: Arc<str>,
    /// The JSON schema of the arguments: an object without references.
    pub parameters: Arc<Value>,
    /// Whether the tool may end a loop. Not sent to the provider.
    pub escalates: bool,
}

impl ToolDeclaration {
    /// Creates a declaration.
    pub fn new(
        name: impl Into<Name>,
        description: impl Into<Arc<str>>,
        parameters: impl Into<Arc<Value>>,
    ) -> Self {
        Self {
            name: name.into(),
            description: description.into(),
            parameters: parameters.into(),
            escalates: false,
        }
    }

    /// Sets whether the tool may end a loop.
    #[must_use]
    pub fn escalates(mut self, yes: bool) -> Self {
        self.escalates = yes;
        self
    }
}

/// Origin of a model call, for logs and for models that answer without a network.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct CallInfo {
    /// The name of the agent.
    pub agent: Name,
    /// The path of the agent, with rounds.
    pub path: Path,
    /// The id of the run.
    pub run_id: RunId,
    /// The index of the call in the agent's turn.
    pub turn: u32,
    /// Whether another agent handed over to this agent.
    pub handed_over: bool,
    /// Whether the call requests a summary of the conversation, see
    /// `Compaction`.
    pub is_summary: bool,
}
