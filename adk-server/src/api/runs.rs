//! Lists, shows and cancels runs.

use super::json::{RunDetails, run_response};
use crate::app::{
    Answer, RunQueryParam, Shared, Who, find_run, parse_run_query, run_id, with_status,
};
use crate::refuse::{Refusal, json_response};
use adk_core::engine::RunState;
use axum::extract::{Extension, Path, State};
use axum::http::StatusCode;
use serde_json::json;

/// The maximum number of runs in one response.
const PAGE: usize = 100;

pub(super) async fn runs(
    State(app): Shared,
    Extension(caller): Who,
    query: RunQueryParam,
) -> Answer {
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
    let limit = query
        .limit
        .map_or(PAGE, |most| PAGE.min(most.get() as usize));
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
        .map(|run| RunDetails::from(run).with_steps(&app))
        .collect();
    Ok(json_response(
        StatusCode::OK,
        &json!({"runs": runs, "next": next}),
    ))
}

pub(super) async fn run(
    State(app): Shared,
    Extension(caller): Who,
    Path(id): Path<String>,
) -> Answer {
    let runner = app.runner(&caller);
    let run = find_run(&runner, &caller, run_id(&id)?).await?;
    let details = RunDetails::read(&runner, &run).await?.with_steps(&app);
    Ok(run_response(
        run.run_id,
        (StatusCode::OK, details.to_json()),
    ))
}

pub(super) async fn cancel(
    State(app): Shared,
    Extension(caller): Who,
    Path(id): Path<String>,
) -> Answer {
    let runner = app.runner(&caller);
    let run = find_run(&runner, &caller, run_id(&id)?).await?;
    let status = app.cancel(&runner, &run).await?;
    let now = find_run(&runner, &caller, run.run_id).await;
    let run = now.unwrap_or_else(|_| with_status(run, status));
    let details = RunDetails::read(&runner, &run).await;
    let details = details.unwrap_or_else(|_| RunDetails::from(&run));
    Ok(run_response(
        run.run_id,
        (StatusCode::OK, details.to_json()),
    ))
}
