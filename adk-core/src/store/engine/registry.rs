//! The registry of runs: their records, states and waits.

use super::claim::Claim;
use crate::models::model::Usage;
use crate::spec::{AnsweredBy, Topology};
use crate::store::event::{Event, StateDelta};
use crate::store::session::SessionKey;
use crate::{Content, Flow, Path, RunId};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::HashMap;
use std::sync::Arc;

/// What a run was begun with: written with its first event.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct RunRecord {
    /// The run.
    pub run_id: RunId,
    /// Its session.
    pub session: SessionKey,
    /// The app whose tenant the app of the session is: the run was begun by a runner that
    /// [`for_app`](crate::Runner::for_app) has made of a runner of that app.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tenant_of: Option<String>,
    /// The name of the workflow: by it the workflow is found again.
    pub workflow: String,
    /// The shape of the workflow. A run is resumed only with one that fits.
    pub topology: Topology,
    /// What the user said.
    pub message: Content,
    /// Inputs, `let` values and state that came with it.
    pub delta: StateDelta,
    /// The state that the session held before, with the keys of the user and the app under their prefixes. A resumed
    /// run starts from it.
    pub state: StateDelta,
    /// How many events the log of the session held before.
    pub begins: u64,
    /// The settings of the run, as JSON.
    pub config: Value,
    /// When it began, in microseconds since 1970.
    pub time: u64,
    /// The trace that a resumed run continues, in the form of a [`TraceCarrier`](crate::TraceCarrier).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace: Option<String>,
    /// Whether the run still waits for the turn of its session. It has not begun then, and `state` and `begins` are unknown.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_queued: bool,
}

impl RunRecord {
    /// A record of a run; what is not given is empty.
    pub fn new(run_id: RunId, session: SessionKey, workflow: impl Into<String>, topology: Topology) -> Self {
        Self {
            run_id,
            session,
            tenant_of: None,
            workflow: workflow.into(),
            topology,
            message: Content::default(),
            delta: StateDelta::default(),
            state: StateDelta::default(),
            begins: 0,
            config: Value::Null,
            time: crate::store::session::now_micros(),
            trace: None,
            is_queued: false,
        }
    }
}

/// How far a run is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum RunStatus {
    /// It waits for the turn of its session, or waited when its process ended. It has not begun.
    Queued,
    /// It runs, or ran when its process ended.
    Running,
    /// It waits for values from outside.
    Paused,
    /// It has ended well.
    Finished,
    /// It has ended with this error. It can be taken up again: what failed for a passing reason is tried again.
    Failed(String),
    /// It was cancelled, and is not taken up again.
    Cancelled,
}

impl RunStatus {
    /// Whether it has not ended: it is queued, runs or waits for values from outside.
    pub fn is_open(&self) -> bool {
        matches!(self, Self::Queued | Self::Running | Self::Paused)
    }

    /// Whether it runs, or will run without a value from outside.
    pub fn is_active(&self) -> bool {
        matches!(self, Self::Queued | Self::Running)
    }
}

/// A run of the registry.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RunInfo {
    /// The run.
    pub run_id: RunId,
    /// Its session.
    pub session: SessionKey,
    /// The name of its workflow.
    pub workflow: String,
    /// How far it is; the error of a run that has failed.
    pub status: RunStatus,
    /// Whether it could go on and nobody drives it: its process has ended, or one of its waits has an answer that was given
    /// since the run was last claimed.
    pub is_ready: bool,
    /// When it began or was queued, in microseconds since 1970.
    pub created: u64,
    /// When its status was written last, in microseconds since 1970: when it was queued, began, was taken up, paused, ended
    /// or was cancelled.
    pub updated: u64,
    /// What it had used when it last paused or ended, over all times that it was taken up. `None` before that, and
    /// where it is not known of a run that was cancelled in another process.
    pub usage: Option<Usage>,
}

impl RunInfo {
    /// A run of the registry.
    pub fn new(
        run_id: RunId,
        session: SessionKey,
        workflow: impl Into<String>,
        status: RunStatus,
        is_ready: bool,
    ) -> Self {
        let (created, updated, usage) = Default::default();
        Self { run_id, session, workflow: workflow.into(), status, is_ready, created, updated, usage }
    }

    /// Says when it began and when its status was written last.
    #[must_use]
    pub fn at(mut self, created: u64, updated: u64) -> Self {
        (self.created, self.updated) = (created, updated);
        self
    }

    /// Says what it has used, if that is known.
    #[must_use]
    pub fn used(mut self, usage: Option<Usage>) -> Self {
        self.usage = usage;
        self
    }

    /// When it ended, in microseconds since 1970; `None` for a run that runs or waits.
    pub fn ended(&self) -> Option<u64> {
        (!self.status.is_open()).then_some(self.updated)
    }
}

/// A run that was claimed, and what is stored of it.
#[derive(Debug)]
#[non_exhaustive]
pub struct ClaimedRun {
    /// The right to drive it.
    pub claim: Claim,
    /// What it was begun with.
    pub record: RunRecord,
    /// The events of the session from [`RunRecord::begins`] to the last one of this run, in the order of the log, those of other
    /// runs too. The runtime reads later ones where it needs them.
    pub events: Vec<Arc<Event>>,
    /// The `temp:` keys that events have set: [`Slot`](super::Slot) as text (`writing/critic!0`) to keys.
    pub temp: HashMap<String, StateDelta>,
    /// What steps gave: [`StepKey`](super::StepKey) as text to the record.
    pub steps: HashMap<String, Value>,
    /// Agents that have finished.
    pub done: Vec<Done>,
    /// The ids of its waits, those with an answer too.
    pub waits: Vec<String>,
    /// The engine is asked for everything again and answers from a record of its own, events that are stored too.
    pub starts_over: bool,
}

/// An agent that has finished. It is not executed again: its events are in the log.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Done {
    /// Where it stood, with rounds.
    pub path: Path,
    /// How it ended.
    pub flow: Flow,
    /// What its model calls used.
    #[serde(default)]
    pub usage: Usage,
}

impl Done {
    /// An agent that has finished.
    pub fn new(path: Path, flow: Flow, usage: Usage) -> Self {
        Self { path, flow, usage }
    }
}

/// A wait as it is asked for.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Wait {
    /// Where in the run; [`StepKey::id`](super::StepKey::id) is the id of the wait.
    pub key: super::StepKey,
    /// The session of the run.
    pub session: SessionKey,
    /// What people see of it.
    pub waiting: Waiting,
}

/// A value that a paused run waits for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Waiting {
    /// What to answer by, unique over all runs.
    pub id: String,
    /// The run.
    pub run_id: RunId,
    /// The app of the run.
    #[serde(default)]
    pub app: String,
    /// The user whose run it is.
    #[serde(default)]
    pub user: String,
    /// Who may answer; `None` for the user whose run it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<AnsweredBy>,
    /// The session of the run.
    #[serde(default)]
    pub session: String,
    /// Who waits.
    pub path: Path,
    /// What is asked; empty when nothing was said.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub question: String,
    /// The JSON schema that an answer has to fit; null where anything does.
    #[serde(default)]
    pub schema: Value,
    /// When it is too late, in microseconds since 1970; `None` for never.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deadline: Option<u64>,
    /// The call of a long-running tool that this is the answer to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call_id: Option<String>,
    /// What it is answered with when the deadline has passed, in the form in which answers are recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub otherwise: Option<Value>,
}

impl Waiting {
    /// Says whose it is, for a store that keeps that in columns.
    #[must_use]
    pub fn of(mut self, key: SessionKey) -> Self {
        (self.app, self.user, self.session) = (key.app, key.user, key.id);
        self
    }
}

/// Waits whose deadline has passed.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct DueWaits {
    /// Open waits that are past their deadline, earliest first.
    pub waits: Vec<Waiting>,
    /// The earliest deadline of the open waits that are not among these, in microseconds since 1970.
    pub next: Option<u64>,
}

impl DueWaits {
    /// Waits whose deadline has passed, and the next deadline.
    pub fn new(waits: Vec<Waiting>, next: Option<u64>) -> Self {
        Self { waits, next }
    }

    /// These and others; of both, those whose deadline is earliest come first.
    pub(crate) fn and(mut self, others: Self) -> Self {
        self.waits.extend(others.waits);
        self.waits.sort_by_key(|waiting| waiting.deadline);
        self.next = self.next.into_iter().chain(others.next).min();
        self
    }
}
