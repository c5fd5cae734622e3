//! The routes of the API.

use crate::a2a;
use crate::access::Caller;
use crate::adk_web;
use crate::ag_ui;
use crate::follow::{Item, follow, stored_events};
use crate::keys::{Key, RunStart, StartOutcome, may_begin, scope};
use crate::message;
use crate::openapi;
use crate::page;
use crate::refuse::{Refusal, json_response, short};
use crate::runs::{End, Listener};
use crate::serve::{App, check};
use adk_core::engine::{RunFilter, RunInfo, RunState, RunStatus, Waiting};
use adk_core::runner::SessionHandle;
use adk_core::{Event, EventId, RunId, Runner};
use axum::Router;
use axum::body::Bytes;
use axum::extract::rejection::{BytesRejection, QueryRejection};
use axum::extract::{DefaultBodyLimit, Extension, Path, Query, State};
use axum::http::{HeaderMap, StatusCode, Uri, header};
use axum::middleware::from_fn_with_state;
use axum::response::sse::{self, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use futures_util::{Stream, StreamExt};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use std::convert::Infallible;
use std::sync::Arc;
use tokio::sync::OwnedSemaphorePermit;

/// Names that a workflow may not have, because paths begin with them.
pub(crate) const RESERVED_NAMES: [&str; 3] = ["runs", "waiting", "workflows"];

/// The maximum number of runs in one response.
const PAGE: usize = 100;

pub(crate) type Answer = Result<Response, Refusal>;
pub(crate) type Shared = State<Arc<App>>;
pub(crate) type Who = Extension<Caller>;
pub(crate) type Body = Result<Bytes, BytesRejection>;

pub(crate) fn router(app: Arc<App>) -> Router {
    Router::new()
        .route("/health", get(health))
        .route("/openapi.json", get(openapi_document))
        .route("/v1/workflows", get(workflows))
        .route("/v1/{workflow}/runs", post(begin))
        .route("/v1/runs", get(runs))
        .route("/v1/runs/{run}", get(run).delete(cancel))
        .route("/v1/runs/{run}/events", get(events))
        .route("/v1/waiting", get(waiting))
        .route("/v1/waiting/{*wait}", post(answer))
        .merge(protocols())
        .fallback(unknown_path)
        .method_not_allowed_fallback(wrong_method)
        .layer(DefaultBodyLimit::max(app.limits.body))
        .layer(from_fn_with_state(app.clone(), check))
        // The page contains no data of a user, so callers that are not authenticated may read it.
        .merge(page::router())
        .with_state(app)
}

/// Returns the routes of the other protocols.
fn protocols() -> Router<Arc<App>> {
    let all = Router::new()
        .merge(a2a::router())
        .merge(ag_ui::router())
        .merge(adk_web::router());
    #[cfg(feature = "mcp")]
    let all = all.merge(crate::mcp::router());
    all
}

async fn unknown_path(uri: Uri) -> Refusal {
    Refusal::missing("path", uri.path()).help("see the paths of the API in `GET /openapi.json`")
}

async fn wrong_method(uri: Uri) -> Refusal {
    let message = format!("`{}` does not support this method", short(uri.path()));
    Refusal::new(StatusCode::METHOD_NOT_ALLOWED, "method", message)
        .help("see the paths of the API in `GET /openapi.json`")
}

async fn health(State(app): Shared) -> Response {
    if app.runs.is_closing() {
        return json_response(
            StatusCode::SERVICE_UNAVAILABLE,
            &json!({"status": "closing"}),
        );
    }
    json_response(StatusCode::OK, &json!({"status": "ok"}))
}

async fn openapi_document(State(app): Shared, Extension(caller): Who) -> Response {
    json_response(StatusCode::OK, &openapi::document(&app, &caller))
}

async fn workflows(State(app): Shared, Extension(caller): Who) -> Response {
    let runner = app.runner(&caller);
    let all: Vec<_> = app
        .workflows(&runner, &caller)
        .map(|workflow| {
            let form = workflow.form();
            json!({
                "name": workflow.name(),
                "description": workflow.description(),
                "input": form.input_schema(),
                "body": message::body_schema(&workflow),
                "output": form.output_schema(),
                "tree": workflow.spec(),
            })
        })
        .collect();
    json_response(
        StatusCode::OK,
        &json!({"app": runner.app_name(), "workflows": all}),
    )
}

/// The query parameters that select runs. All are optional.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RunQuery {
    pub(crate) user: Option<String>,
    session: Option<String>,
    status: Option<String>,
    workflow: Option<String>,
    after: Option<String>,
    limit: Option<usize>,
}

impl RunQuery {
    /// Returns the filter for unfinished runs. Without a user, an operator selects the runs of all
    /// users.
    fn filter(self, caller: &Caller) -> Result<RunFilter, Refusal> {
        let mut filter = RunFilter::unfinished();
        filter.user = match (&caller.user, self.user) {
            (None, None) => None,
            (_, named) => Some(caller.acts_for(named.as_deref())?),
        };
        filter.session = self.session;
        filter.workflows = self.workflow.map(|name| vec![name]);
        Ok(filter)
    }
}

pub(crate) type RunQueryParam = Result<Query<RunQuery>, QueryRejection>;

pub(crate) fn parse_run_query(query: RunQueryParam) -> Result<RunQuery, Refusal> {
    let refuse = |error: QueryRejection| {
        Refusal::bad("query_invalid", error.body_text())
            .help("see the parameters in `GET /openapi.json`")
    };
    query.map(|Query(query)| query).map_err(refuse)
}

/// Parses the JSON of a body. An empty body is `null`.
pub(crate) fn parse_body(body: Body) -> Result<Value, Refusal> {
    let body = body.map_err(|error| match error.status() {
        StatusCode::PAYLOAD_TOO_LARGE => too_large(),
        _ => Refusal::bad("body_invalid", "the body is incomplete"),
    })?;
    if body.is_empty() {
        return Ok(Value::Null);
    }
    serde_json::from_slice(&body).map_err(|error| {
        Refusal::bad(
            "json_invalid",
            format!("the body is not valid JSON: {error}"),
        )
        .help("send JSON in UTF-8 with at most 127 levels")
    })
}

pub(crate) fn too_large() -> Refusal {
    Refusal::new(
        StatusCode::PAYLOAD_TOO_LARGE,
        "too_large",
        "the body exceeds the size limit of the server",
    )
    .help("send a smaller body, or raise `Limits::body` of the server")
}

fn wants_stream(headers: &HeaderMap) -> bool {
    let accept = headers
        .get_all(header::ACCEPT)
        .iter()
        .filter_map(|value| value.to_str().ok());
    accept
        .flat_map(|value| value.split(','))
        .any(|kind| kind.trim().starts_with("text/event-stream"))
}

fn header_text<'h>(headers: &'h HeaderMap, name: &str) -> Result<Option<&'h str>, Refusal> {
    let Some(value) = headers.get(name) else {
        return Ok(None);
    };
    let refuse = |_| {
        Refusal::bad(
            "header_invalid",
            format!("the header `{name}` contains non-ASCII characters"),
        )
    };
    value.to_str().map(Some).map_err(refuse)
}

async fn begin(
    State(app): Shared,
    Extension(caller): Who,
    Path(name): Path<String>,
    query: RunQueryParam,
    headers: HeaderMap,
    body: Body,
) -> Answer {
    let (query, runner) = (parse_run_query(query)?, app.runner(&caller));
    let workflow = app.workflow(&runner, &caller, &name)?;
    let user = caller.acts_for(query.user.as_deref())?;
    let body = parse_body(body)?;
    let (input, message) = message::split(&workflow, body.clone())?;
    let faults = workflow.check(&input);
    if !faults.is_empty() {
        return Err(Refusal::input(faults));
    }
    let input = workflow.complete(input);
    // Acquire the stream before the run starts: a refusal afterwards would hide the id of the run.
    let stream = wants_stream(&headers)
        .then(|| app.acquire_stream())
        .transpose()?;
    let key = header_text(&headers, "idempotency-key")?
        .map(|key| key_of(&caller, key))
        .transpose()?;
    let has_key = key.is_some();
    // Start and end events of steps show followers which steps are open.
    let config = runner.config().clone().lifecycle_events(true);
    let (session, user) = (query.session.as_deref(), &*user);
    let start = RunStart {
        runner: &runner,
        user,
        workflow: &name,
        session,
        input: &body,
        key,
    };
    let request = |session: &SessionHandle| {
        let request = session
            .run_by_name(&name, input.clone())?
            .config(config.clone());
        Ok(match &message {
            Some(message) => request.message(message.clone()),
            None => request,
        })
    };
    let (run, listener, is_new) = match app.begin(&start, request).await? {
        StartOutcome::Started(run, listener) => (run, Some(listener), true),
        StartOutcome::Existing(run) => {
            let listener = app.runs.listen(run.run_id);
            (run, listener, false)
        }
        StartOutcome::Unknown(run) if has_key => return Err(may_begin(run.run_id)),
        StartOutcome::Unknown(run) => return Ok(running_response(&run)),
    };
    if let Some(stream) = stream {
        return Ok(stream_response(
            &app, runner, run, None, listener, stream, is_new,
        ));
    }
    let is_awaited =
        !header_text(&headers, "prefer")?.is_some_and(|prefer| prefer.contains("respond-async"));
    let end = match listener {
        Some(mut listener) if is_awaited => listener.end().await,
        _ => None,
    };
    Ok(started_response(&runner, run, end.as_deref()).await)
}

/// Parses the key of a request.
fn key_of(caller: &Caller, key: &str) -> Result<Key, Refusal> {
    if key.is_empty() || key.len() > 255 {
        return Err(Refusal::bad(
            "header_invalid",
            "the `idempotency-key` does not have 1 to 255 characters",
        ));
    }
    Ok(Key {
        scope: scope("runs", caller),
        key: key.to_owned(),
        begins_again: false,
    })
}

/// Returns a started run with its current status. If the store is unavailable, the run counts as
/// running.
async fn started_response(runner: &Runner, run: RunInfo, end: Option<&End>) -> Response {
    let now = runner
        .runs(&RunFilter::of_run(run.run_id))
        .await
        .ok()
        .and_then(|runs| runs.into_iter().next());
    let run = now.unwrap_or(run);
    match run_with_end(runner, run.clone(), end).await {
        Ok(ended) => run_response(run.run_id, ended),
        Err(_) => running_response(&run),
    }
}

/// Returns a run as running, without reading the store.
fn running_response(run: &RunInfo) -> Response {
    let run = with_status(run.clone(), RunStatus::Running);
    run_response(run.run_id, (StatusCode::ACCEPTED, run_json(&run)))
}

/// Returns the run with another status.
pub(crate) fn with_status(mut run: RunInfo, status: RunStatus) -> RunInfo {
    run.status = status;
    run
}

/// The JSON of a run, with the HTTP status of the response.
type RunReply = (StatusCode, Map<String, Value>);

/// Returns a run with its end: from this process if it knows the end, otherwise from the store.
async fn run_with_end(
    runner: &Runner,
    run: RunInfo,
    end: Option<&End>,
) -> Result<RunReply, Refusal> {
    match end {
        Some(End::Finished { output, usage }) => {
            let mut json = run_json(&run);
            let known = [
                ("status", "finished".into()),
                ("output", output.clone()),
                ("usage", json!(usage)),
            ];
            json.extend(known.map(|(key, value)| (key.to_owned(), value)));
            Ok((StatusCode::OK, json))
        }
        Some(End::Failed(error)) if !error.is_of_store() => {
            let refusal = Refusal::from(error);
            let mut json = run_json(&run);
            json.insert("error".to_owned(), refusal.to_json());
            Ok((refusal.status(), json))
        }
        // A store error does not mean that the run has failed.
        Some(End::Failed(_) | End::Paused) | None => {
            let status = match run.status {
                RunStatus::Finished => StatusCode::OK,
                RunStatus::Failed(_) => StatusCode::BAD_GATEWAY,
                RunStatus::Cancelled => StatusCode::CONFLICT,
                _ => StatusCode::ACCEPTED,
            };
            Ok((status, run_with_details(runner, &run).await?))
        }
    }
}

/// Returns a run with its stored output or open waits.
async fn run_with_details(runner: &Runner, run: &RunInfo) -> Result<Map<String, Value>, Refusal> {
    let mut json = run_json(run);
    match run.status {
        RunStatus::Finished => drop(json.insert("output".to_owned(), output(runner, run).await?)),
        RunStatus::Paused => {
            let open = runner.waiting_of(&RunFilter::of_run(run.run_id)).await?;
            json.insert("waiting".to_owned(), open.iter().map(wait_json).collect());
        }
        _ => {}
    }
    Ok(json)
}

fn run_response(run: RunId, (status, json): RunReply) -> Response {
    let location = [(header::LOCATION, format!("/v1/runs/{run}"))];
    (location, json_response(status, &Value::Object(json))).into_response()
}

/// Reads the output of a finished run: the last values of its output keys.
pub(crate) async fn output(runner: &Runner, run: &RunInfo) -> Result<Value, Refusal> {
    let Some(workflow) = runner
        .workflows()
        .find(|known| *known.name() == run.workflow)
    else {
        return Ok(Value::Null);
    };
    let form = workflow.form();
    let events = stored_events(runner, run, None).await?;
    let written = |key: &str| {
        let find = |event: &Arc<Event>| {
            event
                .actions
                .state_delta
                .get(key)
                .map(|value| Value::clone(value))
        };
        events.iter().rev().find_map(find).unwrap_or_default()
    };
    Ok(match form.outputs() {
        [] => Value::Null,
        [one] => written(&one.key),
        all => all
            .iter()
            .map(|field| (field.key.to_string(), written(&field.key)))
            .collect::<Map<_, _>>()
            .into(),
    })
}

fn run_json(run: &RunInfo) -> Map<String, Value> {
    let (status, error) = match &run.status {
        RunStatus::Failed(error) => ("failed".into(), Some(stored_error(error))),
        other => (json!(other), None),
    };
    let all = [
        ("run", Some(json!(run.run_id))),
        ("workflow", Some(json!(run.workflow))),
        ("user", Some(json!(run.session.user))),
        ("session", Some(json!(run.session.id))),
        ("status", Some(status)),
        ("created", Some(json!(seconds(run.created)))),
        ("updated", Some(json!(seconds(run.updated)))),
        ("usage", run.usage.map(|usage| json!(usage))),
        ("error", error),
    ];
    all.into_iter()
        .filter_map(|(key, value)| Some((key.to_owned(), value?)))
        .collect()
}

/// Parses the stored text of an error.
fn stored_error(error: &str) -> Value {
    let (text, help) = error
        .rsplit_once("; help: ")
        .map_or((error, None), |(text, help)| (text, Some(help)));
    let place = text
        .strip_prefix("agent `")
        .and_then(|rest| rest.split_once("` (at ")?.1.split_once("): "));
    let mut fault = Map::from_iter([(
        "message".to_owned(),
        place.map_or(text, |(_, message)| message).into(),
    )]);
    let known = [("path", place.map(|(path, _)| path)), ("help", help)];
    fault.extend(
        known
            .into_iter()
            .filter_map(|(key, value)| Some((key.to_owned(), value?.into()))),
    );
    fault.into()
}

/// Adds the open steps to the JSON of a run that this process drives.
fn with_steps(app: &App, run: &RunInfo, mut json: Map<String, Value>) -> Map<String, Value> {
    let open = app.runs.open_steps(run.run_id);
    if !open.is_empty() {
        let step =
            |event: &Arc<Event>| json!({"path": event.path, "since": seconds(event.timestamp)});
        json.insert("steps".to_owned(), open.iter().map(step).collect());
    }
    json
}

fn seconds(micros: u64) -> f64 {
    micros as f64 / 1e6
}

fn wait_json(wait: &Waiting) -> Value {
    json!({
        "id": wait.id,
        "run": wait.run_id,
        "user": wait.user,
        "session": wait.session,
        "path": wait.path,
        "question": wait.question,
        "schema": wait.schema,
        "deadline": wait.deadline.map(seconds),
        "callId": wait.call_id,
        "by": wait.by,
    })
}

async fn runs(State(app): Shared, Extension(caller): Who, query: RunQueryParam) -> Answer {
    let (query, runner) = (parse_run_query(query)?, app.runner(&caller));
    let state = match query.status.as_deref() {
        None | Some("any") => RunState::Any,
        Some("unfinished") => RunState::Unfinished,
        Some("finished") => RunState::Finished,
        Some("failed") => RunState::Failed,
        Some("cancelled") => RunState::Cancelled,
        Some(other) => {
            let other: String = other.chars().take(40).collect();
            return Err(
                Refusal::bad("query_invalid", format!("the status `{other}` is unknown"))
                    .help("use one of: any, unfinished, finished, failed, cancelled"),
            );
        }
    };
    let limit = query.limit.unwrap_or(PAGE).clamp(1, PAGE);
    let after = query.after.as_deref().map(run_id).transpose()?;
    let mut filter = query.filter(&caller)?.limit(limit);
    (filter.state, filter.after) = (state, after);
    let runs = runner.runs(&filter).await?;
    let next = runs
        .last()
        .filter(|_| runs.len() == limit)
        .map(|run| run.run_id);
    let runs: Vec<_> = runs
        .iter()
        .map(|run| with_steps(&app, run, run_json(run)))
        .collect();
    Ok(json_response(
        StatusCode::OK,
        &json!({"runs": runs, "next": next}),
    ))
}

pub(crate) fn run_id(text: &str) -> Result<RunId, Refusal> {
    text.parse().map_err(|_| Refusal::missing("run", text))
}

/// Returns a run that the caller may see.
pub(crate) async fn find_run(
    runner: &Runner,
    caller: &Caller,
    run: RunId,
) -> Result<RunInfo, Refusal> {
    let runs = runner.runs(&RunFilter::of_run(run)).await?;
    let seen = runs.into_iter().find(|run| caller.sees(&run.session.user));
    seen.ok_or_else(|| Refusal::missing("run", &run.to_string()))
}

async fn run(State(app): Shared, Extension(caller): Who, Path(id): Path<String>) -> Answer {
    let runner = app.runner(&caller);
    let run = find_run(&runner, &caller, run_id(&id)?).await?;
    let json = with_steps(&app, &run, run_with_details(&runner, &run).await?);
    Ok(run_response(run.run_id, (StatusCode::OK, json)))
}

async fn cancel(State(app): Shared, Extension(caller): Who, Path(id): Path<String>) -> Answer {
    let runner = app.runner(&caller);
    let run = find_run(&runner, &caller, run_id(&id)?).await?;
    let status = runner.cancel(run.run_id).await?;
    app.runs.report_change(&run.session.app, run.run_id, false);
    let now = find_run(&runner, &caller, run.run_id).await;
    let run = now.unwrap_or_else(|_| with_status(run, status));
    let json = run_with_details(&runner, &run)
        .await
        .unwrap_or_else(|_| run_json(&run));
    Ok(run_response(run.run_id, (StatusCode::OK, json)))
}

async fn events(
    State(app): Shared,
    Extension(caller): Who,
    Path(id): Path<String>,
    query: RunQueryParam,
    headers: HeaderMap,
) -> Answer {
    let (query, runner) = (parse_run_query(query)?, app.runner(&caller));
    let run = find_run(&runner, &caller, run_id(&id)?).await?;
    let cursor = header_text(&headers, "last-event-id")?
        .or(query.after.as_deref())
        .filter(|text| !text.is_empty());
    let after = cursor.map(|cursor| {
        let cursor: Result<EventId, _> = cursor.parse();
        cursor.map_err(|_| {
            Refusal::bad("cursor_invalid", "the cursor is not an event id").help("omit the cursor")
        })
    });
    let after = after.transpose()?;
    if wants_stream(&headers) {
        let (stream, listener) = (app.acquire_stream()?, app.runs.listen(run.run_id));
        return Ok(stream_response(
            &app, runner, run, after, listener, stream, false,
        ));
    }
    let mut events = stored_events(&runner, &run, after).await?;
    events.truncate(query.limit.unwrap_or(usize::MAX).max(1));
    Ok(json_response(
        StatusCode::OK,
        &json!({"events": events, "next": events.last().map(|event| event.id)}),
    ))
}

/// Streams the events of a run, then the event `end` with the response of [`run`]. If the store
/// fails, the stream ends without `end`: the run continues, and the client requests the remaining
/// events by its cursor.
fn stream_response(
    app: &Arc<App>,
    runner: Runner,
    run: RunInfo,
    after: Option<EventId>,
    listener: Option<Listener>,
    stream: OwnedSemaphorePermit,
    is_new: bool,
) -> Response {
    let id = run.run_id;
    let events = follow(app.clone(), runner.clone(), run, after, listener, is_new);
    let events = events.filter_map(move |item| {
        let runner = runner.clone();
        async move {
            let end = match item {
                Ok(Item::Event(event)) => return Some(sse_event(&event)),
                Ok(Item::End(end)) => end_json(&runner, id, end.as_deref()).await,
                Err(refusal) => Err(refusal),
            };
            match end {
                Ok(end) => Some(named_event("end", &end)),
                Err(refusal) if refusal.is_of_store() => None,
                Err(refusal) => Some(named_event("error", &refusal.to_json())),
            }
        }
    });
    (
        [(header::LOCATION, format!("/v1/runs/{id}"))],
        sse_response(events, stream),
    )
        .into_response()
}

/// Streams events and holds the permit until the stream ends.
pub(crate) fn sse_response(
    events: impl Stream<Item = sse::Event> + Send + 'static,
    permit: OwnedSemaphorePermit,
) -> Response {
    let events = events.map(move |event| {
        let _permit = &permit;
        Ok::<_, Infallible>(event)
    });
    Sse::new(events)
        .keep_alive(KeepAlive::default())
        .into_response()
}

async fn end_json(runner: &Runner, id: RunId, end: Option<&End>) -> Result<Value, Refusal> {
    if let Some(End::Failed(error)) = end
        && error.is_of_store()
    {
        return Err(error.into());
    }
    let run = runner
        .runs(&RunFilter::of_run(id))
        .await?
        .into_iter()
        .next();
    let run = run.ok_or_else(|| Refusal::missing("run", &id.to_string()))?;
    let (_, json) = run_with_end(runner, run, end).await?;
    Ok(Value::Object(json))
}

fn sse_event(event: &Event) -> sse::Event {
    let sent = sse::Event::default().data(serde_json::to_string(event).unwrap_or_default());
    // A piece of a reply is not stored, so it has no id that could serve as a cursor.
    if event.partial {
        sent
    } else {
        sent.id(event.id.to_string())
    }
}

fn named_event(name: &str, data: &Value) -> sse::Event {
    sse::Event::default().event(name).data(data.to_string())
}

async fn waiting(State(app): Shared, Extension(caller): Who, query: RunQueryParam) -> Answer {
    let (query, runner) = (parse_run_query(query)?, app.runner(&caller));
    let names_user = query.user.is_some();
    let mut filter = query.filter(&caller)?;
    // Waits of other users are read only if the caller may answer some of them.
    let others =
        || !caller.roles.is_empty() || runner.workflows().any(|workflow| workflow.asks_others());
    if !names_user && others() {
        filter.user = None;
    }
    let waiting = runner.waiting_of(&filter).await?;
    let waiting: Vec<_> = waiting
        .iter()
        .filter(|wait| caller.sees_wait(wait))
        .map(wait_json)
        .collect();
    Ok(json_response(StatusCode::OK, &json!({"waiting": waiting})))
}

async fn answer(
    State(app): Shared,
    Extension(caller): Who,
    Path(wait): Path<String>,
    body: Body,
) -> Answer {
    let runner = app.runner(&caller);
    let value = parse_body(body)?;
    let run = wait.split('/').next().unwrap_or_default();
    let run = run_id(run).map_err(|_| Refusal::missing("wait", &wait))?;
    let run = find_run_for_answer(&runner, &caller, run, &wait).await?;
    let _reservation = app.runs.reserve(run.run_id);
    runner.answer_as(&wait, value, &caller.answerer()).await?;
    // The answer is stored. If resuming fails here, a watch resumes the run.
    let _ = resume_run(&app, &runner, run.run_id).await;
    if !caller.sees(&run.session.user) {
        return Ok(json_response(
            StatusCode::ACCEPTED,
            &json!({"run": run.run_id, "status": RunStatus::Running}),
        ));
    }
    let now = find_run(&runner, &caller, run.run_id).await;
    let run = now.unwrap_or_else(|_| with_status(run, RunStatus::Running));
    match run_with_details(&runner, &run).await {
        Ok(json) => Ok(run_response(run.run_id, (StatusCode::ACCEPTED, json))),
        Err(_) => Ok(running_response(&run)),
    }
}

/// Returns the run of a wait if the caller may see the run, or if the wait has `by`. In the second
/// case, the refusal of an unauthorized answer names the required role.
async fn find_run_for_answer(
    runner: &Runner,
    caller: &Caller,
    run: RunId,
    wait: &str,
) -> Result<RunInfo, Refusal> {
    let missing = || Refusal::missing("wait", wait);
    let filter = RunFilter::of_run(run);
    let found = runner
        .runs(&filter)
        .await?
        .into_iter()
        .next()
        .ok_or_else(missing)?;
    if caller.sees(&found.session.user) {
        return Ok(found);
    }
    let open = runner.waiting_of(&filter).await?;
    let is_for_others = open.iter().any(|open| open.id == wait && open.by.is_some());
    is_for_others.then_some(found).ok_or_else(missing)
}

/// Resumes a run that has an answer, unless a process drives it already.
pub(crate) async fn resume_run(
    app: &Arc<App>,
    runner: &Runner,
    run: RunId,
) -> Result<Option<Listener>, Refusal> {
    let ready = runner
        .runs(&RunFilter::of_run(run))
        .await?
        .into_iter()
        .find(|run| run.is_ready);
    if let Some(run) = ready
        && let Ok(request) = runner.resume_by_name(&run)
    {
        return Ok(app.runs.drive_resumed(&run.session, run.run_id, request));
    }
    Ok(None)
}
