//! The sessions of an app.

use crate::answer::{Answer, invalid_body, no_session, ok, read};
use crate::owner::{AppUser, SLASH};
use crate::view;
use adk_core::engine::RunFilter;
use adk_core::runner::SessionHandle;
use adk_core::session::{EventFilter, SessionSnapshot};
use adk_core::{Error, ErrorKind, Event, EventId, Name, RunId, StateDelta, StoreErrorKind};
use adk_server::protocol::{App, Body, Refusal, short};
use axum::Router;
use axum::extract::Path;
use axum::http::StatusCode;
use axum::routing::{get, patch};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use std::sync::Arc;

pub(crate) fn router() -> Router<Arc<App>> {
    Router::new()
        .route("/apps/{app}/users/{user}/sessions", get(list).post(create))
        .route(
            "/apps/{app}/users/{user}/sessions/{session}",
            get(one).post(create_named).patch(update).delete(delete),
        )
        .route("/apps/{app}/users/{user}/memory", patch(remember))
}

type SessionPath = Path<(String, String, String)>;

/// Returns a session in ADK's format.
fn session(owner: &AppUser, id: &str, snapshot: &SessionSnapshot, events: Vec<Value>) -> Value {
    let state = snapshot.state.iter();
    let state = state.map(|(key, value)| (key.to_string(), Value::clone(value)));
    json!({
        "id": id,
        "appName": owner.workflow.name(),
        "userId": owner.user,
        "state": state.collect::<Map<_, _>>(),
        "events": events,
        "lastUpdateTime": snapshot.updated as f64 / 1e6,
    })
}

/// Returns a session with its events and its open waits.
async fn full(owner: &AppUser, id: &str, handle: &SessionHandle) -> Result<Value, Refusal> {
    let snapshot = handle
        .get(&EventFilter::new())
        .await?
        .ok_or_else(|| no_session(id))?;
    let mut events: Vec<_> = snapshot
        .events
        .iter()
        .map(|event| view::event_json(event))
        .collect();
    events.extend(view::questions(
        &handle.waiting().await?,
        |_| true,
        &snapshot.events,
    ));
    Ok(session(owner, id, &snapshot, events))
}

async fn list(owner: AppUser) -> Answer {
    let prefix = format!("{}{SLASH}", owner.workflow.name());
    let all = owner
        .runner
        .sessions_with_prefix(Some(&owner.user), &prefix);
    let all = all.await?;
    let own = all.iter().filter_map(|snapshot| {
        Some(session(
            &owner,
            owner.id(&snapshot.key.id)?,
            snapshot,
            Vec::new(),
        ))
    });
    Ok(ok(&own.collect()))
}

async fn one(owner: AppUser, Path((.., id)): SessionPath) -> Answer {
    Ok(ok(&full(&owner, &id, &owner.session(&id)).await?))
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct NewSession {
    #[serde(alias = "session_id")]
    session_id: Option<String>,
    state: Option<StateDelta>,
    events: Option<Vec<Map<String, Value>>>,
    options: Option<Map<String, Value>>,
}

async fn create(owner: AppUser, body: Body) -> Answer {
    begin(&owner, read(body)?.unwrap_or_default()).await
}

async fn create_named(owner: AppUser, Path((.., id)): SessionPath, body: Body) -> Answer {
    begin(
        &owner,
        NewSession {
            session_id: Some(id),
            state: read(body)?,
            ..NewSession::default()
        },
    )
    .await
}

async fn begin(owner: &AppUser, new: NewSession) -> Answer {
    if new.options.is_some_and(|options| !options.is_empty()) {
        return Err(
            Refusal::bad("options_invalid", "sessions do not support options")
                .help("omit `options`")
                .into(),
        );
    }
    let state = new.state.unwrap_or_default();
    owner.may_set(&state)?;
    let events: Vec<_> = new
        .events
        .into_iter()
        .flatten()
        .map(parse_event)
        .collect::<Result<_, _>>()?;
    // As in ADK, only runs may write actions and calls that wait for an answer.
    if let Some(nth) = events
        .iter()
        .position(|event| !event.actions.is_empty() || view::has_question(event))
    {
        let message = format!(
            "event {nth} has actions or calls that wait for an answer, which only a run may write"
        );
        return Err(Refusal::bad("event_invalid", message)
            .help("restore only messages, and pass the state in `state`")
            .into());
    }
    let id = new
        .session_id
        .filter(|id| !id.trim().is_empty())
        .unwrap_or_else(|| RunId::new().to_string().trim_start_matches("e-").to_owned());
    let handle = owner.session(&id);
    handle
        .create(state)
        .await
        .map_err(|error| match error.kind() {
            ErrorKind::Store(StoreErrorKind::Exists) => {
                let message = format!("the session `{}` already exists", short(&id));
                Refusal::new(StatusCode::CONFLICT, "exists", message)
                    .help("use this session, or choose another id")
            }
            _ => error.into(),
        })?;
    if !events.is_empty() {
        handle.append(events).await?;
    }
    Ok(ok(&full(owner, &id, &handle).await?))
}

/// Parses an event of another program. Its ids may be any text or missing, so they are replaced.
fn parse_event(mut event: Map<String, Value>) -> Result<Event, Refusal> {
    let text = |name: &str| event.get(name).and_then(Value::as_str).unwrap_or_default();
    let (id, run) = (
        EventId::of_text(text("id")),
        RunId::of_text(text("invocationId")),
    );
    event.insert("id".to_owned(), json!(id));
    event.insert("invocationId".to_owned(), json!(run));
    event.entry("timestamp").or_insert(json!(0));
    serde_json::from_value(event.into())
        .map_err(|error| invalid_body(format!("an event is invalid: {error}")))
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct StateUpdate {
    #[serde(alias = "state_delta")]
    state_delta: StateDelta,
}

/// Changes the state with a new event.
async fn update(owner: AppUser, Path((.., id)): SessionPath, body: Body) -> Answer {
    let StateUpdate { state_delta } =
        read(body)?.ok_or_else(|| invalid_body("the field `stateDelta` is missing"))?;
    owner.may_set(&state_delta)?;
    let handle = owner.existing_session(&id).await?;
    let mut event = Event {
        invocation_id: RunId::new(),
        author: Name::literal("user"),
        ..Event::new()
    };
    event.actions.state_delta = state_delta;
    handle.append(vec![event]).await?;
    Ok(ok(&full(&owner, &id, &handle).await?))
}

/// Deletes a session. Cancels its unfinished runs first, because their waits become unreachable.
async fn delete(owner: AppUser, Path((.., id)): SessionPath) -> Answer {
    let handle = owner.session(&id);
    owner
        .runner
        .cancel_where(&RunFilter::unfinished().session(handle.key()))
        .await?;
    handle.delete().await?;
    Ok(ok(&Value::Null))
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct MemoryRequest {
    #[serde(alias = "session_id")]
    session_id: String,
}

async fn remember(owner: AppUser, body: Body) -> Answer {
    let MemoryRequest { session_id: id } =
        read(body)?.ok_or_else(|| invalid_body("the field `sessionId` is missing"))?;
    let handle = owner.existing_session(&id).await?;
    handle
        .add_to_memory()
        .await
        .map_err(|error: Error| match error.kind() {
            ErrorKind::NoMemoryService => Refusal::bad("no_memory_service", error.message())
                .help("set `.store(...)` or `.memory_service(...)` of the runner"),
            _ => error.into(),
        })?;
    Ok(ok(&Value::Null))
}
