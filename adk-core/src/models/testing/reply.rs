//! One answer of a script.

use crate::content::{Content, FunctionCall, Part, Role, Thought};
use crate::encode::to_json;
use crate::models::model::{
    FinishReason, ModelChunk, ModelError, ModelErrorKind, ModelResponse, ModelStream, Usage,
};
use futures_util::{StreamExt, stream};
use serde::Serialize;
use serde_json::Value;
use std::time::Duration;

/// One answer of a [`ScriptedModel`](super::ScriptedModel): parts in the order in which they are added, or an error.
///
/// ```
/// # use adk_core as adk;
/// use adk::testing::Reply;
/// use serde_json::json;
///
/// let reply = Reply::new()
///     .thought("Two cities, so two calls.")
///     .call("weather", json!({"city": "Paris"}))
///     .call("weather", json!({"city": "Rome"}))
///     .usage(20, 8);
/// assert_eq!(reply.content().function_calls().count(), 2);
/// ```
#[derive(Clone, Debug, Default)]
#[must_use = "a reply has to be given to a model, with `.reply(...)`"]
pub struct Reply {
    response: ModelResponse,
    error: Option<(ModelErrorKind, String, Option<Duration>)>,
    pieces: Vec<ModelChunk>,
    before: Duration,
    between: Duration,
}

impl Reply {
    /// A reply without parts.
    pub fn new() -> Self {
        let mut reply = Self::default();
        reply.response.content.role = Role::Model;
        reply
    }

    /// A failed call.
    pub fn error(kind: ModelErrorKind, message: impl Into<String>) -> Self {
        Self { error: Some((kind, message.into(), None)), ..Self::new() }
    }

    /// Adds text.
    pub fn text(self, text: impl Into<String>) -> Self {
        self.part(Part::Text(text.into()))
    }

    /// Adds a value as JSON text. A value without a form in JSON, such as NaN, becomes `null`.
    pub fn json(self, value: impl Serialize) -> Self {
        let value = to_json(&value).unwrap_or_default();
        self.text(value.to_string())
    }

    /// Adds a thought.
    pub fn thought(self, text: impl Into<String>) -> Self {
        self.part(Part::from(Thought { text: text.into(), signature: None }))
    }

    /// Adds a call of a tool, with an object of arguments. Without an id: the agent gives it one.
    pub fn call(self, name: impl Into<String>, args: Value) -> Self {
        self.call_with_id("", name, args)
    }

    /// Adds a call of a tool, with the id of the model's own.
    pub fn call_with_id(self, id: impl Into<String>, name: impl Into<String>, args: Value) -> Self {
        let args = match args {
            Value::Object(args) => args,
            _ => serde_json::Map::new(),
        };
        self.part(Part::from(FunctionCall {
            id: id.into(),
            name: name.into(),
            args,
            ..FunctionCall::default()
        }))
    }

    /// Adds any part.
    pub fn part(mut self, part: Part) -> Self {
        self.response.content.parts.push(part);
        self
    }

    /// Token counts of the call. Default: zero.
    pub fn usage(mut self, input: u64, output: u64) -> Self {
        self.response.usage = Usage::new(input, output);
        self
    }

    /// Why the model stopped. Default: not said.
    pub fn finish(mut self, reason: FinishReason) -> Self {
        self.response.finish_reason = Some(reason);
        self
    }

    /// The model answers with an error in place of content: an event, not a failed call.
    pub fn error_code(mut self, code: impl Into<String>, message: impl Into<String>) -> Self {
        self.response.error_code = Some(code.into());
        self.response.error_message = Some(message.into());
        self
    }

    /// The pieces of text that come before the whole where the agent streams. Without this there are none. On a
    /// failed call they come before the error: the stream breaks in the middle.
    pub fn pieces<S: Into<String>>(mut self, pieces: impl IntoIterator<Item = S>) -> Self {
        self.pieces.extend(pieces.into_iter().map(|piece| ModelChunk::Text(piece.into())));
        self
    }

    /// As [`pieces`](Self::pieces), of a thought.
    pub fn thought_pieces<S: Into<String>>(mut self, pieces: impl IntoIterator<Item = S>) -> Self {
        self.pieces.extend(pieces.into_iter().map(|piece| ModelChunk::Thought(piece.into())));
        self
    }

    /// How long the model takes before it says anything. With tokio's paused clock this takes no time.
    pub fn after(mut self, wait: Duration) -> Self {
        self.before = wait;
        self
    }

    /// How long the model takes before each piece.
    pub fn every(mut self, wait: Duration) -> Self {
        self.between = wait;
        self
    }

    /// The time to wait that a failed call asks for.
    pub fn retry_after(mut self, wait: Duration) -> Self {
        if let Some((_, _, asked)) = &mut self.error {
            *asked = Some(wait);
        }
        self
    }

    /// What it says, without pieces.
    pub fn content(&self) -> &Content {
        &self.response.content
    }

    pub(super) fn into_stream(self, streaming: bool) -> ModelStream {
        let Self { response, error, pieces, before, between } = self;
        let last = match error {
            None => Ok(ModelChunk::Done(response)),
            Some((kind, message, wait)) => {
                let error = ModelError::new(kind, message);
                Err(match wait {
                    Some(wait) => error.with_retry_after(wait),
                    None => error,
                })
            }
        };
        let pieces = if streaming { pieces } else { Vec::new() };
        let pieces = stream::iter(pieces).then(move |piece| async move {
            pause(between).await;
            Ok(piece)
        });
        let first = stream::once(pause(before)).filter_map(|()| async { None });
        Box::pin(first.chain(pieces).chain(stream::iter([last])))
    }
}

/// Without a wait no clock is needed.
async fn pause(wait: Duration) {
    if !wait.is_zero() {
        tokio::time::sleep(wait).await;
    }
}
