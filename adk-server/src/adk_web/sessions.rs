//! Sessions of an app.

use super::{Answer, Place, no_session, ok, read, unfit, view};
use crate::refuse::Refusal;
use crate::routes::Body;
use crate::serve::App;
use adk_core::engine::RunFilter;
use adk_core::runner::SessionHandle;
use adk_core::session::{EventFilter, SessionSnapshot};
use adk_core::{Error, ErrorKind, Event, EventId, Name, RunId, StateDelta, StoreErrorKind};
use axum::Router;
use axum::extract::Path;
use axum::http::StatusCode;
use axum::routing::{get, patch};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use std::sync::Arc;

pub(super) fn router() -> Router<Arc<App>> {
    Router::new()
        .route("/apps/{app}/users/{user}/sessions", get(list).post(create))
        .route(
            "/apps/{app}/users/{user}/sessions/{session}",
            get(one).post(create_named).patch(update).delete(delete),
        )
        .route("/apps/{app}/users/{user}/memory", patch(remember))
}

type Named = Path<(String, String, String)>;

/// A session as ADK says it.
fn session(place: &Place, id: &str, snapshot: &SessionSnapshot, events: Vec<Value>) -> Value {
    json!({
        "id": id,
        "appName": place.workflow.name(),
        "userId": place.user,
        "state": snapshot.state.iter().map(|(key, value)| (key.to_string(), Value::clone(value))).collect::<Map<_, _>>(),
        "events": events,
        "lastUpdateTime": snapshot.updated as f64 / 1e6,
    })
}

/// A session with its events, and what it waits for.
async fn full(place: &Place, id: &str, handle: &SessionHandle) -> Result<Value, Refusal> {
    let there = handle.get(&EventFilter::new()).await?.ok_or_else(|| no_session(id))?;
    let mut events: Vec<_> = there.events.iter().map(|event| view::of_event(event)).collect();
    events.extend(view::questions(&handle.waiting().await?, |_| true, &there.events));
    Ok(session(place, id, &there, events))
}

async fn list(place: Place) -> Answer {
    let all = place.runner.sessions(Some(&place.user)).await?;
    let own =
        all.iter().filter_map(|there| Some(session(&place, place.id(&there.key.id)?, there, Vec::new())));
    Ok(ok(&own.collect()))
}

async fn one(place: Place, Path((.., id)): Named) -> Answer {
    Ok(ok(&full(&place, &id, &place.session(&id)).await?))
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct New {
    #[serde(alias = "session_id")]
    session_id: Option<String>,
    state: Option<StateDelta>,
    events: Option<Vec<Map<String, Value>>>,
    options: Option<Map<String, Value>>,
}

async fn create(place: Place, body: Body) -> Answer {
    begin(&place, read(body)?.unwrap_or_default()).await
}

async fn create_named(place: Place, Path((.., id)): Named, body: Body) -> Answer {
    begin(&place, New { session_id: Some(id), state: read(body)?, ..New::default() }).await
}

async fn begin(place: &Place, new: New) -> Answer {
    if new.options.is_some_and(|options| !options.is_empty()) {
        return Err(Refusal::bad("options_invalid", "sessions have no options")
            .help("leave `options` out")
            .into());
    }
    let state = new.state.unwrap_or_default();
    place.may_set(&state)?;
    let events: Vec<_> = new.events.into_iter().flatten().map(said_before).collect::<Result<_, _>>()?;
    // As in ADK: only a run says what it did.
    if let Some(nth) = events.iter().position(|event| !event.actions.is_empty() || view::asks(event)) {
        let message =
            format!("the event {nth} says what only a run does: actions, or calls that wait for an answer");
        return Err(Refusal::bad("event_invalid", message)
            .help("restore what was said, and the state in `state`")
            .into());
    }
    let id = new
        .session_id
        .filter(|id| !id.trim().is_empty())
        .unwrap_or_else(|| RunId::new().to_string().trim_start_matches("e-").to_owned());
    let handle = place.session(&id);
    handle.create(state).await.map_err(|error| match error.kind() {
        ErrorKind::Store(StoreErrorKind::Exists) => {
            let message = "there is a session of that id already";
            Refusal::new(StatusCode::CONFLICT, "exists", message).help("go on in it, or choose another id")
        }
        _ => error.into(),
    })?;
    if !events.is_empty() {
        handle.append(events).await?;
    }
    Ok(ok(&full(place, &id, &handle).await?))
}

/// An event of another program, where ids may be anything, and are made here when there are none.
fn said_before(mut event: Map<String, Value>) -> Result<Event, Refusal> {
    let text = |name: &str| event.get(name).and_then(Value::as_str).unwrap_or_default();
    let (id, run) = (EventId::of_text(text("id")), RunId::of_text(text("invocationId")));
    event.insert("id".to_owned(), json!(id));
    event.insert("invocationId".to_owned(), json!(run));
    event.entry("timestamp").or_insert(json!(0));
    serde_json::from_value(event.into()).map_err(|error| unfit(format!("an event does not fit: {error}")))
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Update {
    #[serde(alias = "state_delta")]
    state_delta: StateDelta,
}

/// Changes the state by an event of its own.
async fn update(place: Place, Path((.., id)): Named, body: Body) -> Answer {
    let Update { state_delta } = read(body)?.ok_or_else(|| unfit("there is no `stateDelta`"))?;
    place.may_set(&state_delta)?;
    let handle = place.there(&id).await?;
    let mut event = Event { invocation_id: RunId::new(), author: Name::literal("user"), ..Event::new() };
    event.actions.state_delta = state_delta;
    handle.append(vec![event]).await?;
    Ok(ok(&full(&place, &id, &handle).await?))
}

/// What still runs or waits in it is cancelled: nobody could answer it.
async fn delete(place: Place, Path((.., id)): Named) -> Answer {
    let handle = place.session(&id);
    place.runner.cancel_where(&RunFilter::unfinished().session(handle.key())).await?;
    handle.delete().await?;
    Ok(ok(&Value::Null))
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Remember {
    #[serde(alias = "session_id")]
    session_id: String,
}

async fn remember(place: Place, body: Body) -> Answer {
    let Remember { session_id: id } = read(body)?.ok_or_else(|| unfit("there is no `sessionId`"))?;
    let handle = place.there(&id).await?;
    handle.add_to_memory().await.map_err(|error: Error| match error.kind() {
        ErrorKind::NoMemoryService => Refusal::bad("no_memory_service", error.message())
            .help("give the runner one: `.store(...)` or `.memory_service(...)`"),
        _ => error.into(),
    })?;
    Ok(ok(&Value::Null))
}
