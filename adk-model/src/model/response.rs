//! [`ModelResponse`]: the reply of a model.

use super::Usage;
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
