//! Lists and answers waits.

use super::json::{RunDetails, run_response, running_response};
use crate::app::{
    Answer, Body, Caller, RunQueryParam, Shared, Who, find_run, parse_body, parse_run_query,
    run_id, with_status,
};
use crate::refuse::{Refusal, json_response};
use adk_core::engine::{RunFilter, RunInfo, RunStatus};
use adk_core::runner::WaitJson;
use adk_core::{RunId, Runner};
use axum::extract::{Extension, Path, State};
use axum::http::StatusCode;
use serde_json::json;

pub(super) async fn waiting(
    State(app): Shared,
    Extension(caller): Who,
    query: RunQueryParam,
) -> Answer {
    let (query, runner) = (parse_run_query(query)?, app.runner(&caller));
    let names_user = query.user.is_some();
    let mut filter = query.filter(&caller)?;
    if !names_user {
        filter = filter.answerer(&caller.answerer());
    }
    let waiting = runner.waiting_of(&filter).await?;
    let waiting: Vec<_> = waiting
        .iter()
        .filter(|wait| caller.sees_wait(wait))
        .map(WaitJson::from)
        .collect();
    Ok(json_response(StatusCode::OK, &json!({"waiting": waiting})))
}

pub(super) async fn answer(
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
    let _reservation = app.reserve(run.run_id);
    app.answer(&runner, run.run_id, &wait, value, &caller)
        .await?;
    // The answer is stored. If resuming fails here, a watch resumes the run.
    let _ = app.resume(&runner, run.run_id).await;
    if !caller.sees(&run.session.user) {
        return Ok(json_response(
            StatusCode::ACCEPTED,
            &json!({"run": run.run_id, "status": RunStatus::Running}),
        ));
    }
    let now = find_run(&runner, &caller, run.run_id).await;
    let run = now.unwrap_or_else(|_| with_status(run, RunStatus::Running));
    match RunDetails::read(&runner, &run).await {
        Ok(details) => {
            let reply = (StatusCode::ACCEPTED, details.to_json());
            Ok(run_response(run.run_id, reply))
        }
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
