//! What a model answers.

use crate::Content;
use crate::spec::Money;
use serde::{Deserialize, Serialize};

/// A piece of an answer, or all of it.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum ModelChunk {
    /// More text.
    Text(String),
    /// More thinking.
    Thought(String),
    /// The whole answer; the last thing in the stream.
    Done(ModelResponse),
}

/// The whole answer of a model. It is what a journal records of the call.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[non_exhaustive]
pub struct ModelResponse {
    /// What it said; no parts is an empty answer.
    pub content: Content,
    /// Why it stopped. Only the content shows whether it called tools.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub finish_reason: Option<FinishReason>,
    /// Tokens.
    pub usage: Usage,
    /// The version that answered, as the provider calls it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model_version: Option<String>,
    /// Set when the model answered with an error in place of content.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error_code: Option<String>,
    /// The provider's words for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error_message: Option<String>,
}

impl ModelResponse {
    /// An answer of this content.
    pub fn new(content: Content) -> Self {
        Self { content, ..Self::default() }
    }

    /// With token counts.
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

/// Why a model stopped. JSON is ADK's spelling, such as `MAX_TOKENS`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
#[non_exhaustive]
pub enum FinishReason {
    /// It was done.
    Stop,
    /// The limit of tokens was met.
    MaxTokens,
    /// A filter ended it.
    Safety,
    /// Anything else, in the provider's words.
    #[serde(untagged)]
    Other(String),
}

/// Tokens of one call, or of many added up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[non_exhaustive]
pub struct Usage {
    /// Tokens of the request.
    #[serde(rename = "promptTokenCount", alias = "prompt_token_count")]
    pub input_tokens: u64,
    /// Tokens of the answer, thoughts included.
    #[serde(rename = "candidatesTokenCount", alias = "candidates_token_count")]
    pub output_tokens: u64,
    /// Those of the input that came from a cache.
    #[serde(
        rename = "cachedContentTokenCount",
        alias = "cached_content_token_count",
        skip_serializing_if = "is_zero"
    )]
    pub cached_tokens: u64,
    /// Those of the output that were thoughts.
    #[serde(rename = "thoughtsTokenCount", alias = "thoughts_token_count", skip_serializing_if = "is_zero")]
    pub thought_tokens: u64,
    /// What it cost by the runner's prices; nothing where there are none, or none for its model.
    #[serde(skip_serializing_if = "Money::is_zero")]
    pub cost: Money,
    /// How many calls. The usage of one call, as an event tells it in ADK's form, has none.
    #[serde(skip_serializing_if = "is_zero")]
    pub calls: u64,
    /// How many calls of tools the answers held, those of the runtime's own tools not counted.
    #[serde(skip_serializing_if = "is_zero")]
    pub tool_calls: u64,
}

/// ADK leaves out what it has no count for.
fn is_zero(count: &u64) -> bool {
    *count == 0
}

impl Usage {
    /// The counts of one call.
    pub fn new(input_tokens: u64, output_tokens: u64) -> Self {
        Self { input_tokens, output_tokens, ..Self::default() }
    }

    /// Whether there was none.
    pub fn is_nothing(&self) -> bool {
        *self == Self::default()
    }

    /// Input and output together.
    pub fn total_tokens(&self) -> u64 {
        self.input_tokens.saturating_add(self.output_tokens)
    }
}

impl std::ops::AddAssign for Usage {
    fn add_assign(&mut self, other: Self) {
        // What a provider says may be anything.
        let add = |sum: &mut u64, more| *sum = sum.saturating_add(more);
        add(&mut self.input_tokens, other.input_tokens);
        add(&mut self.output_tokens, other.output_tokens);
        add(&mut self.cached_tokens, other.cached_tokens);
        add(&mut self.thought_tokens, other.thought_tokens);
        self.cost += other.cost;
        add(&mut self.calls, other.calls);
        add(&mut self.tool_calls, other.tool_calls);
    }
}
