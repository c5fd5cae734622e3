//! One call of a model: a recorded step that holds the attempts, their waits and the timeout.

use super::calls::without_deep_arguments;
use super::{Retry, trace};
use crate::content::{Content, Part, Role, Thought};
use crate::models::model::{Model, ModelChunk, ModelError, ModelErrorKind, ModelRequest, ModelResponse};
use crate::runtime::run::{Context, TraceSpan};
use crate::store::event::Event;
use crate::{Error, Name, Result, task};
use futures_util::StreamExt;
use serde_json::json;
use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::task::coop::consume_budget;
use tokio::time::{Instant, timeout_at};

/// The key of [`Event::custom_metadata`] on a partial event that tells that a call is made again: one that failed, or whose
/// answer did not fit the agent's type, so that its pieces do not count. Its value is an object: `attempt` (the one that
/// failed, from 1), `waitMs` and `error`.
pub const RETRY_KEY: &str = "retry";

/// A call to be.
pub(super) struct Call {
    pub(super) model: Arc<dyn Model>,
    pub(super) request: Arc<ModelRequest>,
    pub(super) timeout: Option<Duration>,
    pub(super) retry: Retry,
    pub(super) trace: Option<Arc<TraceSpan>>,
}

/// The report of a call in flight.
enum Piece {
    Text(String),
    Thought(String),
    Retry { attempt: u32, wait: Duration, error: String },
}

/// Makes the call. What comes while it is in flight is emitted as partial events: a slow consumer slows the stream.
///
/// # Errors
/// When the call has failed for good.
pub(super) async fn make(call: Call, cx: &mut Context) -> Result<ModelResponse> {
    // One piece on its way: a model is read as fast as its pieces are taken.
    let (send, mut pieces) = mpsc::channel(1);
    // In a box: otherwise the step, the record and the journal each have room for it.
    let work = Box::pin(async move {
        let answer = match call.timeout {
            Some(_) => task::apart(call.attempts(send)).await,
            None => call.attempts(send).await,
        };
        answer.map(without_deep_arguments).map_err(Error::from)
    });
    let mut step = pin!(cx.recorded_call(Name::literal("model"), work));
    let mut ended = None;
    loop {
        let piece = poll_fn(|task| {
            if ended.is_none()
                && let Poll::Ready(result) = step.as_mut().poll(task)
            {
                ended = Some(result);
            }
            match &ended {
                None => pieces.poll_recv(task),
                // Nobody sends any more, but the last piece may still be on its way.
                Some(_) => Poll::Ready(pieces.try_recv().ok()),
            }
        });
        let Some(piece) = piece.await else { break };
        // The step goes on while the consumer takes the piece.
        let mut emit = pin!(cx.emit(piece.into_event()));
        poll_fn(|task| {
            if ended.is_none()
                && let Poll::Ready(result) = step.as_mut().poll(task)
            {
                ended = Some(result);
            }
            emit.as_mut().poll(task)
        })
        .await?;
    }
    match ended {
        Some(result) => result,
        // The last piece is taken, and the engine still stores the answer.
        None => step.await,
    }
}

impl Call {
    /// Attempts until one succeeds, one fails for good, or there were enough.
    async fn attempts(self, send: mpsc::Sender<Piece>) -> Result<ModelResponse, ModelError> {
        let max_delay = self.retry.max_delay;
        let mut waits = self.retry.waits();
        let mut attempt = 1;
        loop {
            let mut handed = false;
            let span =
                self.trace.as_ref().map(|agent| trace::chat(agent, &*self.model, &self.request, attempt));
            let answer = {
                let mut answer = pin!(self.attempt(&send, &mut handed));
                poll_fn(|task| {
                    let _entered = span.as_ref().and_then(|span| span.enter());
                    answer.as_mut().poll(task)
                })
                .await
            };
            if let Some(span) = span {
                trace::answered(&span, &answer);
            }
            let error = match answer {
                Ok(response) => return Ok(response),
                Err(error) if handed => return Err(broken(error)),
                Err(error) => error,
            };
            if !error.is_retryable() {
                return Err(error);
            }
            let Some(wait) = waits.next() else { return Err(given_up(error, attempt)) };
            let wait = error.retry_after().unwrap_or(wait);
            if wait > max_delay {
                return Err(too_long(error, wait, max_delay));
            }
            let told = Piece::Retry { attempt, wait, error: error.to_string() };
            // Nobody listens any more: the run is about to be dropped.
            drop(send.send(told).await);
            tokio::time::sleep(wait).await;
            attempt += 1;
        }
    }

    async fn attempt(
        &self,
        send: &mpsc::Sender<Piece>,
        handed: &mut bool,
    ) -> Result<ModelResponse, ModelError> {
        let mut stream = self.model.generate(self.request.clone());
        // A timeout that is too long for the clock is none.
        let mut deadline = self.timeout.and_then(|timeout| Instant::now().checked_add(timeout));
        loop {
            // A stream that is always ready would keep the thread, and with it all timers.
            consume_budget().await;
            let next = match deadline {
                None => stream.next().await,
                // `timeout_at` polls the stream first: it never ends one that is always ready.
                Some(deadline) if Instant::now() >= deadline => return Err(self.timed_out()),
                Some(deadline) => match timeout_at(deadline, stream.next()).await {
                    Ok(next) => next,
                    Err(_) => return Err(self.timed_out()),
                },
            };
            let piece = match next {
                Some(Ok(ModelChunk::Done(response))) => return Ok(response),
                Some(Ok(_)) if !self.request.stream => continue,
                Some(Ok(ModelChunk::Text(text))) => Piece::Text(text),
                Some(Ok(ModelChunk::Thought(text))) => Piece::Thought(text),
                Some(Err(error)) => return Err(error),
                None => {
                    let message = format!("`{}` ended its answer without completing it", self.model.name());
                    return Err(ModelError::new(ModelErrorKind::Connection, message));
                }
            };
            if !piece.is_empty() {
                *handed = true;
                let since = Instant::now();
                drop(send.send(piece).await);
                // The consumer's time is not the model's.
                deadline = deadline.and_then(|deadline| deadline.checked_add(since.elapsed()));
            }
        }
    }

    fn timed_out(&self) -> ModelError {
        let timeout = self.timeout.unwrap_or_default();
        let message = format!("`{}` gave no answer in {timeout:?}, the agent's `timeout`", self.model.name());
        ModelError::new(ModelErrorKind::Timeout, message)
    }
}

/// A part of the answer was handed on, so the call cannot be made again.
fn broken(error: ModelError) -> ModelError {
    match error.kind() {
        ModelErrorKind::Connection | ModelErrorKind::Unavailable => {
            let message = format!("the answer broke off in the middle: {}", error.message());
            ModelError::new(ModelErrorKind::BrokenStream, message).with_source(error)
        }
        _ => error,
    }
}

fn given_up(error: ModelError, attempts: u32) -> ModelError {
    match attempts {
        1 => error,
        _ => {
            let message = format!("{} (after {attempts} attempts)", error.message());
            error.reworded(message)
        }
    }
}

fn too_long(error: ModelError, wait: Duration, max: Duration) -> ModelError {
    let message = format!(
        "{} (the provider asks to wait {wait:?}, which is longer than the {max:?} of `Retry::max_delay`)",
        error.message()
    );
    error.reworded(message)
}

impl Piece {
    fn is_empty(&self) -> bool {
        matches!(self, Self::Text(text) | Self::Thought(text) if text.is_empty())
    }

    fn into_event(self) -> Event {
        let said = |part| Event::new().with_content(Content::new(Role::Model, vec![part]));
        let mut event = match self {
            Self::Text(text) => said(Part::Text(text)),
            Self::Thought(text) => said(Part::Thought(Thought { text, signature: None })),
            Self::Retry { attempt, wait, error } => {
                let wait = u64::try_from(wait.as_millis()).unwrap_or(u64::MAX);
                let told = json!({"attempt": attempt, "waitMs": wait, "error": error});
                Event::new().with_metadata(RETRY_KEY, told)
            }
        };
        event.partial = true;
        event
    }
}
