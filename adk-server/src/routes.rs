//! The routes of the API.

use crate::a2a;
use crate::access::Caller;
use crate::adk_web;
use crate::ag_ui;
use crate::follow::{Item, follow, stored};
use crate::keys::{Beginning, Begun, Key, may_begin, scope};
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

/// Names that no workflow may have, since paths begin with them.
pub(crate) const TAKEN: [&str; 3] = ["runs", "waiting", "workflows"];

/// The most runs or waits of one answer.
const PAGE: usize = 100;

pub(crate) type Answer = Result<Response, Refusal>;
pub(crate) type Shared = State<Arc<App>>;
pub(crate) type Who = Extension<Caller>;
pub(crate) type Body = Result<Bytes, BytesRejection>;

pub(crate) fn router(app: Arc<App>) -> Router {
    Router::new()
        .route("/health", get(health))
        .route("/openapi.json", get(described))
        .route("/v1/workflows", get(workflows))
        .route("/v1/{workflow}/runs", post(begin))
        .route("/v1/runs", get(runs))
        .route("/v1/runs/{run}", get(run).delete(cancel))
        .route("/v1/runs/{run}/events", get(events))
        .route("/v1/waiting", get(waiting))
        .route("/v1/waiting/{*wait}", post(answer))
        .merge(protocols())
        .fallback(nowhere)
        .method_not_allowed_fallback(not_so)
        .layer(DefaultBodyLimit::max(app.limits.body))
        .layer(from_fn_with_state(app.clone(), check))
        // It holds nothing of anybody, so it is there for those too who have yet to say who they are.
        .merge(page::router())
        .with_state(app)
}

/// The protocols of others.
fn protocols() -> Router<Arc<App>> {
    let all = Router::new().merge(a2a::router()).merge(ag_ui::router()).merge(adk_web::router());
    #[cfg(feature = "mcp")]
    let all = all.merge(crate::mcp::router());
    all
}

async fn nowhere(uri: Uri) -> Refusal {
    Refusal::missing("path", uri.path()).help("`GET /openapi.json` has the paths of the API")
}

async fn not_so(uri: Uri) -> Refusal {
    let message = format!("`{}` is not asked by this method", short(uri.path()));
    Refusal::new(StatusCode::METHOD_NOT_ALLOWED, "method", message)
        .help("`GET /openapi.json` has the paths of the API")
}

async fn health(State(app): Shared) -> Response {
    if app.runs.is_closing() {
        return json_response(StatusCode::SERVICE_UNAVAILABLE, &json!({"status": "closing"}));
    }
    json_response(StatusCode::OK, &json!({"status": "ok"}))
}

async fn described(State(app): Shared, Extension(caller): Who) -> Response {
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
    json_response(StatusCode::OK, &json!({"app": runner.app_name(), "workflows": all}))
}

/// Whose, and which. All are optional.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Asked {
    pub(crate) user: Option<String>,
    session: Option<String>,
    status: Option<String>,
    workflow: Option<String>,
    after: Option<String>,
    limit: Option<usize>,
}

impl Asked {
    /// The unfinished runs that are asked for; an operator who names no user asks for those of all.
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

pub(crate) type AskedFor = Result<Query<Asked>, QueryRejection>;

pub(crate) fn asked(query: AskedFor) -> Result<Asked, Refusal> {
    let refuse = |error: QueryRejection| {
        Refusal::bad("query_invalid", error.body_text()).help("`GET /openapi.json` has the parameters")
    };
    query.map(|Query(asked)| asked).map_err(refuse)
}

/// The JSON of a body; null for an empty one.
pub(crate) fn json_of(body: Body) -> Result<Value, Refusal> {
    let body = body.map_err(|error| match error.status() {
        StatusCode::PAYLOAD_TOO_LARGE => too_large(),
        _ => Refusal::bad("body_invalid", "the body ended early"),
    })?;
    if body.is_empty() {
        return Ok(Value::Null);
    }
    serde_json::from_slice(&body).map_err(|error| {
        Refusal::bad("json_invalid", format!("the body is no JSON: {error}"))
            .help("send JSON, in UTF-8, nested at most 127 deep")
    })
}

pub(crate) fn too_large() -> Refusal {
    Refusal::new(StatusCode::PAYLOAD_TOO_LARGE, "too_large", "the body is larger than is taken")
        .help("send less, or raise `Limits::body` of the server")
}

fn wants_stream(headers: &HeaderMap) -> bool {
    let accept = headers.get_all(header::ACCEPT).iter().filter_map(|value| value.to_str().ok());
    accept.flat_map(|value| value.split(',')).any(|kind| kind.trim().starts_with("text/event-stream"))
}

fn text<'h>(headers: &'h HeaderMap, name: &str) -> Result<Option<&'h str>, Refusal> {
    let Some(value) = headers.get(name) else { return Ok(None) };
    let refuse = |_| Refusal::bad("header_invalid", format!("the header `{name}` holds more than ASCII"));
    value.to_str().map(Some).map_err(refuse)
}

async fn begin(
    State(app): Shared,
    Extension(caller): Who,
    Path(name): Path<String>,
    query: AskedFor,
    headers: HeaderMap,
    body: Body,
) -> Answer {
    let (asked, runner) = (asked(query)?, app.runner(&caller));
    let workflow = app.workflow(&runner, &caller, &name)?;
    let user = caller.acts_for(asked.user.as_deref())?;
    let body = json_of(body)?;
    let (input, message) = message::split(&workflow, body.clone())?;
    let faults = workflow.check(&input);
    if !faults.is_empty() {
        return Err(Refusal::input(faults));
    }
    let input = workflow.complete(input);
    // Before the run begins, whose id a refusal would not say.
    let stream = wants_stream(&headers).then(|| app.stream()).transpose()?;
    let key = text(&headers, "idempotency-key")?.map(|key| key_of(&caller, key)).transpose()?;
    let has_key = key.is_some();
    // Begins and ends of steps are sent, so that a follower sees where the run is.
    let config = runner.config().clone().lifecycle_events(true);
    let (session, user) = (asked.session.as_deref(), &*user);
    let beginning = Beginning { runner: &runner, user, workflow: &name, session, input: &body, key };
    let request = |session: &SessionHandle| {
        let request = session.run_by_name(&name, input.clone())?.config(config.clone());
        Ok(match &message {
            Some(message) => request.message(message.clone()),
            None => request,
        })
    };
    let (run, listener, is_new) = match app.begin(&beginning, request).await? {
        Begun::Now(run, listener) => (run, Some(listener), true),
        Begun::Before(run) => {
            let listener = app.runs.listen(run.run_id);
            (run, listener, false)
        }
        Begun::Unknown(run) if has_key => return Err(may_begin(run.run_id)),
        Begun::Unknown(run) => return Ok(left(&run)),
    };
    if let Some(stream) = stream {
        return Ok(streamed(&app, runner, run, None, listener, stream, is_new));
    }
    let is_awaited = !text(&headers, "prefer")?.is_some_and(|prefer| prefer.contains("respond-async"));
    let end = match listener {
        Some(mut listener) if is_awaited => listener.end().await,
        _ => None,
    };
    Ok(begun(&runner, run, end.as_deref()).await)
}

/// The key of a request of this API.
fn key_of(caller: &Caller, key: &str) -> Result<Key, Refusal> {
    if key.is_empty() || key.len() > 255 {
        return Err(Refusal::bad("header_invalid", "the `idempotency-key` has not 1 to 255 characters"));
    }
    Ok(Key { scope: scope("runs", caller), key: key.to_owned(), begins_again: false })
}

/// A run that has begun, as it is now. A store that is away says nothing of the run, which goes on.
async fn begun(runner: &Runner, run: RunInfo, end: Option<&End>) -> Response {
    let now = runner.runs(&RunFilter::of_run(run.run_id)).await.ok().and_then(|runs| runs.into_iter().next());
    let run = now.unwrap_or(run);
    match ended(runner, run.clone(), end).await {
        Ok(ended) => told(run.run_id, ended),
        Err(_) => left(&run),
    }
}

/// A run that goes on, as far as this process knows.
fn left(run: &RunInfo) -> Response {
    let run = with_status(run.clone(), RunStatus::Running);
    told(run.run_id, (StatusCode::ACCEPTED, of_run(&run)))
}

/// A run with the status that it has by now.
pub(crate) fn with_status(mut run: RunInfo, status: RunStatus) -> RunInfo {
    run.status = status;
    run
}

/// A run as JSON, with the status of the answer.
type Told = (StatusCode, Map<String, Value>);

/// The status of a run: as this process knows its end, otherwise as the store has it.
async fn ended(runner: &Runner, run: RunInfo, end: Option<&End>) -> Result<Told, Refusal> {
    match end {
        Some(End::Finished { output, usage }) => {
            let mut json = of_run(&run);
            let known = [("status", "finished".into()), ("output", output.clone()), ("usage", json!(usage))];
            json.extend(known.map(|(key, value)| (key.to_owned(), value)));
            Ok((StatusCode::OK, json))
        }
        Some(End::Failed(error)) if !error.is_of_store() => {
            let refusal = Refusal::from(error);
            let mut json = of_run(&run);
            json.insert("error".to_owned(), refusal.to_json());
            Ok((refusal.status(), json))
        }
        // Where the store has failed, the run has not.
        Some(End::Failed(_) | End::Paused) | None => {
            let status = match run.status {
                RunStatus::Finished => StatusCode::OK,
                RunStatus::Failed(_) => StatusCode::BAD_GATEWAY,
                RunStatus::Cancelled => StatusCode::CONFLICT,
                _ => StatusCode::ACCEPTED,
            };
            Ok((status, as_stored(runner, &run).await?))
        }
    }
}

/// A run with what is stored of its end.
async fn as_stored(runner: &Runner, run: &RunInfo) -> Result<Map<String, Value>, Refusal> {
    let mut json = of_run(run);
    match run.status {
        RunStatus::Finished => drop(json.insert("output".to_owned(), output(runner, run).await?)),
        RunStatus::Paused => {
            let open = runner.waiting_of(&RunFilter::of_run(run.run_id)).await?;
            json.insert("waiting".to_owned(), open.iter().map(of_wait).collect());
        }
        _ => {}
    }
    Ok(json)
}

fn told(run: RunId, (status, json): Told) -> Response {
    let location = [(header::LOCATION, format!("/v1/runs/{run}"))];
    (location, json_response(status, &Value::Object(json))).into_response()
}

/// The output of a run that has finished: what its events have written last.
pub(crate) async fn output(runner: &Runner, run: &RunInfo) -> Result<Value, Refusal> {
    let Some(workflow) = runner.workflows().find(|known| *known.name() == run.workflow) else {
        return Ok(Value::Null);
    };
    let form = workflow.form();
    let events = stored(runner, run, None).await?;
    let written = |key: &str| {
        let find = |event: &Arc<Event>| event.actions.state_delta.get(key).map(|value| Value::clone(value));
        events.iter().rev().find_map(find).unwrap_or_default()
    };
    Ok(match form.outputs() {
        [] => Value::Null,
        [one] => written(&one.key),
        all => {
            all.iter().map(|field| (field.key.to_string(), written(&field.key))).collect::<Map<_, _>>().into()
        }
    })
}

fn of_run(run: &RunInfo) -> Map<String, Value> {
    let (status, error) = match &run.status {
        RunStatus::Failed(error) => ("failed".into(), Some(fault(error))),
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
    all.into_iter().filter_map(|(key, value)| Some((key.to_owned(), value?))).collect()
}

/// The error of a run, which is stored as its text.
fn fault(error: &str) -> Value {
    let (text, help) = error.rsplit_once("; help: ").map_or((error, None), |(text, help)| (text, Some(help)));
    let place = text.strip_prefix("agent `").and_then(|rest| rest.split_once("` (at ")?.1.split_once("): "));
    let mut fault =
        Map::from_iter([("message".to_owned(), place.map_or(text, |(_, message)| message).into())]);
    let known = [("path", place.map(|(path, _)| path)), ("help", help)];
    fault.extend(known.into_iter().filter_map(|(key, value)| Some((key.to_owned(), value?.into()))));
    fault.into()
}

/// A run with the steps that go on, where this process drives it.
fn with_steps(app: &App, run: &RunInfo, mut json: Map<String, Value>) -> Map<String, Value> {
    let begun = app.runs.begun(run.run_id);
    if !begun.is_empty() {
        let step = |event: &Arc<Event>| json!({"path": event.path, "since": seconds(event.timestamp)});
        json.insert("steps".to_owned(), begun.iter().map(step).collect());
    }
    json
}

fn seconds(micros: u64) -> f64 {
    micros as f64 / 1e6
}

fn of_wait(wait: &Waiting) -> Value {
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

async fn runs(State(app): Shared, Extension(caller): Who, query: AskedFor) -> Answer {
    let (asked, runner) = (asked(query)?, app.runner(&caller));
    let state = match asked.status.as_deref() {
        None | Some("any") => RunState::Any,
        Some("unfinished") => RunState::Unfinished,
        Some("finished") => RunState::Finished,
        Some("failed") => RunState::Failed,
        Some("cancelled") => RunState::Cancelled,
        Some(other) => {
            let other: String = other.chars().take(40).collect();
            return Err(Refusal::bad("query_invalid", format!("there is no status `{other}`"))
                .help("there are: any, unfinished, finished, failed, cancelled"));
        }
    };
    let limit = asked.limit.unwrap_or(PAGE).clamp(1, PAGE);
    let after = asked.after.as_deref().map(run_id).transpose()?;
    let mut filter = asked.filter(&caller)?.limit(limit);
    (filter.state, filter.after) = (state, after);
    let runs = runner.runs(&filter).await?;
    let next = runs.last().filter(|_| runs.len() == limit).map(|run| run.run_id);
    let runs: Vec<_> = runs.iter().map(|run| with_steps(&app, run, of_run(run))).collect();
    Ok(json_response(StatusCode::OK, &json!({"runs": runs, "next": next})))
}

pub(crate) fn run_id(text: &str) -> Result<RunId, Refusal> {
    text.parse().map_err(|_| Refusal::missing("run", text))
}

/// A run that the caller may see.
pub(crate) async fn found(runner: &Runner, caller: &Caller, run: RunId) -> Result<RunInfo, Refusal> {
    let runs = runner.runs(&RunFilter::of_run(run)).await?;
    let seen = runs.into_iter().find(|run| caller.sees(&run.session.user));
    seen.ok_or_else(|| Refusal::missing("run", &run.to_string()))
}

async fn run(State(app): Shared, Extension(caller): Who, Path(id): Path<String>) -> Answer {
    let runner = app.runner(&caller);
    let run = found(&runner, &caller, run_id(&id)?).await?;
    let json = with_steps(&app, &run, as_stored(&runner, &run).await?);
    Ok(told(run.run_id, (StatusCode::OK, json)))
}

async fn cancel(State(app): Shared, Extension(caller): Who, Path(id): Path<String>) -> Answer {
    let runner = app.runner(&caller);
    let run = found(&runner, &caller, run_id(&id)?).await?;
    let status = runner.cancel(run.run_id).await?;
    app.runs.changed(&run.session.app, run.run_id, false);
    let now = found(&runner, &caller, run.run_id).await;
    let run = now.unwrap_or_else(|_| with_status(run, status));
    let json = as_stored(&runner, &run).await.unwrap_or_else(|_| of_run(&run));
    Ok(told(run.run_id, (StatusCode::OK, json)))
}

async fn events(
    State(app): Shared,
    Extension(caller): Who,
    Path(id): Path<String>,
    query: AskedFor,
    headers: HeaderMap,
) -> Answer {
    let (asked, runner) = (asked(query)?, app.runner(&caller));
    let run = found(&runner, &caller, run_id(&id)?).await?;
    let cursor = text(&headers, "last-event-id")?.or(asked.after.as_deref()).filter(|text| !text.is_empty());
    let after = cursor.map(|cursor| {
        let cursor: Result<EventId, _> = cursor.parse();
        cursor.map_err(|_| {
            Refusal::bad("cursor_invalid", "the cursor is no id of an event").help("leave it out")
        })
    });
    let after = after.transpose()?;
    if wants_stream(&headers) {
        let (stream, listener) = (app.stream()?, app.runs.listen(run.run_id));
        return Ok(streamed(&app, runner, run, after, listener, stream, false));
    }
    let mut events = stored(&runner, &run, after).await?;
    events.truncate(asked.limit.unwrap_or(usize::MAX).max(1));
    Ok(json_response(StatusCode::OK, &json!({"events": events, "next": events.last().map(|event| event.id)})))
}

/// The events of a run as they happen, and at last `end` with what [`run`] answers. Where the store fails, the stream has no end: the
/// run goes on, and the client asks for the rest by its cursor.
fn streamed(
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
                Ok(Item::Event(event)) => return Some(of_event(&event)),
                Ok(Item::End(end)) => last(&runner, id, end.as_deref()).await,
                Err(refusal) => Err(refusal),
            };
            match end {
                Ok(end) => Some(named("end", &end)),
                Err(refusal) if refusal.is_of_store() => None,
                Err(refusal) => Some(named("error", &refusal.to_json())),
            }
        }
    });
    ([(header::LOCATION, format!("/v1/runs/{id}"))], sent(events, stream)).into_response()
}

/// Sends events for as long as the right to an open stream is held.
pub(crate) fn sent(
    events: impl Stream<Item = sse::Event> + Send + 'static,
    right: OwnedSemaphorePermit,
) -> Response {
    let events = events.map(move |event| {
        let _open = &right;
        Ok::<_, Infallible>(event)
    });
    Sse::new(events).keep_alive(KeepAlive::default()).into_response()
}

async fn last(runner: &Runner, id: RunId, end: Option<&End>) -> Result<Value, Refusal> {
    if let Some(End::Failed(error)) = end
        && error.is_of_store()
    {
        return Err(error.into());
    }
    let run = runner.runs(&RunFilter::of_run(id)).await?.into_iter().next();
    let run = run.ok_or_else(|| Refusal::missing("run", &id.to_string()))?;
    let (_, json) = ended(runner, run, end).await?;
    Ok(Value::Object(json))
}

fn of_event(event: &Event) -> sse::Event {
    let sent = sse::Event::default().data(serde_json::to_string(event).unwrap_or_default());
    // A part of an answer is not stored, so no client can go on after it.
    if event.partial { sent } else { sent.id(event.id.to_string()) }
}

fn named(name: &str, data: &Value) -> sse::Event {
    sse::Event::default().event(name).data(data.to_string())
}

async fn waiting(State(app): Shared, Extension(caller): Who, query: AskedFor) -> Answer {
    let (asked, runner) = (asked(query)?, app.runner(&caller));
    let names_user = asked.user.is_some();
    let mut filter = asked.filter(&caller)?;
    // Those of others are read only where some of them may be for the caller.
    let others = || !caller.roles.is_empty() || runner.workflows().any(|workflow| workflow.asks_others());
    if !names_user && others() {
        filter.user = None;
    }
    let waiting = runner.waiting_of(&filter).await?;
    let waiting: Vec<_> = waiting.iter().filter(|wait| caller.sees_wait(wait)).map(of_wait).collect();
    Ok(json_response(StatusCode::OK, &json!({"waiting": waiting})))
}

async fn answer(State(app): Shared, Extension(caller): Who, Path(wait): Path<String>, body: Body) -> Answer {
    let runner = app.runner(&caller);
    let value = json_of(body)?;
    let run = wait.split('/').next().unwrap_or_default();
    let run = run_id(run).map_err(|_| Refusal::missing("wait", &wait))?;
    let run = found_for_answer(&runner, &caller, run, &wait).await?;
    let _ours = app.runs.reserve(run.run_id);
    runner.answer_as(&wait, value, &caller.answerer()).await?;
    // The answer is stored, and a watch resumes the run where this fails.
    let _ = go_on(&app, &runner, run.run_id).await;
    if !caller.sees(&run.session.user) {
        return Ok(json_response(
            StatusCode::ACCEPTED,
            &json!({"run": run.run_id, "status": RunStatus::Running}),
        ));
    }
    let now = found(&runner, &caller, run.run_id).await;
    let run = now.unwrap_or_else(|_| with_status(run, RunStatus::Running));
    match as_stored(&runner, &run).await {
        Ok(json) => Ok(told(run.run_id, (StatusCode::ACCEPTED, json))),
        Err(_) => Ok(left(&run)),
    }
}

/// The run of a wait that the caller sees, or that names others than its user in `by`: an answer of the wrong caller is refused
/// with the role that is needed.
async fn found_for_answer(
    runner: &Runner,
    caller: &Caller,
    run: RunId,
    wait: &str,
) -> Result<RunInfo, Refusal> {
    let missing = || Refusal::missing("wait", wait);
    let filter = RunFilter::of_run(run);
    let found = runner.runs(&filter).await?.into_iter().next().ok_or_else(missing)?;
    if caller.sees(&found.session.user) {
        return Ok(found);
    }
    let open = runner.waiting_of(&filter).await?;
    let is_for_others = open.iter().any(|open| open.id == wait && open.by.is_some());
    is_for_others.then_some(found).ok_or_else(missing)
}

/// Takes up a run that has an answer, if nobody has yet.
pub(crate) async fn go_on(app: &Arc<App>, runner: &Runner, run: RunId) -> Result<Option<Listener>, Refusal> {
    let ready = runner.runs(&RunFilter::of_run(run)).await?.into_iter().find(|run| run.is_ready);
    if let Some(run) = ready
        && let Ok(request) = runner.resume_by_name(&run)
    {
        return Ok(app.runs.go_on(&run.session, run.run_id, request));
    }
    Ok(None)
}
