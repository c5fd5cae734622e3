//! [`find_run`] and [`output`]: runs of the store as one caller may see them.

use super::access::Caller;
use super::follow::stored_events;
use crate::refuse::Refusal;
use adk_core::engine::{RunFilter, RunInfo, RunStatus};
use adk_core::{Event, RunId, Runner};
use serde_json::{Map, Value};
use std::sync::Arc;

/// Parses the id of a run.
///
/// # Errors
/// `404 Not Found` if the text is not an id.
pub fn run_id(text: &str) -> Result<RunId, Refusal> {
    text.parse().map_err(|_| Refusal::missing("run", text))
}

/// Returns a run that the caller may see.
///
/// # Errors
/// `404 Not Found` if the run does not exist or belongs to another user; the error of the store.
pub async fn find_run(runner: &Runner, caller: &Caller, run: RunId) -> Result<RunInfo, Refusal> {
    let runs = runner.runs(&RunFilter::of_run(run)).await?;
    let seen = runs.into_iter().find(|run| caller.sees(&run.session.user));
    seen.ok_or_else(|| Refusal::missing("run", &run.to_string()))
}

/// Returns the run with another status.
pub(crate) fn with_status(mut run: RunInfo, status: RunStatus) -> RunInfo {
    run.status = status;
    run
}

/// Reads the output of a finished run: the last values of its output keys. The output is an object
/// if the workflow has several output keys, and `null` if the runner does not have the workflow.
///
/// # Errors
/// If the store cannot be read.
pub async fn output(runner: &Runner, run: &RunInfo) -> Result<Value, Refusal> {
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
