//! One call of a model: a recorded step that holds the attempts, their waits and the timeout.

use super::calls::without_deep_arguments;
use super::pieces::{Piece, Sender, channel};
use super::{Retry, trace};
use crate::encode::to_json;
use crate::models::limit::Permit;
use crate::models::model::{
    GenerationConfig, Model, ModelChunk, ModelError, ModelErrorKind, ModelRequest, ModelResponse,
};
use crate::runtime::run::{Context, ModelChain, Run, TraceSpan};
use crate::spec::Money;
use crate::store::engine::{CallInputs, CallKind};
use crate::{BoxFuture, Error, Name, Result, task};
use futures_util::StreamExt;
use serde_json::{Value, json};
use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;
use tokio::task::coop::consume_budget;
use tokio::time::{Instant, timeout_at};

/// The key of [`Event::custom_metadata`](crate::Event::custom_metadata) on a partial event that tells that a call is made again:
/// one that failed, or whose answer did not fit the agent's type, so that its pieces do not count. Its value is an object:
/// `attempt` (the one that failed, from 1), `waitMs` and `error`.
pub const RETRY_KEY: &str = "retry";

/// The key of [`Event::custom_metadata`](crate::Event::custom_metadata) on a partial event that tells that another model is
/// asked, since one has failed. Its value is an object: `model` (the one that failed), `error` and `next`.
pub const FALLBACK_KEY: &str = "fallback";

/// The key of [`Event::custom_metadata`](crate::Event::custom_metadata) on a partial event that tells that a conversation was not
/// summarised. Its value is an object with `error`.
pub const COMPACTION_KEY: &str = "compaction";

/// The name in the keys of model calls.
pub(super) const MODEL: Name = Name::literal("model");

/// The name in the keys of calls of that kind.
pub(super) const fn name(kind: CallKind) -> Name {
    match kind {
        CallKind::Summary => Name::literal("summary"),
        _ => MODEL,
    }
}

/// A call to be.
pub(super) struct Call {
    /// [`CallKind::Model`] or [`CallKind::Summary`].
    pub(super) kind: CallKind,
    pub(super) models: ModelChain,
    pub(super) request: Arc<ModelRequest>,
    pub(super) timeout: Option<Duration>,
    pub(super) retry: Retry,
    pub(super) run: Arc<Run>,
    pub(super) trace: Option<Arc<TraceSpan>>,
}

/// Makes the call. What comes while it is in flight is emitted as partial events: a slow consumer slows the stream.
///
/// # Errors
/// When the call has failed for good.
pub(super) async fn make(call: Call, cx: &mut Context) -> Result<ModelResponse> {
    let (send, pieces) = channel();
    let call_kind = call.kind;
    let name = name(call.kind);
    let inputs = cx.inputs(|| call.inputs());
    // In a box: otherwise the step, the record and the journal each have room for it.
    let work = Box::pin(async move {
        let answer = match call.timeout {
            Some(_) => task::apart(Box::pin(async move { call.asked(&send).await })).await,
            None => call.asked(&send).await,
        };
        answer.map(without_deep_arguments).map_err(Error::from)
    });
    // In a box as well: the agent's future holds it for as long as the model takes.
    let mut step = Box::pin(cx.recorded_call(call_kind, name, inputs, work));
    let mut ended = None;
    loop {
        let piece = poll_fn(|task| {
            if ended.is_none()
                && let Poll::Ready(result) = step.as_mut().poll(task)
            {
                ended = Some(result);
            }
            match pieces.take(Some(task)) {
                None if ended.is_none() => Poll::Pending,
                // When the step has ended, the last piece may still be on its way.
                piece => Poll::Ready(piece),
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
    /// What the model is asked, and which models. Ids of calls are left out, since providers make them up.
    fn inputs(&self) -> CallInputs {
        let ModelRequest { system_instruction, contents, tools, response_schema, config, .. } =
            &*self.request;
        let mut contents: Vec<_> =
            contents.iter().map(|content| to_json(content).unwrap_or_default()).collect();
        let parts = contents.iter_mut().filter_map(|content| content.get_mut("parts")?.as_array_mut());
        for call in parts.flatten().filter_map(Value::as_object_mut).flat_map(|part| part.values_mut()) {
            if let Some(call) = call.as_object_mut() {
                call.remove("id");
            }
        }
        let tools: Vec<_> =
            tools.iter().map(|tool| json!([tool.name, tool.description, tool.parameters])).collect();
        let models = std::iter::once(&self.models.first).chain(&self.models.fallback);
        let models: Vec<_> = models.map(|model| model.name()).collect();
        let GenerationConfig { temperature, top_p, max_output_tokens, stop, seed } = config;
        let config = json!([temperature, top_p, max_output_tokens, stop, seed]);
        let inputs = json!([system_instruction, contents, tools, response_schema, config, models]);
        CallInputs::of_model(self.models.first.name(), &inputs)
    }

    /// Asks one model after the other, each as often as it may be tried, until one answers or the last has failed for good.
    async fn asked(&self, send: &Sender) -> Result<ModelResponse, ModelError> {
        let mut asked = Asked::new(self);
        loop {
            let (model, mut handed) = (asked.model, false);
            let permit = self.permit(model).await;
            let answer = match &self.trace {
                None => self.answer(model, send, &mut handed).await,
                // In a box: few runs are traced.
                Some(agent) => {
                    let span = trace::chat(agent, model, &self.request, asked.attempt);
                    Box::pin(traced(span, self.answer(model, send, &mut handed))).await
                }
            };
            settle(permit, &answer, handed);
            let again = match answer {
                Ok(response) => return Ok(self.answered(model, response)),
                // A part of it was handed on, so the call cannot be made again.
                Err(error) if handed => return Err(asked.after(broken(error))),
                Err(error) => asked.failed(error)?,
            };
            again.tell(send).await;
        }
    }

    /// An answer with its cost; it says whose it is where several may give one.
    fn answered(&self, model: &dyn Model, mut response: ModelResponse) -> ModelResponse {
        let (prices, usage) = (self.run.services.prices.as_deref(), response.usage);
        let price = prices.and_then(|prices| prices.of(model.name()));
        response.usage.cost = price.map_or(Money::ZERO, |price| {
            price.of(usage.input_tokens, usage.cached_tokens, usage.output_tokens)
        });
        if !self.models.fallback.is_empty() {
            response.model_version.get_or_insert_with(|| model.name().to_owned());
        }
        response
    }

    /// Waits until the provider may be asked.
    async fn permit(&self, model: &dyn Model) -> Option<Permit> {
        let gate = self.run.services.models.gate(model)?;
        let tokens = if gate.limit().counts_tokens() { self.request.tokens() } else { 0 };
        // In a box: few providers have a limit.
        Some(Box::pin(gate.enter(self.run.id, tokens)).await)
    }

    async fn answer(
        &self,
        model: &dyn Model,
        send: &Sender,
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
                send.send(piece).await;
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

/// An answer in its span.
async fn traced(
    span: Arc<TraceSpan>,
    answer: impl Future<Output = Result<ModelResponse, ModelError>>,
) -> Result<ModelResponse, ModelError> {
    let mut answer = pin!(answer);
    let answer = poll_fn(|task| {
        let _entered = span.enter();
        answer.as_mut().poll(task)
    })
    .await;
    trace::answered(&span, &answer);
    answer
}

/// Where a call is with its models.
struct Asked<'a> {
    call: &'a Call,
    model: &'a dyn Model,
    rest: std::slice::Iter<'a, Arc<dyn Model>>,
    /// From 1, of this model.
    attempt: u32,
    /// The waits before further attempts, once one has failed.
    waits: Option<BoxIterator<Duration>>,
    /// What was said of the models before.
    failed: Vec<String>,
}

type BoxIterator<T> = Box<dyn Iterator<Item = T> + Send>;

/// What an event says before the next attempt, and how long that waits.
struct Again {
    key: &'static str,
    told: Value,
    wait: Duration,
}

impl<'a> Asked<'a> {
    fn new(call: &'a Call) -> Self {
        let (model, rest) = (&*call.models.first, call.models.fallback.iter());
        Self { call, model, rest, attempt: 1, waits: None, failed: Vec::new() }
    }

    /// An attempt has failed, with nothing handed on.
    ///
    /// # Errors
    /// When it was the last one.
    fn failed(&mut self, error: ModelError) -> Result<Again, ModelError> {
        let Retry { max_delay, .. } = self.call.retry;
        let has_next = self.rest.len() > 0;
        // Another model is not refused for the load of this one.
        let error = if !error.is_retryable() || has_next && error.is_load() {
            error
        } else {
            let waits = self.waits.get_or_insert_with(|| Box::new(self.call.retry.waits()));
            match waits.next().map(|wait| error.retry_after().unwrap_or(wait)) {
                Some(wait) if wait <= max_delay => {
                    let millis = u64::try_from(wait.as_millis()).unwrap_or(u64::MAX);
                    let told = json!({"attempt": self.attempt, "waitMs": millis, "error": error.to_string()});
                    self.attempt += 1;
                    return Ok(Again { key: RETRY_KEY, told, wait });
                }
                Some(wait) => too_long(error, wait, max_delay),
                None => given_up(error, self.attempt),
            }
        };
        let Some(next) = self.rest.next() else { return Err(self.after(error)) };
        let told = json!({"model": self.model.name(), "error": error.to_string(), "next": next.name()});
        self.failed.push(format!("`{}`: {}", self.model.name(), error.message()));
        (self.model, self.attempt, self.waits) = (&**next, 1, None);
        Ok(Again { key: FALLBACK_KEY, told, wait: Duration::ZERO })
    }

    /// The last error, with those of the models before.
    fn after(&self, error: ModelError) -> ModelError {
        if self.failed.is_empty() {
            return error;
        }
        let message = format!("{} (it was asked after {})", error.message(), self.failed.join("; "));
        error.reworded(message)
    }
}

impl Again {
    /// In a box: few calls fail.
    fn tell(self, send: &Sender) -> BoxFuture<'_, ()> {
        Box::pin(async move {
            send.send(Piece::Told(self.key, Box::new(self.told))).await;
            if !self.wait.is_zero() {
                tokio::time::sleep(self.wait).await;
            }
        })
    }
}

/// Counts what a call took of its provider's limits.
fn settle(permit: Option<Permit>, answer: &Result<ModelResponse, ModelError>, handed: bool) {
    let Some(permit) = permit else { return };
    match answer {
        Ok(response) => permit.settle(response.usage.total_tokens()),
        Err(error) => {
            if let Some(wait) = error.retry_after().filter(|_| error.is_load()) {
                permit.close(wait);
            }
            // What was refused took none.
            if !handed {
                permit.settle(0);
            }
        }
    }
}

/// The error of an answer that was handed on in part.
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
