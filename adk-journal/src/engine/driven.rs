//! [`RunTask`], [`DrivenRun`] and [`RunReport`]: a run that another process drives, as it is handed
//! over, stored and reported.

use super::record;
use super::registry::{RunRecord, RunStatus};
use super::slot::Stored;
use crate::LoopEnd;
use crate::Topology;
use crate::encode::to_json;
use crate::event::StateDelta;
use crate::model::UsageByAgent;
use crate::session::SessionKey;
use crate::{Content, Error, Result, RunId};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A run for another process to drive: the argument of a [`RunDriver`](super::RunDriver). The other
/// process runs it with `Runner::begin`, and may be any process that knows
/// the workflow.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct RunTask {
    /// The run.
    pub run_id: RunId,
    /// The session, which is created if it does not exist.
    pub session: SessionKey,
    /// Whether the run waits for the turn of its session. It does not if no other run knows the
    /// session, or if runs take no turns.
    pub takes_turn: bool,
    /// The name of the workflow.
    pub workflow: String,
    /// The shape that the workflow has in the process that hands the run over.
    pub topology: Topology,
    /// The message of the user.
    pub message: Content,
    /// Inputs, `let` values and state that come with the message.
    pub delta: StateDelta,
    /// The settings of the run, as JSON.
    pub config: Value,
    /// The trace that the run continues, in the form of a `TraceCarrier`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace: Option<String>,
}

impl RunTask {
    /// Creates the task of a run. All other fields are empty.
    pub fn new(run_id: RunId, session: SessionKey, workflow: String, topology: Topology) -> Self {
        Self {
            run_id,
            session,
            takes_turn: false,
            workflow,
            topology,
            message: Content::default(),
            delta: StateDelta::default(),
            config: Value::Null,
            trace: None,
        }
    }
}

/// The stored data of a run that an engine above the store drives, with its events from a place of
/// the log on.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct DrivenRun {
    /// The record with which the run was begun.
    pub record: RunRecord,
    /// The status.
    pub status: RunStatus,
    /// The usage when the run last paused or ended.
    pub usage: Option<UsageByAgent>,
    /// The events of this run with their [slots](super::Slot) as text, in the order of the log.
    pub events: Vec<(String, Stored)>,
}

impl DrivenRun {
    /// Creates the stored data of a run.
    pub fn new(
        record: RunRecord,
        status: RunStatus,
        usage: Option<UsageByAgent>,
        events: Vec<(String, Stored)>,
    ) -> Self {
        Self {
            record,
            status,
            usage,
            events,
        }
    }
}

/// The end of a run that another process has driven. Its events and its state are in the store.
#[derive(Debug)]
#[non_exhaustive]
pub struct RunReport {
    /// The end: `Ok` if the run has ended well.
    pub end: Result<()>,
    /// The loops that ended in the run.
    pub loops: Vec<LoopEnd>,
    /// The usage of its model calls.
    pub usage: UsageByAgent,
}

/// The JSON form of a [`RunReport`].
#[derive(Serialize, Deserialize)]
struct RunReportJson {
    end: Value,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    loops: Vec<LoopEnd>,
    #[serde(default)]
    usage: UsageByAgent,
}

impl RunReport {
    /// Creates the report of a run with this end.
    pub fn new(end: Result<()>, loops: Vec<LoopEnd>, usage: UsageByAgent) -> Self {
        Self { end, loops, usage }
    }

    /// Returns the report as JSON.
    ///
    /// # Errors
    /// Never for the report of a run.
    pub fn to_value(&self) -> Result<Value> {
        let end = match &self.end {
            Ok(()) => Value::Null,
            Err(error) => record::from_error(error),
        };
        let sent = RunReportJson {
            end,
            loops: self.loops.clone(),
            usage: self.usage.clone(),
        };
        to_json(&sent).map_err(Error::other)
    }

    /// Reads the report from JSON.
    ///
    /// # Errors
    /// When the value was not written by [`to_value`](Self::to_value).
    pub fn from_value(value: Value) -> Result<Self> {
        let RunReportJson { end, loops, usage } =
            record::read(value, record::RecordSubject::Branch)?;
        Ok(Self {
            end: record::read(end, record::RecordSubject::Branch),
            loops,
            usage,
        })
    }
}

/// Returns an error as JSON, for an engine that keeps the results of steps itself: kind, message,
/// help and path.
pub fn error_to_value(error: &Error) -> Value {
    record::from_error(error)
}

/// Reads an error from the JSON of [`error_to_value`]; `None` when the value is not an error.
pub fn error_from_value(value: &Value) -> Option<Error> {
    record::read::<Value>(value.clone(), record::RecordSubject::Branch)
        .err()
        .filter(|_| {
            value
                .as_object()
                .is_some_and(|map| map.contains_key(record::ERROR))
        })
}
