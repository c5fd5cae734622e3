//! What a model is asked.

use super::Contents;
use crate::{Name, Part, Path, RunId};
use serde_json::Value;
use std::sync::Arc;

/// One call of a model.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct ModelRequest {
    /// The system instruction; empty for none.
    pub system_instruction: String,
    /// How many bytes at the beginning of the system instruction are the same in all calls of the agent: what is before its first
    /// placeholder. Providers whose caches want marks get one there.
    pub fixed_len: usize,
    /// The conversation so far, oldest first.
    pub contents: Contents,
    /// The tools that may be called.
    pub tools: Vec<ToolDeclaration>,
    /// The JSON schema that the answer has to fit; `None` for free text.
    pub response_schema: Option<Arc<Value>>,
    /// Sampling and limits.
    pub config: GenerationConfig,
    /// Whether pieces of the answer are wanted as they come.
    pub stream: bool,
    /// Who asks. No part of what is sent.
    pub info: CallInfo,
}

impl ModelRequest {
    /// About how many tokens the call needs, with the longest answer that is asked for.
    pub(crate) fn tokens(&self) -> u64 {
        self.input_tokens() + u64::from(self.config.max_output_tokens.unwrap_or_default())
    }

    /// About how many tokens the request has: one for 4 bytes.
    pub(crate) fn input_tokens(&self) -> u64 {
        let json = |value: &Value| value.to_string().len();
        let part = |part: &Part| match part {
            Part::Text(text) => text.len(),
            // Media are counted by their size in pictures and seconds, which nobody knows here.
            Part::InlineData(_) | Part::FileData(_) => 4_000,
            part => serde_json::to_string(part).map_or(0, |text| text.len()),
        };
        let contents: usize = self.contents.iter().flat_map(|content| &content.parts).map(part).sum();
        let tools: usize =
            self.tools.iter().map(|tool| tool.description.len() + json(&tool.parameters)).sum();
        let schema = self.response_schema.as_deref().map_or(0, json);
        let bytes = self.system_instruction.len() + contents + tools + schema;
        (bytes as u64).div_ceil(4)
    }
}

/// Sampling and limits of a call; `None` leaves the choice to the provider.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct GenerationConfig {
    /// Randomness, 0 for none.
    pub temperature: Option<f64>,
    /// Nucleus sampling, 0 to 1.
    pub top_p: Option<f64>,
    /// The most tokens to answer with.
    pub max_output_tokens: Option<u32>,
    /// Texts that end the answer.
    pub stop: Vec<String>,
    /// For repeatable sampling, where the provider has it.
    pub seed: Option<u64>,
}

/// A tool as the model sees it.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ToolDeclaration {
    /// The name to call it by.
    pub name: Name,
    /// When and how to use it.
    pub description: Arc<str>,
    /// The JSON schema of its arguments, an object, everything inline.
    pub parameters: Arc<Value>,
    /// Whether it may end a loop. No part of what is sent.
    pub escalates: bool,
}

impl ToolDeclaration {
    /// A declaration.
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

    /// Says whether it may end a loop.
    #[must_use]
    pub fn escalates(mut self, yes: bool) -> Self {
        self.escalates = yes;
        self
    }
}

/// Who asks: for models that answer without a network, and for logs.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct CallInfo {
    /// The agent's name.
    pub agent: Name,
    /// Its path, with rounds.
    pub path: Path,
    /// The run.
    pub run_id: RunId,
    /// Which call of this agent's turn, counted from 0.
    pub turn: u32,
    /// Another agent has handed over to it.
    pub handed_over: bool,
    /// It asks for a summary of its conversation, see [`Compaction`](crate::llm::Compaction).
    pub is_summary: bool,
}
