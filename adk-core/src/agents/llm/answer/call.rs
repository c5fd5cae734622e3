//! [`make`]: one model call. It is a recorded step that contains the attempts, their waits and the
//! timeout.

use super::pieces::{Piece, PieceSender, channel};
use crate::agents::llm::agent::{LlmAgent, Retry};
use crate::agents::llm::trace;
use crate::encode::to_json;
use crate::limit::Permit;
use crate::model::{
    Cost, GenerationConfig, Model, ModelChunk, ModelError, ModelErrorKind, ModelRequest,
    ModelResponse,
};
use crate::runtime::run::{Context, ModelChain, Run, TraceSpan};
use crate::store::engine::{CallInputs, CallKind};
use crate::{BoxFuture, Error, Name, Part, Result, depth, task};
use futures_util::StreamExt;
use serde_json::{Value, json};
use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::task::Poll;
use std::time::Duration;
use tokio::task::coop::consume_budget;
use tokio::time::{Instant, timeout_at};

/// The key of [`Event::custom_metadata`](crate::Event::custom_metadata) on a partial event that
/// reports a further attempt. The previous attempt failed, or its answer did not fit the agent's
/// type, so its pieces are invalid. The value is an object: `attempt` (number of the failed
/// attempt, from 1), `waitMs` and `error`.
pub const RETRY_KEY: &str = "retry";

/// The key of [`Event::custom_metadata`](crate::Event::custom_metadata) on a partial event that
/// reports the change to a fallback model. The value is an object: `model` (the failed model),
/// `error` and `next`.
pub const FALLBACK_KEY: &str = "fallback";

/// The name of model calls in the keys of their journal entries.
pub(in crate::agents::llm) const MODEL: Name = Name::literal("model");

/// Returns the name of calls of this kind in the keys of their journal entries.
pub(in crate::agents::llm) const fn name(kind: CallKind) -> Name {
    match kind {
        CallKind::Summary => Name::literal("summary"),
        _ => MODEL,
    }
}

/// The parameters of a model call.
pub(super) struct ModelCall {
    /// [`CallKind::Model`] or [`CallKind::Summary`].
    kind: CallKind,
    models: ModelChain,
    request: Arc<ModelRequest>,
    timeout: Option<Duration>,
    retry: Retry,
    run: Arc<Run>,
    trace: Option<Arc<TraceSpan>>,
    /// Number of attempts whose usage is unknown. Counted for budgets.
    unknown: Option<Arc<AtomicU64>>,
}

/// Makes the call. Emits its pieces as partial events while the call runs; a slow consumer slows
/// down the stream.
///
/// # Errors
/// Fails if the call failed permanently.
pub(super) async fn make(call: ModelCall, cx: &mut Context) -> Result<ModelResponse> {
    let (send, pieces) = channel();
    let call_kind = call.kind;
    let name = name(call.kind);
    let inputs = cx.inputs(|keeps| call.inputs(keeps));
    // Boxed, because the futures of the step, the record and the journal would each contain this
    // one.
    let work = Box::pin(async move {
        let answer = match call.timeout {
            Some(_) => {
                task::spawn_scoped(Box::pin(async move { call.try_models(&send).await })).await
            }
            None => call.try_models(&send).await,
        };
        answer.map(without_deep_arguments).map_err(Error::from)
    });
    // Boxed, because the agent's future would contain it for the duration of the call.
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
                // When the step has ended, the channel may still contain the last piece.
                piece => Poll::Ready(piece),
            }
        });
        let Some(piece) = piece.await else { break };
        // The step continues while the consumer takes the piece.
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
        // The last piece is taken, but the engine has not yet stored the reply.
        None => step.await,
    }
}

impl ModelCall {
    pub(super) fn new(
        agent: &LlmAgent,
        kind: CallKind,
        models: ModelChain,
        request: Arc<ModelRequest>,
        unknown: Option<Arc<AtomicU64>>,
        cx: &Context,
    ) -> Self {
        Self {
            kind,
            models,
            request,
            timeout: agent.settings.timeout,
            retry: agent.settings.retry,
            run: cx.run.clone(),
            trace: cx.trace.clone(),
            unknown,
        }
    }

    /// Returns the inputs that are recorded with the call: the request and the names of the models.
    /// Omits the ids of tool calls, because providers generate other ids each time.
    fn inputs(&self, keeps: bool) -> CallInputs {
        let ModelRequest {
            system_instruction,
            contents,
            tools,
            provider_tools,
            response_schema,
            config,
            ..
        } = &*self.request;
        let mut contents: Vec<_> = contents
            .iter()
            .map(|content| to_json(content).unwrap_or_default())
            .collect();
        let parts = contents
            .iter_mut()
            .filter_map(|content| content.get_mut("parts")?.as_array_mut());
        for call in parts
            .flatten()
            .filter_map(Value::as_object_mut)
            .flat_map(|part| part.values_mut())
        {
            if let Some(call) = call.as_object_mut() {
                call.remove("id");
            }
        }
        let tools: Vec<_> = tools
            .iter()
            .map(|tool| json!([tool.name, tool.description, tool.parameters]))
            .chain(provider_tools.iter().map(|tool| json!([tool])))
            .collect();
        let models = std::iter::once(&self.models.first).chain(&self.models.fallback);
        let models: Vec<_> = models.map(|model| model.name()).collect();
        let GenerationConfig {
            temperature,
            top_p,
            max_output_tokens,
            stop,
            seed,
            ..
        } = config;
        let config = json!([temperature, top_p, max_output_tokens, stop, seed]);
        let inputs = json!([
            system_instruction,
            contents,
            tools,
            response_schema,
            config,
            models
        ]);
        CallInputs::new(&inputs, keeps).for_model(self.models.first.name())
    }

    /// Calls one model after the other, each with its retries, until a model replies or the last
    /// one failed permanently.
    async fn try_models(&self, send: &PieceSender) -> Result<ModelResponse, ModelError> {
        let mut attempts = ModelAttempts::new(self);
        loop {
            let (model, mut handed) = (attempts.model, false);
            let permit = self.permit(model).await;
            let answer = match &self.trace {
                None => self.answer(model, send, &mut handed).await,
                // Boxed to keep the future small, because few runs are traced.
                Some(agent) => {
                    let span = trace::chat_span(agent, model, &self.request, attempts.attempt);
                    Box::pin(poll_in_span(span, self.answer(model, send, &mut handed))).await
                }
            };
            settle(permit, &answer, handed);
            if let Some(unknown) = &self.unknown
                && answer.as_ref().map_or_else(
                    |error| handed || error.may_cost(),
                    |response| response.usage.total_tokens() == 0,
                )
            {
                unknown.fetch_add(1, Relaxed);
            }
            let next = match answer {
                Ok(response) => return Ok(self.with_cost(model, response)),
                // The agent has already received a piece, so a retry is impossible.
                Err(error) if handed => {
                    return Err(attempts.with_earlier_errors(broken_stream(error)));
                }
                Err(error) => attempts.next_attempt(error)?,
            };
            next.announce(send).await;
        }
    }

    /// Adds the cost to a reply. Adds the model's name if several models may reply.
    fn with_cost(&self, model: &dyn Model, mut response: ModelResponse) -> ModelResponse {
        let (prices, usage) = (self.run.services.prices.as_deref(), response.usage);
        let price = prices.and_then(|prices| Some((prices.of(model.name())?, prices.currency())));
        response.usage.cost = price.map_or_else(Cost::default, |(price, currency)| {
            let amount = price.of_call(
                usage.input_tokens,
                usage.cached_tokens,
                usage.cache_write_tokens,
                usage.output_tokens,
            );
            Cost::new(amount, currency)
        });
        if !self.models.fallback.is_empty() {
            response
                .model_version
                .get_or_insert_with(|| model.name().to_owned());
        }
        response
    }

    /// Waits until the rate limit of the provider permits the call.
    async fn permit(&self, model: &dyn Model) -> Option<Permit> {
        let gate = self.run.services.models.gate(model)?;
        let tokens = if gate.limit().counts_tokens() {
            self.request.tokens()
        } else {
            0
        };
        // Boxed to keep the future small, because few providers have a rate limit.
        Some(Box::pin(gate.enter(self.run.id(), tokens)).await)
    }

    async fn answer(
        &self,
        model: &dyn Model,
        send: &PieceSender,
        handed: &mut bool,
    ) -> Result<ModelResponse, ModelError> {
        let mut stream = model.generate(self.request.clone());
        // A timeout that overflows the clock counts as no timeout.
        let mut deadline = self
            .timeout
            .and_then(|timeout| Instant::now().checked_add(timeout));
        loop {
            // A stream that is always ready would block the thread with all its timers.
            consume_budget().await;
            let next = match deadline {
                None => stream.next().await,
                // `timeout_at` polls the stream first, so it never ends a stream that is always
                // ready.
                Some(deadline) if Instant::now() >= deadline => return Err(self.timed_out(model)),
                Some(deadline) => match timeout_at(deadline, stream.next()).await {
                    Ok(next) => next,
                    Err(_) => return Err(self.timed_out(model)),
                },
            };
            let piece = match next {
                Some(Ok(ModelChunk::Done(response))) => return Ok(response),
                Some(Ok(ModelChunk::Text(text))) if self.request.stream => Piece::Text(text),
                Some(Ok(ModelChunk::Thought(text))) if self.request.stream => Piece::Thought(text),
                Some(Ok(_)) => continue,
                Some(Err(error)) => return Err(error),
                None => {
                    let message =
                        format!("`{}` ended its answer without completing it", model.name());
                    let error = ModelError::new(ModelErrorKind::Connection, message);
                    return Err(error.with_may_cost(true));
                }
            };
            if !piece.is_empty() {
                *handed = true;
                let since = Instant::now();
                send.send(piece).await;
                // The time for which the consumer delays the stream does not count for the timeout.
                deadline = deadline.and_then(|deadline| deadline.checked_add(since.elapsed()));
            }
        }
    }

    fn timed_out(&self, model: &dyn Model) -> ModelError {
        let timeout = self.timeout.unwrap_or_default();
        let message = format!(
            "`{}` gave no answer in {timeout:?}, the agent's `timeout`",
            model.name()
        );
        ModelError::new(ModelErrorKind::Timeout, message)
    }
}

/// Polls the reply within its span and records the result.
async fn poll_in_span(
    span: Arc<TraceSpan>,
    answer: impl Future<Output = Result<ModelResponse, ModelError>>,
) -> Result<ModelResponse, ModelError> {
    let mut answer = pin!(answer);
    let answer = poll_fn(|task| {
        let _entered = span.enter();
        answer.as_mut().poll(task)
    })
    .await;
    trace::end_chat(&span, &answer);
    answer
}

/// The state of a call: its current model, attempt and errors.
struct ModelAttempts<'a> {
    call: &'a ModelCall,
    model: &'a dyn Model,
    rest: std::slice::Iter<'a, Arc<dyn Model>>,
    /// Number of the current model's attempt, from 1.
    attempt: u32,
    /// The waits before further attempts. Set after the first failure.
    waits: Option<BoxIterator<Duration>>,
    /// The errors of the models that failed.
    failed: Vec<String>,
}

type BoxIterator<T> = Box<dyn Iterator<Item = T> + Send>;

/// The event that announces the next attempt, and the wait before the attempt.
struct NextAttempt {
    key: &'static str,
    metadata: Value,
    wait: Duration,
}

impl<'a> ModelAttempts<'a> {
    fn new(call: &'a ModelCall) -> Self {
        let (model, rest) = (&*call.models.first, call.models.fallback.iter());
        Self {
            call,
            model,
            rest,
            attempt: 1,
            waits: None,
            failed: Vec::new(),
        }
    }

    /// Decides about the next attempt after a failure without pieces.
    ///
    /// # Errors
    /// Fails if this was the last attempt.
    fn next_attempt(&mut self, error: ModelError) -> Result<NextAttempt, ModelError> {
        let Retry { max_delay, .. } = self.call.retry;
        let has_next = self.rest.len() > 0;
        // A model that is rejected because of load is not retried if there is a fallback model,
        // because the load does not affect the fallback.
        let error = if !error.is_retryable() || has_next && error.is_load() {
            error
        } else {
            let waits = self
                .waits
                .get_or_insert_with(|| Box::new(self.call.retry.waits()));
            match waits.next().map(|wait| error.retry_after().unwrap_or(wait)) {
                Some(wait) if wait <= max_delay => {
                    let millis = u64::try_from(wait.as_millis()).unwrap_or(u64::MAX);
                    let metadata = json!({
                        "attempt": self.attempt,
                        "waitMs": millis,
                        "error": error.to_string(),
                    });
                    self.attempt += 1;
                    return Ok(NextAttempt {
                        key: RETRY_KEY,
                        metadata,
                        wait,
                    });
                }
                Some(wait) => wait_too_long(error, wait, max_delay),
                None => attempts_exhausted(error, self.attempt),
            }
        };
        let Some(next) = self.rest.next() else {
            return Err(self.with_earlier_errors(error));
        };
        let metadata =
            json!({"model": self.model.name(), "error": error.to_string(), "next": next.name()});
        self.failed
            .push(format!("`{}`: {}", self.model.name(), error.message()));
        (self.model, self.attempt, self.waits) = (&**next, 1, None);
        Ok(NextAttempt {
            key: FALLBACK_KEY,
            metadata,
            wait: Duration::ZERO,
        })
    }

    /// Adds the errors of the earlier models to the last error.
    fn with_earlier_errors(&self, error: ModelError) -> ModelError {
        if self.failed.is_empty() {
            return error;
        }
        let message = format!(
            "{} (it was asked after {})",
            error.message(),
            self.failed.join("; ")
        );
        error.with_message(message)
    }
}

impl NextAttempt {
    /// Sends the event before the next attempt, and waits. The future is boxed, because few calls
    /// fail.
    fn announce(self, send: &PieceSender) -> BoxFuture<'_, ()> {
        Box::pin(async move {
            send.send(Piece::Metadata(self.key, Box::new(self.metadata)))
                .await;
            if !self.wait.is_zero() {
                tokio::time::sleep(self.wait).await;
            }
        })
    }
}

/// Reports the actual tokens of a call to the rate limit of its provider.
fn settle(permit: Option<Permit>, answer: &Result<ModelResponse, ModelError>, handed: bool) {
    let Some(permit) = permit else { return };
    match answer {
        Ok(response) => permit.settle(response.usage.total_tokens()),
        Err(error) => {
            if let Some(wait) = error.retry_after().filter(|_| error.is_load()) {
                permit.pause(wait);
            }
            // A rejected call used no tokens.
            if !handed {
                permit.settle(0);
            }
        }
    }
}

/// Converts the error of a stream that broke after its first piece.
fn broken_stream(error: ModelError) -> ModelError {
    match error.kind() {
        ModelErrorKind::Connection | ModelErrorKind::Unavailable => {
            let message = format!("the answer broke off in the middle: {}", error.message());
            ModelError::new(ModelErrorKind::BrokenStream, message).with_source(error)
        }
        _ => error,
    }
}

fn attempts_exhausted(error: ModelError, attempts: u32) -> ModelError {
    match attempts {
        1 => error,
        _ => {
            let message = format!("{} (after {attempts} attempts)", error.message());
            error.with_message(message)
        }
    }
}

fn wait_too_long(error: ModelError, wait: Duration, max: Duration) -> ModelError {
    let message = format!(
        "{} (the provider asks to wait {wait:?}, which is longer than the {max:?} of \
         `Retry::max_delay`)",
        error.message()
    );
    error.with_message(message)
}

/// Removes arguments that are nested too deep. Such a call gets an error as its response.
fn without_deep_arguments(mut response: ModelResponse) -> ModelResponse {
    for part in &mut response.content.parts {
        if let Part::FunctionCall(call) = part
            && let Err(deep) = depth::check_object(&call.args)
        {
            let call = Arc::make_mut(call);
            depth::discard(Value::Object(std::mem::take(&mut call.args)));
            call.malformed = Some(format!("an object {deep}"));
        }
    }
    response
}
