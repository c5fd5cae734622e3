//! Runs and waits as JSON, and responses with a run.

use crate::app::{App, RunEnding, output, with_status};
use crate::refuse::{Refusal, json_response};
use adk_core::engine::{RunFilter, RunInfo, RunStatus, Waiting};
use adk_core::{Event, RunId, Runner};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde_json::{Map, Value, json};
use std::sync::Arc;

/// The JSON of a run, with the HTTP status of the response.
pub(super) type RunReply = (StatusCode, Map<String, Value>);

/// Returns a run with its end: from this process if it knows the end, otherwise from the store.
pub(super) async fn run_with_end(
    runner: &Runner,
    run: RunInfo,
    end: Option<&RunEnding>,
) -> Result<RunReply, Refusal> {
    match end {
        Some(RunEnding::Finished { output, usage }) => {
            let mut json = run_json(&run);
            let known = [
                ("status", "finished".into()),
                ("output", output.clone()),
                ("usage", json!(usage)),
            ];
            json.extend(known.map(|(key, value)| (key.to_owned(), value)));
            Ok((StatusCode::OK, json))
        }
        Some(RunEnding::Failed(error)) if !error.is_of_store() => {
            let refusal = Refusal::from(error);
            let mut json = run_json(&run);
            json.insert("error".to_owned(), refusal.to_json());
            Ok((refusal.status(), json))
        }
        // A store error does not mean that the run has failed.
        Some(RunEnding::Failed(_) | RunEnding::Paused) | None => {
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
pub(super) async fn run_with_details(
    runner: &Runner,
    run: &RunInfo,
) -> Result<Map<String, Value>, Refusal> {
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

pub(super) fn run_response(run: RunId, (status, json): RunReply) -> Response {
    let location = [(header::LOCATION, format!("/v1/runs/{run}"))];
    (location, json_response(status, &Value::Object(json))).into_response()
}

/// Returns a run as running, without reading the store.
pub(super) fn running_response(run: &RunInfo) -> Response {
    let run = with_status(run.clone(), RunStatus::Running);
    run_response(run.run_id, (StatusCode::ACCEPTED, run_json(&run)))
}

pub(super) fn run_json(run: &RunInfo) -> Map<String, Value> {
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
pub(super) fn with_steps(
    app: &App,
    run: &RunInfo,
    mut json: Map<String, Value>,
) -> Map<String, Value> {
    let open = app.open_steps(run.run_id);
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

pub(super) fn wait_json(wait: &Waiting) -> Value {
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
