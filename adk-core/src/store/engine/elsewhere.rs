//! Runs that an engine above the store drives: what is handed over, what is stored, what comes back.

use super::record;
use super::registry::{RunRecord, RunStatus};
use super::slot::Stored;
use crate::encode::to_json;
use crate::flow::LoopEnd;
use crate::models::model::Usage;
use crate::spec::Topology;
use crate::store::event::StateDelta;
use crate::store::session::SessionKey;
use crate::{Content, Error, Result, RunId};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A run to be driven by another process: what a [`RunDriver`](super::RunDriver) is given. The process that drives it runs it
/// with [`Runner::begin`](crate::Runner::begin), and may be any that knows the workflow.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct RunTask {
    /// The run.
    pub run_id: RunId,
    /// Its session, which is made when there is none.
    pub session: SessionKey,
    /// Whether it waits for the turn of its session: not where no other run knows the session, or where runs take no turns.
    pub takes_turn: bool,
    /// The name of its workflow.
    pub workflow: String,
    /// The shape that the workflow has for the process that hands it over.
    pub topology: Topology,
    /// What the user says.
    pub message: Content,
    /// Inputs, `let` values and state that come with it.
    pub delta: StateDelta,
    /// The settings of the run, as JSON.
    pub config: Value,
    /// The trace that it continues, in the form of a [`TraceCarrier`](crate::TraceCarrier).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace: Option<String>,
}

/// What the store of a run that an engine above drives knows of it, from a place of the log on.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct DrivenRun {
    /// What it was begun with.
    pub record: RunRecord,
    /// How far it is.
    pub status: RunStatus,
    /// What it had used when it last paused or ended.
    pub usage: Option<Usage>,
    /// The events of this run with their [slots](super::Slot) as text, in the order of the log.
    pub events: Vec<(String, Stored)>,
}

impl DrivenRun {
    /// What is stored of a run.
    pub fn new(
        record: RunRecord,
        status: RunStatus,
        usage: Option<Usage>,
        events: Vec<(String, Stored)>,
    ) -> Self {
        Self { record, status, usage, events }
    }
}

/// How a run has ended that another process has driven, all but its events and its state: those are in the store.
#[derive(Debug)]
#[non_exhaustive]
pub struct RunReport {
    /// Whether it has ended well.
    pub end: Result<()>,
    /// Its loops that ended.
    pub loops: Vec<LoopEnd>,
    /// What it has used.
    pub usage: Usage,
}

/// The report as it is sent.
#[derive(Serialize, Deserialize)]
struct SentReport {
    end: Value,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    loops: Vec<LoopEnd>,
    #[serde(default)]
    usage: Usage,
}

impl RunReport {
    /// The report of a run with this end.
    pub fn new(end: Result<()>, loops: Vec<LoopEnd>, usage: Usage) -> Self {
        Self { end, loops, usage }
    }

    /// The report as JSON.
    ///
    /// # Errors
    /// Never for what a run has given.
    pub fn to_value(&self) -> Result<Value> {
        let end = match &self.end {
            Ok(()) => Value::Null,
            Err(error) => record::failed(error),
        };
        let sent = SentReport { end, loops: self.loops.clone(), usage: self.usage };
        to_json(&sent).map_err(Error::other)
    }

    /// The report from JSON.
    ///
    /// # Errors
    /// When it is not what [`to_value`](Self::to_value) gave.
    pub fn from_value(value: Value) -> Result<Self> {
        let SentReport { end, loops, usage } = record::read(value, record::RecordOf::Branch)?;
        Ok(Self { end: record::read(end, record::RecordOf::Branch), loops, usage })
    }
}

/// An error as JSON, for an engine that keeps the results of steps itself: kind, message, help and path.
pub fn error_to_value(error: &Error) -> Value {
    record::failed(error)
}

/// The reverse of [`error_to_value`]; `None` when it is no error.
pub fn error_from_value(value: &Value) -> Option<Error> {
    record::read::<Value>(value.clone(), record::RecordOf::Branch)
        .err()
        .filter(|_| value.as_object().is_some_and(|map| map.contains_key(record::ERROR)))
}
