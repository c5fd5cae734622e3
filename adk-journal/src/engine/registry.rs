//! The registry of runs: their records, states and waits.

use super::claim::Claim;
use super::run_error::RunError;
use crate::event::{Event, StateDelta};
use crate::model::{Usage, UsageByAgent};
use crate::session::SessionKey;
use crate::{AnsweredBy, Topology};
use crate::{Content, Flow, Path, RunId};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::HashMap;
use std::sync::Arc;

/// The inputs with which a run was begun. Stored with its first event.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct RunRecord {
    /// The run.
    pub run_id: RunId,
    /// The session.
    pub session: SessionKey,
    /// The app whose tenant the app of the session is, if the runner of the run was made from a
    /// runner of that app by `for_app`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tenant_of: Option<String>,
    /// The name of the workflow. A resume finds the workflow by it.
    pub workflow: String,
    /// The shape of the workflow. A run is resumed only with a fitting shape.
    pub topology: Topology,
    /// The message of the user.
    pub message: Content,
    /// Inputs, `let` values and state that came with the message.
    pub delta: StateDelta,
    /// The state of the session before the run, with the keys of the user and the app under their
    /// prefixes. A resumed run starts from it.
    pub state: StateDelta,
    /// The number of events in the log of the session before the run.
    pub begins: u64,
    /// The settings of the run, as JSON.
    pub config: Value,
    /// The time when it began, in microseconds since 1970.
    pub time: u64,
    /// The trace that a resumed run continues, in the form of a
    /// `TraceCarrier`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace: Option<String>,
    /// Whether the run still waits for the turn of its session. Such a run has not begun, and
    /// `state` and `begins` are unknown.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_queued: bool,
}

impl RunRecord {
    /// Creates the record of a run. All other fields are empty.
    pub fn new(
        run_id: RunId,
        session: SessionKey,
        workflow: impl Into<String>,
        topology: Topology,
    ) -> Self {
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
            time: crate::session::now_micros(),
            trace: None,
            is_queued: false,
        }
    }

    /// Returns the status of the run when it is entered in the registry, or claimed again.
    pub fn first_status(&self) -> RunStatus {
        if self.is_queued {
            RunStatus::Queued
        } else {
            RunStatus::Running
        }
    }
}

/// The status of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum RunStatus {
    /// The run waits for the turn of its session, or waited when its process ended. It has not
    /// begun.
    Queued,
    /// The run executes, or did when its process ended.
    Running,
    /// The run waits for values from outside.
    Paused,
    /// The run has ended well.
    Finished,
    /// The run has ended with this error. It can be resumed, which retries transient failures.
    Failed(RunError),
    /// The run was cancelled, and cannot be resumed.
    Cancelled,
}

impl RunStatus {
    /// Returns true if the run has not ended: it is queued, runs or waits for values from outside.
    pub fn is_open(&self) -> bool {
        matches!(self, Self::Queued | Self::Running | Self::Paused)
    }

    /// Returns true if the run executes, or will execute without a value from outside.
    pub fn is_active(&self) -> bool {
        matches!(self, Self::Queued | Self::Running)
    }
}

/// A run in the registry.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RunInfo {
    /// The run.
    pub run_id: RunId,
    /// The session.
    pub session: SessionKey,
    /// The name of the workflow.
    pub workflow: String,
    /// The status, with the error of a failed run.
    pub status: RunStatus,
    /// Whether the run can continue and no process drives it: its process has ended, or one of its
    /// waits got an answer since the run was last claimed.
    pub is_ready: bool,
    /// The time when it began or was queued, in microseconds since 1970.
    pub created: u64,
    /// The time when its status was last written, in microseconds since 1970: when it was queued,
    /// began, was resumed, paused, ended or was cancelled.
    pub updated: u64,
    /// The usage when it last paused or ended, over all resumes. `None` before that, and for a run
    /// that was cancelled in another process and whose usage is unknown.
    pub usage: Option<Usage>,
}

impl RunInfo {
    /// Creates a run in the registry.
    pub fn new(
        run_id: RunId,
        session: SessionKey,
        workflow: impl Into<String>,
        status: RunStatus,
        is_ready: bool,
    ) -> Self {
        let (created, updated, usage) = Default::default();
        Self {
            run_id,
            session,
            workflow: workflow.into(),
            status,
            is_ready,
            created,
            updated,
            usage,
        }
    }

    /// Sets the times when it began and when its status was last written.
    #[must_use]
    pub fn at(mut self, created: u64, updated: u64) -> Self {
        (self.created, self.updated) = (created, updated);
        self
    }

    /// Sets its usage, if that is known.
    #[must_use]
    pub fn used(mut self, usage: Option<Usage>) -> Self {
        self.usage = usage;
        self
    }

    /// Returns the time when it ended, in microseconds since 1970; `None` for a run that executes
    /// or waits.
    pub fn ended(&self) -> Option<u64> {
        (!self.status.is_open()).then_some(self.updated)
    }
}

/// A claimed run with its stored journal.
#[derive(Debug)]
#[non_exhaustive]
pub struct ClaimedRun {
    /// The right to drive it.
    pub claim: Claim,
    /// The inputs with which it was begun.
    pub record: RunRecord,
    /// The events of the session from [`RunRecord::begins`] to the last event of this run, in the
    /// order of the log, including events of other runs. The runtime reads later events where it
    /// needs them.
    pub events: Vec<Arc<Event>>,
    /// The `temp:` keys that events have set, by [`Slot`](super::Slot) as text
    /// (`writing/critic!0`).
    pub temp: HashMap<String, StateDelta>,
    /// The records of steps, by [`StepKey`](super::StepKey) as text.
    pub steps: HashMap<String, Value>,
    /// Agents that have finished.
    pub done: Vec<Done>,
    /// The ids of the run's waits, with or without an answer.
    pub waits: Vec<String>,
    /// Whether the engine executes the run again from its beginning. The runtime then passes every
    /// call to the engine again, also for stored events, and the engine answers from its own
    /// record.
    pub starts_over: bool,
}

/// An agent that has finished. It is not executed again: its events are in the log.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Done {
    /// The path of the agent, with rounds.
    pub path: Path,
    /// The way it ended.
    pub flow: Flow,
    /// The usage of its model calls. The usage without a name is its own.
    #[serde(default)]
    pub usage: UsageByAgent,
}

impl Done {
    /// Creates the mark of a finished agent.
    pub fn new(path: Path, flow: Flow, usage: UsageByAgent) -> Self {
        Self { path, flow, usage }
    }
}

/// A wait, as an agent opens it.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Wait {
    /// The key of the wait's record; [`StepKey::id`](super::StepKey::id) makes the id of the wait
    /// from it.
    pub key: super::StepKey,
    /// The session of the run.
    pub session: SessionKey,
    /// The part of the wait that users see.
    pub waiting: Waiting,
}

impl Wait {
    /// Creates a wait of a place in a run.
    pub fn new(key: super::StepKey, session: SessionKey, waiting: Waiting) -> Self {
        Self {
            key,
            session,
            waiting,
        }
    }
}

/// A value that a paused run waits for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Waiting {
    /// The id to answer with, unique over all runs.
    pub id: String,
    /// The run.
    pub run_id: RunId,
    /// The app of the run.
    #[serde(default)]
    pub app: String,
    /// The user who owns the run.
    #[serde(default)]
    pub user: String,
    /// The users who may answer; `None` for the user who owns the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<AnsweredBy>,
    /// The session of the run.
    #[serde(default)]
    pub session: String,
    /// The path of the waiting agent.
    pub path: Path,
    /// The question; empty if the agent gives none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub question: String,
    /// The JSON schema that an answer must fit; null accepts any value.
    #[serde(default)]
    pub schema: Value,
    /// The time after which no answer is accepted, in microseconds since 1970; `None` for never.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deadline: Option<u64>,
    /// The call of a long-running tool that the answer belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call_id: Option<String>,
    /// The default answer when the deadline has passed, in the form in which answers are recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub otherwise: Option<Value>,
}

impl Waiting {
    /// Creates a wait without a limit that the user who owns the run answers.
    pub fn new(id: String, run_id: RunId, path: Path, question: String, schema: Value) -> Self {
        Self {
            id,
            run_id,
            app: String::new(),
            user: String::new(),
            by: None,
            session: String::new(),
            path,
            question,
            schema,
            deadline: None,
            call_id: None,
            otherwise: None,
        }
    }

    /// Sets app, user and session, for a store that keeps them in columns.
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
    /// The earliest deadline of the other open waits, in microseconds since 1970.
    pub next: Option<u64>,
}

impl DueWaits {
    /// Creates a list of due waits with the next deadline.
    pub fn new(waits: Vec<Waiting>, next: Option<u64>) -> Self {
        Self { waits, next }
    }

    /// Adds a wait, in the order of deadlines. Returns `false` when the search ends: the deadline
    /// is not over, or `most` waits are due. An unreadable wait is `None` and left out, because the
    /// next claim of its run reports it.
    pub fn add(&mut self, deadline: u64, wait: Option<Waiting>, now: u64, most: usize) -> bool {
        if deadline > now || self.waits.len() == most {
            self.next = Some(deadline);
            return false;
        }
        self.waits.extend(wait);
        true
    }

    /// Merges two lists; the waits with the earliest deadline come first.
    pub fn merge(mut self, others: Self) -> Self {
        self.waits.extend(others.waits);
        self.waits.sort_by_key(|waiting| waiting.deadline);
        self.next = self.next.into_iter().chain(others.next).min();
        self
    }
}
