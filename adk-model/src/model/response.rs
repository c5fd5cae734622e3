//! [`ModelResponse`]: the reply of a model.

use super::Cost;
use crate::Content;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::sync::Arc;

/// A piece of a reply, or the whole reply.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum ModelChunk {
    /// The next piece of text.
    Text(String),
    /// The next piece of a thought.
    Thought(String),
    /// The whole reply; the last value of the stream.
    Done(ModelResponse),
}

/// The whole reply of a model. A journal records it as the result of the model call.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[non_exhaustive]
pub struct ModelResponse {
    /// The content of the reply; an empty reply has no parts.
    pub content: Content,
    /// The reason why the model stopped. The reason does not show whether the model called tools;
    /// the content does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub finish_reason: Option<FinishReason>,
    /// Token counts of the call.
    pub usage: Usage,
    /// The version of the model, as the provider names it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model_version: Option<String>,
    /// The error code, if the model replied with an error in place of content.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error_code: Option<String>,
    /// The provider's message for `error_code`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error_message: Option<String>,
    /// The sources that the provider has found by its own tools: `groundingMetadata` of Gemini.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub grounding_metadata: Option<Arc<Value>>,
}

impl ModelResponse {
    /// Creates a reply with this content.
    pub fn new(content: Content) -> Self {
        Self {
            content,
            ..Self::default()
        }
    }

    /// Sets the token counts.
    #[must_use]
    pub fn with_usage(mut self, usage: Usage) -> Self {
        self.usage = usage;
        self
    }
}

impl From<Content> for ModelResponse {
    fn from(content: Content) -> Self {
        Self::new(content)
    }
}

impl From<&str> for ModelResponse {
    fn from(text: &str) -> Self {
        Self::new(Content::model(text))
    }
}

impl From<String> for ModelResponse {
    fn from(text: String) -> Self {
        Self::new(Content::model(text))
    }
}

/// The reason why a model stopped. In JSON it has ADK's spelling, such as `MAX_TOKENS`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
#[non_exhaustive]
pub enum FinishReason {
    /// The reply is complete.
    Stop,
    /// The reply reached the token limit.
    MaxTokens,
    /// A safety filter ended the reply.
    Safety,
    /// Another reason, in the provider's words.
    #[serde(untagged)]
    Other(String),
}

/// Token counts and cost of one model call, or the sum of several calls.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[non_exhaustive]
pub struct Usage {
    /// Number of input tokens.
    #[serde(rename = "promptTokenCount", alias = "prompt_token_count")]
    pub input_tokens: u64,
    /// Number of output tokens, including thoughts.
    #[serde(rename = "candidatesTokenCount", alias = "candidates_token_count")]
    pub output_tokens: u64,
    /// Number of input tokens that the provider read from a cache.
    #[serde(
        rename = "cachedContentTokenCount",
        alias = "cached_content_token_count",
        skip_serializing_if = "is_zero"
    )]
    pub cached_tokens: u64,
    /// Number of input tokens that the provider wrote to a cache. Zero in an event, because ADK's
    /// form of an event does not have this count.
    #[serde(skip_serializing_if = "is_zero")]
    pub cache_write_tokens: u64,
    /// Number of output tokens that were thoughts.
    #[serde(
        rename = "thoughtsTokenCount",
        alias = "thoughts_token_count",
        skip_serializing_if = "is_zero"
    )]
    pub thought_tokens: u64,
    /// Cost by the runner's prices; zero if the runner has no prices, or none for the model.
    #[serde(skip_serializing_if = "Cost::is_zero")]
    pub cost: Cost,
    /// Number of model calls. Zero in the usage of a single call, because ADK's form of an event
    /// does not have this count.
    #[serde(skip_serializing_if = "is_zero")]
    pub calls: u64,
    /// Number of tool calls in the replies, without calls of the runtime's own tools.
    #[serde(skip_serializing_if = "is_zero")]
    pub tool_calls: u64,
}

/// Reports whether serialization skips a count, as ADK skips missing counts.
fn is_zero(count: &u64) -> bool {
    *count == 0
}

impl Usage {
    /// Creates the token counts of one call.
    pub fn new(input_tokens: u64, output_tokens: u64) -> Self {
        Self {
            input_tokens,
            output_tokens,
            ..Self::default()
        }
    }

    /// Reports whether all counts and the cost are zero.
    pub fn is_nothing(&self) -> bool {
        *self == Self::default()
    }

    /// Returns the sum of input and output tokens.
    pub fn total_tokens(&self) -> u64 {
        self.input_tokens.saturating_add(self.output_tokens)
    }
}

impl std::ops::AddAssign for Usage {
    fn add_assign(&mut self, other: Self) {
        // A provider may report any number, so additions saturate.
        let add = |sum: &mut u64, more| *sum = sum.saturating_add(more);
        add(&mut self.input_tokens, other.input_tokens);
        add(&mut self.output_tokens, other.output_tokens);
        add(&mut self.cached_tokens, other.cached_tokens);
        add(&mut self.cache_write_tokens, other.cache_write_tokens);
        add(&mut self.thought_tokens, other.thought_tokens);
        self.cost += other.cost;
        add(&mut self.calls, other.calls);
        add(&mut self.tool_calls, other.tool_calls);
    }
}

/// A difference below zero is zero.
impl std::ops::Sub for Usage {
    type Output = Self;

    fn sub(mut self, other: Self) -> Self {
        let subtract = |count: &mut u64, less| *count = count.saturating_sub(less);
        subtract(&mut self.input_tokens, other.input_tokens);
        subtract(&mut self.output_tokens, other.output_tokens);
        subtract(&mut self.cached_tokens, other.cached_tokens);
        subtract(&mut self.cache_write_tokens, other.cache_write_tokens);
        subtract(&mut self.thought_tokens, other.thought_tokens);
        self.cost = self.cost - other.cost;
        subtract(&mut self.calls, other.calls);
        subtract(&mut self.tool_calls, other.tool_calls);
        self
    }
}
