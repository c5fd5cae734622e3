//! Runs as JSON, and responses with a run.

use crate::app::{App, RunEnding, output, with_status};
use crate::refuse::{Refusal, json_response};
use adk_core::engine::{RunFilter, RunInfo, RunStatus};
use adk_core::runner::{RunJson, WaitJson};
use adk_core::{RunId, Runner};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use serde_json::{Value, json};

/// The JSON of a run, with the HTTP status of the response.
pub(super) type RunReply = (StatusCode, Value);

/// A run with the facts that this process knows or reads for it.
#[derive(Serialize)]
pub(super) struct RunDetails<'a> {
    #[serde(flatten)]
    pub(super) run: RunJson<'a>,
    /// The output of a finished run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) output: Option<Value>,
    /// The open waits of a paused run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) waiting: Option<Vec<Value>>,
    /// The open agents and blocks of a run that this process drives.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) steps: Vec<OpenStep>,
}

/// An agent or a block that has not ended.
#[derive(Serialize)]
pub(super) struct OpenStep {
    pub(super) path: String,
    /// The time when it began, in seconds since 1970.
    pub(super) since: f64,
}

impl<'a> From<&'a RunInfo> for RunDetails<'a> {
    fn from(run: &'a RunInfo) -> Self {
        Self {
            run: run.into(),
            output: None,
            waiting: None,
            steps: Vec::new(),
        }
    }
}

impl<'a> RunDetails<'a> {
    /// Reads the output of a finished run, or the open waits of a paused one.
    pub(super) async fn read(runner: &Runner, run: &'a RunInfo) -> Result<Self, Refusal> {
        let mut details = Self::from(run);
        match run.status {
            RunStatus::Finished => details.output = Some(output(runner, run).await?),
            RunStatus::Paused => {
                let open = runner.waiting_of(&RunFilter::of_run(run.run_id)).await?;
                let open = open.iter().map(|wait| json!(WaitJson::from(wait)));
                details.waiting = Some(open.collect());
            }
            _ => {}
        }
        Ok(details)
    }

    /// Adds the open steps of a run that this process drives.
    pub(super) fn with_steps(mut self, app: &App) -> Self {
        let open = app.open_steps(self.run.run);
        let step = |event: &adk_core::Event| OpenStep {
            path: event.path.to_string(),
            since: event.timestamp as f64 / 1e6,
        };
        self.steps = open.iter().map(|event| step(event)).collect();
        self
    }

    pub(super) fn to_json(&self) -> Value {
        serde_json::to_value(self).unwrap_or_default()
    }
}

/// Returns a run with its end: from this process if it knows the end, otherwise from the store.
pub(super) async fn run_with_end(
    runner: &Runner,
    run: RunInfo,
    end: Option<&RunEnding>,
) -> Result<RunReply, Refusal> {
    match end {
        Some(RunEnding::Finished { output, usage }) => {
            let run = with_status(run, RunStatus::Finished).used(Some(*usage));
            let output = Some(output.clone());
            let details = RunDetails {
                output,
                ..RunDetails::from(&run)
            };
            Ok((StatusCode::OK, details.to_json()))
        }
        Some(RunEnding::Failed(error)) if !error.is_of_store() => {
            let (refusal, mut details) = (Refusal::from(error), RunDetails::from(&run));
            details.run.error = Some(refusal.body().clone());
            Ok((refusal.status(), details.to_json()))
        }
        // A store error does not mean that the run has failed.
        Some(RunEnding::Failed(_) | RunEnding::Paused) | None => {
            let status = match &run.status {
                RunStatus::Finished => StatusCode::OK,
                RunStatus::Failed(error) => Refusal::from(error.clone()).status(),
                RunStatus::Cancelled => StatusCode::CONFLICT,
                _ => StatusCode::ACCEPTED,
            };
            Ok((status, RunDetails::read(runner, &run).await?.to_json()))
        }
    }
}

pub(super) fn run_response(run: RunId, (status, json): RunReply) -> Response {
    let location = [(header::LOCATION, format!("/v1/runs/{run}"))];
    (location, json_response(status, &json)).into_response()
}

/// Returns a run as running, without reading the store.
pub(super) fn running_response(run: &RunInfo) -> Response {
    let run = with_status(run.clone(), RunStatus::Running);
    let json = RunDetails::from(&run).to_json();
    run_response(run.run_id, (StatusCode::ACCEPTED, json))
}
