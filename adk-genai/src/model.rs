//! [`GenaiModel`]: a model with its whole and streamed answers.

use crate::adapter::{Family, SchemaMode};
use crate::endpoint::redact_url;
use crate::error::ErrorContext;
use crate::frames::{Found, Frames, error_in, refusal, stop, version};
use crate::plan::Plan;
use crate::provider_tool::provider_tool;
use crate::relay::{Failure, Http, Relay, TOKEN};
use crate::repair;
use crate::request;
use crate::response::Answer;
use crate::thinking::output_limit;
use adk_model::model::{Model, ModelChunk, ModelError, ModelErrorKind, ModelRequest, ModelStream};
use futures_util::future::BoxFuture;
use futures_util::{StreamExt as _, stream};
use genai::adapter::AdapterKind;
use genai::chat::{
    ChatOptions, ChatRequest, ChatStream, ChatStreamEvent, ContentPart, StopReason, StreamEnd,
};
use genai::resolver::{AuthData, Endpoint};
use genai::{Client, Error as GenaiError, Headers, ModelIden, ServiceTarget};
use secrecy::{ExposeSecret as _, SecretString};
use serde_json::Value;
use std::collections::VecDeque;
use std::fmt;
use std::future::poll_fn;
use std::sync::Arc;
use std::task::Poll;

/// A model of a provider, created by [`Genai`](crate::Genai).
///
/// One call is one HTTP request. The request is sent when the stream is first polled; dropping the
/// stream closes the connection. Requests are not retried here.
#[derive(Clone)]
pub struct GenaiModel {
    inner: Arc<Inner>,
}

pub(crate) struct Inner {
    pub(crate) client: Client,
    pub(crate) http: Http,
    /// Whether genai ignores the base URL for this adapter.
    pub(crate) sends_elsewhere: bool,
    /// Name as the user wrote it.
    pub(crate) name: String,
    pub(crate) kind: AdapterKind,
    pub(crate) base_url: String,
    pub(crate) key: Option<SecretString>,
    pub(crate) headers: Vec<(String, SecretString)>,
    pub(crate) thoughts: bool,
    /// Keys, secret headers and credentials of URLs, which messages must not contain.
    pub(crate) secrets: Vec<SecretString>,
}

impl GenaiModel {
    pub(crate) fn new(inner: Inner) -> Self {
        Self {
            inner: Arc::new(inner),
        }
    }

    /// Returns the provider.
    pub fn adapter(&self) -> crate::Adapter {
        crate::Adapter::from_kind(self.inner.kind)
    }

    /// Returns the base URL of requests, such as `https://api.openai.com/v1/`, including any
    /// credentials.
    pub fn base_url(&self) -> &str {
        &self.inner.base_url
    }
}

impl fmt::Debug for GenaiModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GenaiModel")
            .field("name", &self.inner.name)
            .field("adapter", &self.adapter())
            .field("base_url", &redact_url(&self.inner.base_url))
            .finish_non_exhaustive()
    }
}

impl Model for GenaiModel {
    fn name(&self) -> &str {
        &self.inner.name
    }

    fn provider(&self) -> &str {
        self.adapter().provider()
    }

    /// Reports whether the model accepts tools together with a schema for the answer. OpenAI and
    /// Anthropic document the combination. Gemini rejects it before version 3, and a model that
    /// gets the schema in the instruction ignores the schema when tools are present.
    fn answers_in_schema_beside_tools(&self) -> bool {
        let Inner { kind, name, .. } = &*self.inner;
        matches!(
            Family::of(*kind, name).schema_mode(*kind, name),
            SchemaMode::OpenAi | SchemaMode::Anthropic
        )
    }

    fn output_limit(&self, limit: u32) -> u32 {
        let Inner { kind, name, .. } = &*self.inner;
        output_limit(Family::of(*kind, name), name, limit)
    }

    fn check_provider_tool(&self, tool: &str, beside_functions: bool) -> Result<(), ModelError> {
        let context = self.inner.context(false);
        provider_tool(tool, self.inner.kind, beside_functions, &context).map(drop)
    }

    fn generate(&self, request: Arc<ModelRequest>) -> ModelStream {
        let inner = self.inner.clone();
        // genai cannot read the stream of an answer for which Anthropic has run a tool.
        let is_readable =
            self.inner.kind != AdapterKind::Anthropic || request.provider_tools.is_empty();
        if request.stream && is_readable {
            Box::pin(stream::unfold(State::Start(inner, request), advance))
        } else {
            Box::pin(stream::once(async move { whole(&inner, &request).await }))
        }
    }
}

/// A request in the types of genai.
struct Prepared {
    relay: Relay,
    plan: Plan,
    target: ServiceTarget,
    chat: ChatRequest,
    options: ChatOptions,
}

impl Inner {
    fn context(&self, spoke: bool) -> ErrorContext<'_> {
        let provider = self.kind.as_lower_str();
        ErrorContext {
            provider,
            model: &self.name,
            secrets: &self.secrets,
            spoke,
        }
    }

    async fn prepare(&self, request: &ModelRequest, stream: bool) -> Result<Prepared, ModelError> {
        let (mut kind, mut base_url) = (self.kind, self.base_url.clone());
        // genai supports no schemas in Ollama's own format; the same server also implements
        // OpenAI's format with schemas.
        if kind == AdapterKind::Ollama && request.response_schema.is_some() {
            kind = AdapterKind::OpenAI;
            base_url.push_str("v1/");
        }
        let plan = Plan::new(kind, &self.name, request);
        let chat = request::translate(request, &plan, &self.context(false))?;
        let mut options = plan.options(request, self.thoughts, &self.context(false))?;
        let (framing, end_mark) = (plan.framing(stream), plan.end_mark(stream));
        let relay = Relay::new(
            &self.http,
            &base_url,
            &self.secrets,
            framing,
            end_mark,
            plan.mend(),
        )
        .await;
        let relay = relay.map_err(|failure| self.context(false).failure(failure))?;
        // genai requires plain text; its copies live as long as the call.
        let plain = |(name, value): &(String, SecretString)| {
            (name.clone(), value.expose_secret().to_owned())
        };
        let mut headers: Vec<_> = self.headers.iter().map(plain).collect();
        headers.push((TOKEN.to_owned(), relay.token.clone()));
        // Servers on this machine require a key but ignore its value.
        let key = self.key.as_ref().map_or("none", |key| key.expose_secret());
        let auth = if self.sends_elsewhere {
            override_address(&plan, &relay.url, key, &headers)
        } else {
            AuthData::from_single(key)
        };
        options.extra_headers = Some(Headers::from(headers));
        let model = ModelIden::new(kind, self.name.as_str());
        let target = ServiceTarget {
            model,
            auth,
            endpoint: Endpoint::from_owned(relay.url.clone()),
        };
        Ok(Prepared {
            relay,
            plan,
            target,
            chat,
            options,
        })
    }
}

/// Returns the address of the relay for adapters without a configurable address, with the headers
/// that genai then omits.
fn override_address(plan: &Plan, url: &str, key: &str, headers: &[(String, String)]) -> AuthData {
    let header = |name: &str, value: String| (name.to_owned(), value);
    let (path, mut all) = match plan.family {
        Family::Anthropic => (
            "messages",
            vec![
                header("x-api-key", key.to_owned()),
                header("anthropic-version", "2023-06-01".to_owned()),
            ],
        ),
        _ => (
            "chat/completions",
            vec![header("Authorization", format!("Bearer {key}"))],
        ),
    };
    all.extend_from_slice(headers);
    AuthData::RequestOverride {
        url: format!("{url}{path}"),
        headers: Headers::from(all),
    }
}

async fn whole(inner: &Inner, request: &ModelRequest) -> Result<ModelChunk, ModelError> {
    let Prepared {
        relay,
        plan,
        target,
        chat,
        options,
    } = inner.prepare(request, false).await?;
    let context = inner.context(false);
    let called = relay
        .serve(inner.client.exec_chat(target, chat, Some(&options)))
        .await;
    let answer = match called.map_err(|failure| context.failure(failure))? {
        Ok(response) => {
            let raw = response.captured_raw_body.unwrap_or_default();
            // In the formats of Gemini and of OpenAI's chat, genai accepts any JSON as an empty
            // answer.
            let holds_one = match plan.kind {
                AdapterKind::Gemini => raw.pointer("/candidates/0").is_some(),
                _ => {
                    plan.family != Family::OpenAiChat || raw.pointer("/choices/0/message").is_some()
                }
            };
            if !holds_one {
                return Err(context.no_answer(&raw));
            }
            if let Some(error) = error_in(&raw) {
                return Err(context.in_band(&error));
            }
            let mut found = Found::default();
            if !request.provider_tools.is_empty() {
                found.add(&raw);
            }
            found
                .parts
                .extend(restore_space(response.content.into_parts(), &raw));
            Answer {
                usage: response.usage,
                parts: found.parts,
                grounding: found.grounding,
                reasoning: response.reasoning_content,
                stop: stop(&raw).or(response.stop_reason),
                version: version(&raw),
                refusal: refusal(&raw),
            }
        }
        Err(GenaiError::ChatResponseGeneration { response_body, .. }) => {
            if let Some(error) = error_in(&response_body) {
                return Err(context.in_band(&error));
            }
            match (repair::read(&response_body), refusal(&response_body)) {
                (Some(answer), _) => answer,
                (None, Some(refusal)) => Answer {
                    refusal: Some(refusal),
                    version: version(&response_body),
                    ..Answer::default()
                },
                (None, None) => return Err(context.no_answer(&response_body)),
            }
        }
        Err(error) => return Err(context.sort(error)),
    };
    Ok(ModelChunk::Done(answer.finish(&plan, &context)?))
}

/// Restores white space that genai trims from a whole chat completion, so that it equals the
/// streamed answer.
fn restore_space(mut parts: Vec<ContentPart>, raw: &Value) -> Vec<ContentPart> {
    if let Some(Value::String(sent)) = raw.pointer("/choices/0/message/content") {
        for part in &mut parts {
            if let ContentPart::Text(text) = part
                && text.as_str() == sent.trim()
            {
                text.clone_from(sent);
            }
        }
    }
    parts
}

enum State {
    Start(Arc<Inner>, Arc<ModelRequest>),
    Reading(Box<Reading>),
    /// The end of genai's stream was read; only these chunks are left to deliver.
    Ending(VecDeque<Result<ModelChunk, ModelError>>),
}

struct Reading {
    inner: Arc<Inner>,
    plan: Plan,
    stream: ChatStream,
    /// Future of the relay, which forwards the provider's answer to genai's stream; `None` after
    /// its end.
    relay: Option<BoxFuture<'static, Result<(), Failure>>>,
    /// Reason why the relay ended before the answer was complete.
    failure: Option<Failure>,
    frames: Arc<Frames>,
    /// Tool calls of Gemini as they arrived, each with its own signature. At the end of a stream,
    /// genai mixes up the signatures.
    calls: Vec<ContentPart>,
    thoughts: String,
    spoke: bool,
}

type Next = Option<(Result<ModelChunk, ModelError>, State)>;

async fn advance(state: State) -> Next {
    let mut reading = match state {
        State::Start(inner, request) => match Reading::open(inner, &request).await {
            Ok(reading) => Box::new(reading),
            Err(error) => return Some((Err(error), State::Ending(VecDeque::new()))),
        },
        State::Reading(reading) => reading,
        State::Ending(mut rest) => return rest.pop_front().map(|item| (item, State::Ending(rest))),
    };
    loop {
        let chunk = match reading.next().await {
            Some(Ok(ChatStreamEvent::Chunk(chunk))) if !reading.plan.holds_text() => {
                ModelChunk::Text(chunk.content)
            }
            Some(Ok(ChatStreamEvent::ReasoningChunk(chunk))) => {
                let thought = reading.frames.earlier_thoughts() + &chunk.content;
                reading.thoughts.push_str(&thought);
                ModelChunk::Thought(thought)
            }
            Some(Ok(ChatStreamEvent::ToolCallChunk(chunk))) => {
                // In other formats, a chunk holds only a piece of a call; the end of the stream
                // holds the whole calls.
                if reading.plan.family == Family::Gemini {
                    reading.calls.push(ContentPart::ToolCall(chunk.tool_call));
                }
                continue;
            }
            Some(Ok(ChatStreamEvent::End(end))) => return pop(reading.end(end)),
            Some(Ok(_)) => continue,
            Some(Err(error)) => return pop(reading.fail(error)),
            None => {
                let error = reading.early_end_error();
                return Some((Err(error), State::Ending(VecDeque::new())));
            }
        };
        reading.spoke = true;
        return Some((Ok(chunk), State::Reading(reading)));
    }
}

fn pop(mut rest: VecDeque<Result<ModelChunk, ModelError>>) -> Next {
    rest.pop_front().map(|item| (item, State::Ending(rest)))
}

impl Reading {
    async fn open(inner: Arc<Inner>, request: &ModelRequest) -> Result<Self, ModelError> {
        let Prepared {
            relay,
            plan,
            target,
            chat,
            options,
        } = inner.prepare(request, true).await?;
        let frames = Arc::new(Frames::new(!request.provider_tools.is_empty()));
        let options = options.with_raw_frame_sink_arc(frames.clone());
        let opened = inner
            .client
            .exec_chat_stream(target, chat, Some(&options))
            .await;
        let stream = opened
            .map_err(|error| inner.context(false).sort(error))?
            .stream;
        let relay: BoxFuture<'static, _> = Box::pin(relay.run());
        Ok(Self {
            inner,
            plan,
            stream,
            relay: Some(relay),
            failure: None,
            frames,
            calls: Vec::new(),
            thoughts: String::new(),
            spoke: false,
        })
    }

    /// Returns the next event. Events that the relay forwarded before it failed come first.
    async fn next(&mut self) -> Option<Result<ChatStreamEvent, GenaiError>> {
        poll_fn(|task| {
            if let Some(relay) = &mut self.relay
                && let Poll::Ready(result) = relay.as_mut().poll(task)
            {
                self.relay = None;
                self.failure = result.err();
            }
            self.stream.poll_next_unpin(task)
        })
        .await
    }

    fn early_end_error(&mut self) -> ModelError {
        let context = self.inner.context(self.spoke);
        match self.failure.take() {
            Some(failure) => context.failure(failure),
            None => context.incomplete(),
        }
    }

    fn end(mut self, end: StreamEnd) -> VecDeque<Result<ModelChunk, ModelError>> {
        let seen = self.frames.take();
        // For a stream that just stops, genai synthesizes an end without a stop reason in some
        // formats. An empty reason counts as missing.
        let says =
            |reason: &StopReason| !matches!(reason, StopReason::Other(raw) if raw.is_empty());
        let reason = end.captured_stop_reason.filter(says);
        if let Some(error) = seen.error {
            let error = Value::from_iter([("error", error)]);
            return [Err(self.inner.context(self.spoke).in_band(&error))].into();
        }
        if reason.is_none() && !seen.finished && seen.refusal.is_none() {
            return [Err(self.early_end_error())].into();
        }
        let mut parts = end
            .captured_content
            .map(genai::chat::MessageContent::into_parts)
            .unwrap_or_default();
        if self.plan.family == Family::Gemini {
            parts.retain(|part| !part.is_tool_call());
            parts.splice(0..0, seen.found.parts);
            parts.extend(seen.images);
            parts.extend(self.calls);
        }
        parts.extend(seen.calls.finish().map(ContentPart::ToolCall));
        let answer = Answer {
            parts,
            reasoning: Some(self.thoughts),
            stop: seen.stop.or(reason),
            usage: end.captured_usage.unwrap_or_default(),
            version: seen.version,
            refusal: seen.refusal,
            grounding: seen.found.grounding,
        };
        let response = match answer.finish(&self.plan, &self.inner.context(self.spoke)) {
            Ok(response) => response,
            Err(error) => return [Err(error)].into(),
        };
        let mut out = VecDeque::new();
        let text = response.content.text();
        if self.plan.holds_text() && !text.is_empty() {
            out.push_back(Ok(ModelChunk::Text(text)));
        }
        out.push_back(Ok(ModelChunk::Done(response)));
        out
    }

    fn fail(mut self, error: GenaiError) -> VecDeque<Result<ModelChunk, ModelError>> {
        if self.failure.is_some() {
            return [Err(self.early_end_error())].into();
        }
        let seen = self.frames.take();
        let context = self.inner.context(self.spoke);
        let error = match (error, seen.refusal, seen.error) {
            // genai reports a blocked prompt as an error without text.
            (GenaiError::ChatResponse { .. }, Some(refusal), _) => {
                let answer = Answer {
                    refusal: Some(refusal),
                    version: seen.version,
                    ..Answer::default()
                };
                return [answer.finish(&self.plan, &context).map(ModelChunk::Done)].into();
            }
            (GenaiError::StreamParse { .. }, _, Some(error)) => {
                context.in_band(&Value::from_iter([("error", error)]))
            }
            (GenaiError::StreamParse { serde_error, .. }, _, _) if self.spoke => {
                let what = "the stream cannot be read any further";
                context.error(ModelErrorKind::BrokenStream, what, &serde_error.to_string())
            }
            (error, _, _) => context.sort(error),
        };
        [Err(error)].into()
    }
}
