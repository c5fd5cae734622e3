//! [`A2a`]: [A2A](https://a2a-protocol.org) 1.0 over JSON-RPC. A workflow is an agent at
//! `/a2a/NAME`, a run is a task, and a session is a context. A wait is a task that requires input;
//! a message with the id of the task answers it.

mod answer;
mod card;
mod error;
#[cfg(not(feature = "push"))]
mod no_push;
#[cfg(feature = "push")]
mod prefix;
#[cfg(feature = "push")]
mod push;
mod send;
mod task;
mod time;
mod updates;

#[cfg(not(feature = "push"))]
use no_push::NoPush as Push;
#[cfg(feature = "push")]
use push::Push;

use crate::app::{
    App, Body, Caller, Shared, StreamPermit, Who, body_refusal, find_run, run_id, sse_response,
};
use crate::protocol::Protocol;
use crate::refuse::{Refusal, json_response, short};
use adk_a2a::rpc::{ErrorCode, RpcRequest, RpcResponse};
use adk_a2a::{StreamResponse, TaskRequest, VERSION_HEADER};
use adk_core::engine::RunInfo;
use adk_core::runner::KnownWorkflow;
use adk_core::{Result, Runner};
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

/// A2A, with the addresses to which the server may send push notifications.
#[derive(Debug, Default)]
pub(crate) struct A2a {
    push_to: Vec<String>,
}

impl A2a {
    /// Allows push notifications to an address and to all addresses below its path.
    #[cfg(feature = "push")]
    pub(crate) fn push_to(&mut self, prefix: String) {
        self.push_to.push(prefix);
    }
}

impl Protocol for A2a {
    /// # Errors
    /// [`ErrorKind::Config`](adk_core::ErrorKind::Config) if a push address is not an HTTP URL.
    fn routes(&self, app: &Arc<App>) -> Result<Router<Arc<App>>> {
        let push = Arc::new(Push::new(&self.push_to)?);
        push.start(app);
        Ok(Router::new()
            .route("/a2a/{workflow}", post(rpc))
            .route("/a2a/{workflow}/", post(rpc))
            .route(
                "/a2a/{workflow}/.well-known/agent-card.json",
                get(serve_card),
            )
            .layer(Extension(push)))
    }
}

type PushExtension = Extension<Arc<Push>>;

/// The context of a method call.
#[derive(Clone)]
struct RpcCall {
    app: Arc<App>,
    push: Arc<Push>,
    runner: Runner,
    caller: Caller,
    workflow: KnownWorkflow,
}

enum RpcAnswer {
    Value(Value),
    Stream(
        BoxStream<'static, Result<StreamResponse, Refusal>>,
        StreamPermit,
    ),
}

type RpcResult = Result<RpcAnswer, RpcRefusal>;

async fn serve_card(
    State(app): Shared,
    Extension(caller): Who,
    Extension(push): PushExtension,
    Path(name): Path<String>,
    OriginalUri(uri): OriginalUri,
    headers: HeaderMap,
) -> Result<Response, Refusal> {
    let runner = app.runner(&caller);
    let workflow = app.workflow(&runner, &caller, &name)?;
    let card = card::agent_card(&workflow, &card::address(&uri, &headers), push.is_on());
    Ok(json_response(StatusCode::OK, &json(&card)))
}

async fn rpc(
    State(app): Shared,
    Extension(caller): Who,
    Extension(push): PushExtension,
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
        Err(refusal) => return error_response(Value::Null, refusal),
    };
    let RpcRequest {
        id, method, params, ..
    } = request;
    let call = RpcCall {
        app,
        push,
        runner,
        caller,
        workflow,
    };
    let answer = match version(&headers) {
        Ok(()) => call.answer(&method, params).await,
        Err(refusal) => Err(refusal),
    };
    match answer {
        Ok(RpcAnswer::Value(value)) => {
            json_response(StatusCode::OK, &json(&RpcResponse::new(id, Ok(value))))
        }
        Ok(RpcAnswer::Stream(stream, permit)) => stream_response(id, stream, permit),
        Err(refusal) => error_response(id, refusal),
    }
}

fn request(body: Body) -> Result<RpcRequest, RpcRefusal> {
    let bytes = body.map_err(|error| {
        let refusal = body_refusal(&error);
        if refusal.status() != StatusCode::BAD_REQUEST {
            return refusal.into();
        }
        RpcRefusal::new(
            ErrorCode::Parse,
            "the body is incomplete",
            "send the request again",
        )
    })?;
    let value: Value = serde_json::from_slice(&bytes).map_err(|error| {
        let help = "send a JSON-RPC 2.0 request in UTF-8 with at most 127 levels";
        RpcRefusal::new(
            ErrorCode::Parse,
            format!("the body is not valid JSON: {error}"),
            help,
        )
        .status(StatusCode::BAD_REQUEST)
    })?;
    let invalid = |fact: String| {
        let help = "send one object with `jsonrpc`, `id`, `method` and `params`";
        RpcRefusal::new(ErrorCode::InvalidRequest, fact, help)
    };
    let request: RpcRequest = serde_json::from_value(value)
        .map_err(|error| invalid(format!("the body is not a JSON-RPC request: {error}")))?;
    if request.jsonrpc != "2.0" {
        return Err(invalid("the field `jsonrpc` is not `2.0`".to_owned()));
    }
    if !(request.id.is_string() || request.id.is_number() || request.id.is_null()) {
        return Err(invalid(
            "the field `id` is neither a string nor a number".to_owned(),
        ));
    }
    Ok(request)
}

/// Checks the version. By the specification, a request without a version has version 0.3.
fn version(headers: &HeaderMap) -> Result<(), RpcRefusal> {
    let version = headers
        .get(VERSION_HEADER)
        .map(|version| version.to_str().unwrap_or("?"))
        .unwrap_or("0.3");
    if version == "1" || version.starts_with("1.") {
        return Ok(());
    }
    let version: String = version.chars().take(20).collect();
    let fact = format!("this server does not support version `{version}` of A2A");
    Err(RpcRefusal::new(
        ErrorCode::VersionNotSupported,
        fact,
        "send the header `A2A-Version: 1.0`",
    ))
}

impl RpcCall {
    async fn answer(&self, method: &str, params: Value) -> RpcResult {
        match method {
            "SendMessage" => self
                .send(read(params)?)
                .await
                .map(|task| RpcAnswer::Value(json(&task))),
            "SendStreamingMessage" => {
                // Acquire the stream before the run starts: a refusal afterwards would hide its id.
                let permit = self.app.acquire_stream(&self.caller)?;
                let stream = self.send_streaming(read(params)?).await?;
                Ok(RpcAnswer::Stream(stream, permit))
            }
            "GetTask" => {
                let request: TaskRequest = read(params)?;
                let run = self.run(&request.id).await?;
                let task = self.task(&run, None, request.history_length).await?;
                Ok(RpcAnswer::Value(json(&task)))
            }
            "ListTasks" => self
                .list(read(params)?)
                .await
                .map(|list| RpcAnswer::Value(json(&list))),
            "CancelTask" => {
                let request: TaskRequest = read(params)?;
                self.cancel(&request.id)
                    .await
                    .map(|task| RpcAnswer::Value(json(&task)))
            }
            "SubscribeToTask" => {
                let request: TaskRequest = read(params)?;
                let permit = self.app.acquire_stream(&self.caller)?;
                let stream = self.subscribe(&request.id).await?;
                Ok(RpcAnswer::Stream(stream, permit))
            }
            "CreateTaskPushNotificationConfig"
            | "GetTaskPushNotificationConfig"
            | "ListTaskPushNotificationConfigs"
            | "DeleteTaskPushNotificationConfig" => self.push_config(method, params).await,
            "GetExtendedAgentCard" => Err(RpcRefusal::new(
                ErrorCode::UnsupportedOperation,
                "the agent has no extended card",
                "use the card at `.well-known/agent-card.json`",
            )),
            other => {
                let fact = format!("the method `{}` is unknown", short(other));
                let help = "use a method of A2A 1.0, such as `SendMessage` or `GetTask`";
                Err(RpcRefusal::new(ErrorCode::MethodNotFound, fact, help))
            }
        }
    }

    /// Returns a run of this workflow that the caller may see.
    async fn run(&self, id: &str) -> Result<RunInfo, RpcRefusal> {
        if id.is_empty() {
            return Err(RpcRefusal::new(
                ErrorCode::InvalidParams,
                "the id of the task is empty",
                "set the id of a task",
            ));
        }
        let missing = || {
            let help = "list the ids of all tasks with `ListTasks`";
            RpcRefusal::new(
                ErrorCode::TaskNotFound,
                format!("there is no task `{}`", short(id)),
                help,
            )
        };
        let id = run_id(id).map_err(|_| missing())?;
        let run = match find_run(&self.runner, &self.caller, id).await {
            Err(refusal) if refusal.status() == StatusCode::NOT_FOUND => return Err(missing()),
            found => found?,
        };
        if run.workflow == self.workflow.name() {
            Ok(run)
        } else {
            Err(missing())
        }
    }
}

fn read<T: DeserializeOwned>(params: Value) -> Result<T, RpcRefusal> {
    serde_json::from_value(params).map_err(|error| {
        let fact = format!("the parameters are invalid: {error}");
        RpcRefusal::new(
            ErrorCode::InvalidParams,
            fact,
            "compare them with the specification of A2A 1.0",
        )
    })
}

fn json(value: &impl Serialize) -> Value {
    serde_json::to_value(value).unwrap_or_default()
}

fn error_response(id: Value, refusal: RpcRefusal) -> Response {
    let (status, error) = refusal.into_parts();
    json_response(status, &json(&RpcResponse::new(id, Err(error))))
}

/// Streams events, each as a response to the request.
fn stream_response(
    id: Value,
    stream: impl Stream<Item = Result<StreamResponse, Refusal>> + Send + 'static,
    permit: StreamPermit,
) -> Response {
    // A store error does not mean that the task has failed: the stream just ends, and the client
    // subscribes again.
    let events = stream.take_while(|event| ready(!event.as_ref().is_err_and(Refusal::is_of_store)));
    let events = events.map(move |event| {
        let result = event
            .map(|event| json(&event))
            .map_err(|refusal| RpcRefusal::from(refusal).into_parts().1);
        let answer = json(&RpcResponse::new(id.clone(), result));
        sse::Event::default().data(answer.to_string())
    });
    let mut response = sse_response(events, permit);
    response.headers_mut().insert(
        header::CACHE_CONTROL,
        header::HeaderValue::from_static("no-cache"),
    );
    response
}
