//! The events of a run as a list or as a stream.

use super::json::run_with_end;
use crate::app::{
    Answer, App, Listener, RunEnding, RunItem, RunQueryParam, Shared, StreamPermit, Who, find_run,
    header_text, parse_run_query, run_id, sse_response, stored_events, stored_page, wants_stream,
};
use crate::refuse::{Refusal, json_response};
use adk_core::engine::{RunFilter, RunInfo};
use adk_core::{Event, EventId, RunId, Runner};
use axum::extract::{Extension, Path, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response, sse};
use futures_util::StreamExt;
use serde::Serialize;
use serde_json::{Value, json};
use std::sync::Arc;

pub(super) async fn events(
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
        let (stream, listener) = (app.acquire_stream(&caller)?, app.listen(run.run_id));
        return Ok(stream_response(&app, runner, run, after, listener, stream));
    }
    let events = match query.limit {
        Some(most) => stored_page(&runner, &run, after, most.max(1)).await?,
        None => stored_events(&runner, &run, after).await?,
    };
    Ok(json_response(
        StatusCode::OK,
        &json!({"events": events, "next": events.last().map(|event| event.id)}),
    ))
}

/// Streams the events of a run, then the event `end` with the response of [`run`]. If the store
/// fails, the stream ends without `end`: the run continues, and the client requests the remaining
/// events by its cursor.
pub(super) fn stream_response(
    app: &Arc<App>,
    runner: Runner,
    run: RunInfo,
    after: Option<EventId>,
    listener: Option<Listener>,
    stream: StreamPermit,
) -> Response {
    let id = run.run_id;
    let events = app.follow(runner.clone(), run, after, listener);
    let events = events.filter_map(move |item| {
        let runner = runner.clone();
        async move {
            let end = match item {
                Ok(RunItem::Event(event)) => return Some(sse_event(&event)),
                Ok(RunItem::End(end)) => end_json(&runner, id, end.as_deref()).await,
                Err(refusal) => Err(refusal),
            };
            match end {
                Ok(end) => Some(named_event("end", &end)),
                Err(refusal) if refusal.is_of_store() => None,
                Err(refusal) => Some(named_event("error", refusal.body())),
            }
        }
    });
    (
        [(header::LOCATION, format!("/v1/runs/{id}"))],
        sse_response(events, stream),
    )
        .into_response()
}

async fn end_json(runner: &Runner, id: RunId, end: Option<&RunEnding>) -> Result<Value, Refusal> {
    if let Some(RunEnding::Failed(error)) = end
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
    Ok(json)
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

fn named_event(name: &str, data: &impl Serialize) -> sse::Event {
    let data = serde_json::to_string(data).unwrap_or_default();
    sse::Event::default().event(name).data(data)
}
