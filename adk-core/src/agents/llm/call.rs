//! One call of a model: a recorded step that holds the attempts, their waits and the timeout.

use super::calls::without_deep_arguments;
use super::{Retry, trace};
use crate::content::{Content, Part, Role, Thought};
use crate::models::limit::Permit;
use crate::models::model::{
    Model, ModelChunk, ModelError, ModelErrorKind, ModelRequest, ModelResponse, Usage,
};
use crate::runtime::run::{Chain, Context, Run, TraceSpan};
use crate::spec::Money;
use crate::store::event::Event;
use crate::{Error, Name, Result, task};
use futures_util::StreamExt;
use serde_json::{Value, json};
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

/// The key of [`Event::custom_metadata`] on a partial event that tells that another model is asked, since one has failed. Its
/// value is an object: `model` (the one that failed), `error` and `next`.
pub const FALLBACK_KEY: &str = "fallback";

/// A call to be.
pub(super) struct Call {
    pub(super) models: Chain,
    pub(super) request: Arc<ModelRequest>,
    pub(super) timeout: Option<Duration>,
    pub(super) retry: Retry,
    pub(super) run: Arc<Run>,
    pub(super) trace: Option<Arc<TraceSpan>>,
}

/// The report of a call in flight.
enum Piece {
    Text(String),
    Thought(String),
    /// What happened to the call, under a key of the metadata.
    Told(&'static str, Value),
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
            Some(_) => task::apart(call.asked(send)).await,
            None => call.asked(send).await,
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
    /// Asks one model after the other, until one answers or the last has failed for good.
    async fn asked(self, send: mpsc::Sender<Piece>) -> Result<ModelResponse, ModelError> {
        let (mut model, mut rest) = (&self.models.first, self.models.fallback.iter());
        let mut failed = Vec::new();
        loop {
            let next = rest.next();
            match self.attempts(&**model, next.is_some(), &send).await {
                Ok(mut response) => {
                    response.usage.cost = self.cost(&**model, &response.usage);
                    if !self.models.fallback.is_empty() {
                        response.model_version.get_or_insert_with(|| model.name().to_owned());
                    }
                    return Ok(response);
                }
                Err((error, handed)) => match next.filter(|_| !handed) {
                    None => return Err(after(error, &failed)),
                    Some(next) => {
                        let told =
                            json!({"model": model.name(), "error": error.to_string(), "next": next.name()});
                        drop(send.send(Piece::Told(FALLBACK_KEY, told)).await);
                        failed.push(format!("`{}`: {}", model.name(), error.message()));
                        model = next;
                    }
                },
            }
        }
    }

    /// Attempts until one succeeds, one fails for good, or there were enough; the error, and whether a part of an answer was
    /// handed on.
    async fn attempts(
        &self,
        model: &dyn Model,
        has_next: bool,
        send: &mpsc::Sender<Piece>,
    ) -> Result<ModelResponse, (ModelError, bool)> {
        let max_delay = self.retry.max_delay;
        let mut waits = self.retry.waits();
        let mut attempt = 1;
        loop {
            let mut handed = false;
            let error = match self.attempt(model, attempt, send, &mut handed).await {
                Ok(response) => return Ok(response),
                Err(error) if handed => return Err((broken(error), true)),
                Err(error) => error,
            };
            // Another model is not refused for the load of this one.
            if !error.is_retryable() || has_next && error.is_load() {
                return Err((error, false));
            }
            let Some(wait) = waits.next() else { return Err((given_up(error, attempt), false)) };
            let wait = error.retry_after().unwrap_or(wait);
            if wait > max_delay {
                return Err((too_long(error, wait, max_delay), false));
            }
            let millis = u64::try_from(wait.as_millis()).unwrap_or(u64::MAX);
            let told = json!({"attempt": attempt, "waitMs": millis, "error": error.to_string()});
            // Nobody listens any more: the run is about to be dropped.
            drop(send.send(Piece::Told(RETRY_KEY, told)).await);
            tokio::time::sleep(wait).await;
            attempt += 1;
        }
    }

    async fn attempt(
        &self,
        model: &dyn Model,
        attempt: u32,
        send: &mpsc::Sender<Piece>,
        handed: &mut bool,
    ) -> Result<ModelResponse, ModelError> {
        let permit = self.permit(model).await;
        let span = self.trace.as_ref().map(|agent| trace::chat(agent, model, &self.request, attempt));
        let answer = {
            let mut answer = pin!(self.answer(model, send, handed));
            poll_fn(|task| {
                let _entered = span.as_ref().and_then(|span| span.enter());
                answer.as_mut().poll(task)
            })
            .await
        };
        if let Some(span) = span {
            trace::answered(&span, &answer);
        }
        if let Some(permit) = &permit {
            match &answer {
                Ok(response) => permit.settle(response.usage.total_tokens()),
                Err(error) => {
                    if let Some(wait) = error.retry_after().filter(|_| error.is_load()) {
                        permit.close(wait);
                    }
                    // What was refused took none.
                    if !*handed {
                        permit.settle(0);
                    }
                }
            }
        }
        answer
    }

    /// What an answer costs.
    fn cost(&self, model: &dyn Model, usage: &Usage) -> Money {
        let prices = self.run.services.prices.as_deref();
        let price = prices.and_then(|prices| prices.of(model.name()));
        price.map_or(Money::ZERO, |price| {
            price.of(usage.input_tokens, usage.cached_tokens, usage.output_tokens)
        })
    }

    /// Waits until the provider may be asked.
    async fn permit(&self, model: &dyn Model) -> Option<Permit> {
        let gate = self.run.services.models.gate(model)?;
        let tokens = if gate.limit().counts_tokens() { self.request.tokens() } else { 0 };
        Some(gate.enter(self.run.id, tokens).await)
    }

    async fn answer(
        &self,
        model: &dyn Model,
        send: &mpsc::Sender<Piece>,
        handed: &mut bool,
    ) -> Result<ModelResponse, ModelError> {
        let mut stream = model.generate(self.request.clone());
        // A timeout that is too long for the clock is none.
        let mut deadline = self.timeout.and_then(|timeout| Instant::now().checked_add(timeout));
        loop {
            // A stream that is always ready would keep the thread, and with it all timers.
            consume_budget().await;
            let next = match deadline {
                None => stream.next().await,
                // `timeout_at` polls the stream first: it never ends one that is always ready.
                Some(deadline) if Instant::now() >= deadline => return Err(self.timed_out(model)),
                Some(deadline) => match timeout_at(deadline, stream.next()).await {
                    Ok(next) => next,
                    Err(_) => return Err(self.timed_out(model)),
                },
            };
            let piece = match next {
                Some(Ok(ModelChunk::Done(response))) => return Ok(response),
                Some(Ok(_)) if !self.request.stream => continue,
                Some(Ok(ModelChunk::Text(text))) => Piece::Text(text),
                Some(Ok(ModelChunk::Thought(text))) => Piece::Thought(text),
                Some(Err(error)) => return Err(error),
                None => {
                    let message = format!("`{}` ended its answer without completing it", model.name());
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

    fn timed_out(&self, model: &dyn Model) -> ModelError {
        let timeout = self.timeout.unwrap_or_default();
        let message = format!("`{}` gave no answer in {timeout:?}, the agent's `timeout`", model.name());
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

/// The last error, and what came before it.
fn after(error: ModelError, failed: &[String]) -> ModelError {
    if failed.is_empty() {
        return error;
    }
    let message = format!("{} (it was asked after {})", error.message(), failed.join("; "));
    error.reworded(message)
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
            Self::Told(key, told) => Event::new().with_metadata(key, told),
        };
        event.partial = true;
        event
    }
}
