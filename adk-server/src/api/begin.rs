//! Starts runs.

use super::events::RunEvents;
use super::json::{run_response, run_with_end, running_response};
use super::message;
use crate::app::{
    Answer, Body, Caller, Key, RunEnding, RunQueryParam, RunStart, Shared, StartOutcome, Who,
    header_text, may_begin, parse_body, parse_run_query, scope, wants_stream,
};
use crate::refuse::Refusal;
use adk_core::Runner;
use adk_core::engine::{RunFilter, RunInfo};
use adk_core::runner::SessionHandle;
use axum::extract::{Extension, Path, State};
use axum::http::HeaderMap;
use axum::response::Response;

pub(super) async fn begin(
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
    // Read all headers before the run starts, because a refusal would hide the id of the run.
    let is_awaited =
        !header_text(&headers, "prefer")?.is_some_and(|prefer| prefer.contains("respond-async"));
    // Acquire the stream before the run starts: a refusal afterwards would hide the id of the run.
    let stream = wants_stream(&headers)
        .then(|| app.acquire_stream(&caller))
        .transpose()?;
    let key = header_text(&headers, "idempotency-key")?
        .map(|key| key_of(&caller, key))
        .transpose()?;
    let has_key = key.is_some();
    // Start and end events of steps show followers which steps are open.
    let config = runner.config().clone().lifecycle_events(true);
    let start = RunStart::new(&runner, &user, &name, &body)
        .session(query.session())
        .key(key);
    let request = |session: &SessionHandle| {
        let request = session
            .run_by_name(&name, input.clone())?
            .config(config.clone());
        Ok(match &message {
            Some(message) => request.message(message.clone()),
            None => request,
        })
    };
    let (run, listener) = match app.begin(&start, request).await? {
        StartOutcome::Started(run, listener) => (run, Some(listener)),
        StartOutcome::Existing(run) => {
            let listener = app.listen(run.run_id);
            (run, listener)
        }
        StartOutcome::Unknown(run) if has_key => return Err(may_begin(run.run_id)),
        StartOutcome::Unknown(run) => return Ok(running_response(&run)),
    };
    if let Some(stream) = stream {
        let until = query.until.unwrap_or_default();
        let events = RunEvents::new(&app, runner, run, until);
        return Ok(events.response(None, listener, stream));
    }
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
async fn started_response(runner: &Runner, run: RunInfo, end: Option<&RunEnding>) -> Response {
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
