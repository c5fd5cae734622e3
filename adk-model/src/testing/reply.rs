//! [`Reply`]: one reply of a script.

use crate::content::{Content, FunctionCall, Part, Role, Thought};
use crate::encode::to_json;
use crate::model::{
    FinishReason, ModelChunk, ModelError, ModelErrorKind, ModelResponse, ModelStream, Usage,
};
use futures_util::{StreamExt, stream};
use serde::Serialize;
use serde_json::Value;
use std::time::Duration;

/// One reply of a [`ScriptedModel`](super::ScriptedModel): parts in the order of their calls, or an
/// error.
///
/// ```
/// # use adk_build as adk;
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
    /// Creates a reply without parts.
    pub fn new() -> Self {
        let mut reply = Self::default();
        reply.response.content.role = Role::Model;
        reply
    }

    /// Creates a failed call.
    pub fn error(kind: ModelErrorKind, message: impl Into<String>) -> Self {
        Self {
            error: Some((kind, message.into(), None)),
            ..Self::new()
        }
    }

    /// Adds text.
    pub fn text(self, text: impl Into<String>) -> Self {
        self.part(Part::Text(text.into()))
    }

    /// Adds a value as JSON text. A value without a JSON form, such as NaN, becomes `null`.
    pub fn json(self, value: impl Serialize) -> Self {
        let value = to_json(&value).unwrap_or_default();
        self.text(value.to_string())
    }

    /// Adds a thought.
    pub fn thought(self, text: impl Into<String>) -> Self {
        self.part(Part::from(Thought {
            text: text.into(),
            signature: None,
        }))
    }

    /// Adds a tool call with an object of arguments and without an id; the agent sets an id.
    pub fn call(self, name: impl Into<String>, args: Value) -> Self {
        self.call_with_id("", name, args)
    }

    /// Adds a tool call with an id that the model sets.
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

    /// Sets the token counts of the call. Default: zero.
    pub fn usage(mut self, input: u64, output: u64) -> Self {
        self.response.usage = Usage::new(input, output);
        self
    }

    /// Sets the reason why the model stopped. Default: no reason.
    pub fn finish(mut self, reason: FinishReason) -> Self {
        self.response.finish_reason = Some(reason);
        self
    }

    /// Makes the model reply with an error in place of content. The error is an event, not a failed
    /// call.
    pub fn error_code(mut self, code: impl Into<String>, message: impl Into<String>) -> Self {
        self.response.error_code = Some(code.into());
        self.response.error_message = Some(message.into());
        self
    }

    /// Sets the pieces of text that a streaming agent receives before the whole reply. Default: no
    /// pieces. For a failed call the pieces come before the error, as in a stream that breaks.
    pub fn pieces<S: Into<String>>(mut self, pieces: impl IntoIterator<Item = S>) -> Self {
        self.pieces.extend(
            pieces
                .into_iter()
                .map(|piece| ModelChunk::Text(piece.into())),
        );
        self
    }

    /// Sets pieces of a thought, like [`pieces`](Self::pieces) for text.
    pub fn thought_pieces<S: Into<String>>(mut self, pieces: impl IntoIterator<Item = S>) -> Self {
        self.pieces.extend(
            pieces
                .into_iter()
                .map(|piece| ModelChunk::Thought(piece.into())),
        );
        self
    }

    /// Sets the time before the first piece. With tokio's paused clock the test does not wait.
    pub fn after(mut self, wait: Duration) -> Self {
        self.before = wait;
        self
    }

    /// Sets the time before each piece.
    pub fn every(mut self, wait: Duration) -> Self {
        self.between = wait;
        self
    }

    /// Sets the time to wait that a failed call requests.
    pub fn retry_after(mut self, wait: Duration) -> Self {
        if let Some((_, _, asked)) = &mut self.error {
            *asked = Some(wait);
        }
        self
    }

    /// Returns the content of the whole reply.
    pub fn content(&self) -> &Content {
        &self.response.content
    }

    pub(super) fn into_stream(self, streaming: bool) -> ModelStream {
        let Self {
            response,
            error,
            pieces,
            before,
            between,
        } = self;
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

/// Sleeps, or returns at once for a zero duration, which needs no clock.
async fn pause(wait: Duration) {
    if !wait.is_zero() {
        tokio::time::sleep(wait).await;
    }
}
