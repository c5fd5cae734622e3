//! [A2A](https://a2a-protocol.org) 1.0 over JSON-RPC: a workflow is an agent at `/a2a/NAME`, a run is a task, a session is a
//! context, and what a run waits for is input that a message with the id of the task gives.

mod answer;
mod card;
mod error;
#[cfg(feature = "push")]
mod prefix;
#[cfg(feature = "push")]
mod push;
#[cfg(not(feature = "push"))]
#[path = "a2a/no_push.rs"]
mod push;
mod send;
mod task;
mod time;
mod updates;

pub(crate) use push::Push;

use crate::access::Caller;
use crate::refuse::{Refusal, json_response, short};
use crate::routes::{Body, Shared, Who, found, run_id, sent};
use crate::serve::App;
use adk_a2a::rpc::{ErrorCode, RpcRequest, RpcResponse};
use adk_a2a::{StreamResponse, TaskRequest, VERSION_HEADER};
use adk_core::Runner;
use adk_core::engine::RunInfo;
use adk_core::runner::KnownWorkflow;
use axum::Router;
use axum::extract::{Extension, OriginalUri, Path, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::sse;
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use error::RpcRefusal;
use futures_util::stream::BoxStream;
use futures_util::{Stream, StreamExt};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::future::ready;
use std::sync::Arc;

pub(crate) fn router() -> Router<Arc<App>> {
    Router::new()
        .route("/a2a/{workflow}", post(rpc))
        .route("/a2a/{workflow}/", post(rpc))
        .route("/a2a/{workflow}/.well-known/agent-card.json", get(card_of))
}

/// What a method works with.
#[derive(Clone)]
struct Call {
    app: Arc<App>,
    runner: Runner,
    caller: Caller,
    workflow: KnownWorkflow,
}

enum Answer {
    Value(Value),
    Stream(BoxStream<'static, Result<StreamResponse, Refusal>>),
}

type Answered = Result<Answer, RpcRefusal>;

async fn card_of(
    State(app): Shared,
    Extension(caller): Who,
    Path(name): Path<String>,
    OriginalUri(uri): OriginalUri,
    headers: HeaderMap,
) -> Result<Response, Refusal> {
    let runner = app.runner(&caller);
    let workflow = app.workflow(&runner, &caller, &name)?;
    let card = card::of(&workflow, &card::address(&uri, &headers), app.push.is_on());
    Ok(json_response(StatusCode::OK, &json(&card)))
}

async fn rpc(
    State(app): Shared,
    Extension(caller): Who,
    Path(name): Path<String>,
    headers: HeaderMap,
    body: Body,
) -> Response {
    let runner = app.runner(&caller);
    let workflow = match app.workflow(&runner, &caller, &name) {
        Ok(workflow) => workflow,
        Err(refusal) => return refusal.into_response(),
    };
    let request = match request(body) {
        Ok(request) => request,
        Err(refusal) => return refused(Value::Null, refusal),
    };
    let RpcRequest { id, method, params, .. } = request;
    let call = Call { app: app.clone(), runner, caller, workflow };
    let answer = match version(&headers) {
        Ok(()) => call.answer(&method, params).await,
        Err(refusal) => Err(refusal),
    };
    match answer {
        Ok(Answer::Value(value)) => json_response(StatusCode::OK, &json(&RpcResponse::new(id, Ok(value)))),
        Ok(Answer::Stream(stream)) => streamed(&app, id, stream),
        Err(refusal) => refused(id, refusal),
    }
}

fn request(body: Body) -> Result<RpcRequest, RpcRefusal> {
    let bytes = body.map_err(|error| match error.status() {
        StatusCode::PAYLOAD_TOO_LARGE => RpcRefusal::from(crate::routes::too_large()),
        _ => RpcRefusal::new(ErrorCode::Parse, "the body ended early", "send it again"),
    })?;
    let value: Value = serde_json::from_slice(&bytes).map_err(|error| {
        let help = "send a request of JSON-RPC 2.0, in UTF-8, nested at most 127 deep";
        RpcRefusal::new(ErrorCode::Parse, format!("the body is no JSON: {error}"), help)
            .status(StatusCode::BAD_REQUEST)
    })?;
    let invalid = |fact: String| {
        let help = "send one object with `jsonrpc`, `id`, `method` and `params`";
        RpcRefusal::new(ErrorCode::InvalidRequest, fact, help)
    };
    let request: RpcRequest = serde_json::from_value(value)
        .map_err(|error| invalid(format!("this is no request of JSON-RPC: {error}")))?;
    if request.jsonrpc != "2.0" {
        return Err(invalid("the field `jsonrpc` is not `2.0`".to_owned()));
    }
    if !(request.id.is_string() || request.id.is_number() || request.id.is_null()) {
        return Err(invalid("the field `id` is neither a text nor a number".to_owned()));
    }
    Ok(request)
}

/// A request without a version is one of 0.3, says the specification.
fn version(headers: &HeaderMap) -> Result<(), RpcRefusal> {
    let version = headers.get(VERSION_HEADER).map(|version| version.to_str().unwrap_or("?")).unwrap_or("0.3");
    if version == "1" || version.starts_with("1.") {
        return Ok(());
    }
    let version: String = version.chars().take(20).collect();
    let fact = format!("version `{version}` of A2A is not spoken here");
    Err(RpcRefusal::new(ErrorCode::VersionNotSupported, fact, "send the header `A2A-Version: 1.0`"))
}

impl Call {
    async fn answer(&self, method: &str, params: Value) -> Answered {
        match method {
            "SendMessage" => self.send(read(params)?).await.map(|task| Answer::Value(json(&task))),
            "SendStreamingMessage" => self.send_streaming(read(params)?).await.map(Answer::Stream),
            "GetTask" => {
                let asked: TaskRequest = read(params)?;
                let run = self.run(&asked.id).await?;
                let task = self.task(&run, None, asked.history_length).await?;
                Ok(Answer::Value(json(&task)))
            }
            "ListTasks" => self.list(read(params)?).await.map(|list| Answer::Value(json(&list))),
            "CancelTask" => {
                let asked: TaskRequest = read(params)?;
                self.cancel(&asked.id).await.map(|task| Answer::Value(json(&task)))
            }
            "SubscribeToTask" => {
                let asked: TaskRequest = read(params)?;
                self.subscribe(&asked.id).await.map(Answer::Stream)
            }
            "CreateTaskPushNotificationConfig"
            | "GetTaskPushNotificationConfig"
            | "ListTaskPushNotificationConfigs"
            | "DeleteTaskPushNotificationConfig" => self.push_config(method, params).await,
            "GetExtendedAgentCard" => Err(RpcRefusal::new(
                ErrorCode::UnsupportedOperation,
                "there is no extended card",
                "the card at `.well-known/agent-card.json` says everything",
            )),
            other => {
                let fact = format!("there is no method `{}`", short(other));
                let help = "methods are those of A2A 1.0, such as `SendMessage` and `GetTask`";
                Err(RpcRefusal::new(ErrorCode::MethodNotFound, fact, help))
            }
        }
    }

    /// A run of this workflow that the caller may see.
    async fn run(&self, id: &str) -> Result<RunInfo, RpcRefusal> {
        if id.is_empty() {
            return Err(RpcRefusal::new(ErrorCode::InvalidParams, "the id of the task is empty", "give one"));
        }
        let missing = || {
            let help = "`ListTasks` has the ids of all tasks";
            RpcRefusal::new(ErrorCode::TaskNotFound, format!("there is no task `{}`", short(id)), help)
        };
        let id = run_id(id).map_err(|_| missing())?;
        let run = match found(&self.runner, &self.caller, id).await {
            Err(refusal) if refusal.status() == StatusCode::NOT_FOUND => return Err(missing()),
            found => found?,
        };
        if run.workflow == self.workflow.name() { Ok(run) } else { Err(missing()) }
    }
}

fn read<T: DeserializeOwned>(params: Value) -> Result<T, RpcRefusal> {
    serde_json::from_value(params).map_err(|error| {
        let fact = format!("the parameters do not fit: {error}");
        RpcRefusal::new(ErrorCode::InvalidParams, fact, "compare them with the specification of A2A 1.0")
    })
}

fn json(value: &impl Serialize) -> Value {
    serde_json::to_value(value).unwrap_or_default()
}

fn refused(id: Value, refusal: RpcRefusal) -> Response {
    let (status, error) = refusal.into_parts();
    json_response(status, &json(&RpcResponse::new(id, Err(error))))
}

/// Each event is an answer to the request.
fn streamed(
    app: &App,
    id: Value,
    stream: impl Stream<Item = Result<StreamResponse, Refusal>> + Send + 'static,
) -> Response {
    let permit = match app.stream() {
        Ok(permit) => permit,
        Err(refusal) => return refused(id, refusal.into()),
    };
    // Where the store fails, the task has not: the stream has no end, and the client subscribes again.
    let events = stream.take_while(|event| ready(!event.as_ref().is_err_and(Refusal::is_of_store)));
    let events = events.map(move |event| {
        let result =
            event.map(|event| json(&event)).map_err(|refusal| RpcRefusal::from(refusal).into_parts().1);
        let answer = json(&RpcResponse::new(id.clone(), result));
        sse::Event::default().data(answer.to_string())
    });
    let mut response = sent(events, permit);
    response.headers_mut().insert(header::CACHE_CONTROL, header::HeaderValue::from_static("no-cache"));
    response
}
