//! [`BranchTask`] and [`BranchReport`]: a branch that runs in another process, and its result.

use super::{Stored, record};
use crate::encode::to_json;
use crate::event::StateDelta;
use crate::model::UsageByAgent;
use crate::session::SessionKey;
use crate::{Error, Flow, Name, Path, Result, RunId};
use crate::{LoopEnd, LoopEndReason};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::sync::Arc;

/// A branch of a parallel block or an element of an `each`, addressed by name: it captures nothing,
/// and may run in any process that knows the workflow.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct BranchTask {
    /// The run.
    pub run_id: RunId,
    /// The number of the claim that drives the run, see [`ClaimId`](super::ClaimId).
    #[serde(default)]
    pub epoch: u64,
    /// The session.
    pub session: SessionKey,
    /// The name of the root workflow.
    pub workflow: Name,
    /// The path of the branch with rounds: the path of its block and the name of its first step,
    /// as in `w/par/left`. For an element it is `w/each_1[3]`.
    pub path: Path,
    /// The branch name in its events.
    pub branch: Arc<str>,
    /// The state at the start of the branch.
    pub state: StateDelta,
    /// The `temp:` keys at the start of the branch.
    pub temp: StateDelta,
    /// The stored keys that were written in each enclosing scope, innermost first. An element or a
    /// nested instance reads its own writes before anything else.
    #[serde(default)]
    pub written: Vec<Vec<Name>>,
    /// The number of events of the log that the branch sees: the events from before the branch.
    pub upto: u64,
    /// The number of model calls that the run had made, which count towards
    /// `RunConfig::max_llm_calls`.
    #[serde(default)]
    pub calls: u32,
    /// The settings of the run, as JSON.
    pub config: Value,
    /// The trace that the branch continues, in the form of a
    /// `TraceCarrier`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace: Option<String>,
}

impl BranchTask {
    /// Creates the task of a branch. All other fields are empty.
    pub fn new(
        run_id: RunId,
        session: SessionKey,
        workflow: Name,
        path: Path,
        branch: Arc<str>,
    ) -> Self {
        Self {
            run_id,
            epoch: 0,
            session,
            workflow,
            path,
            branch,
            state: StateDelta::default(),
            temp: StateDelta::default(),
            written: Vec::new(),
            upto: 0,
            calls: 0,
            config: Value::Null,
            trace: None,
        }
    }
}

/// The way a branch left its block.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct BranchEnd {
    /// Whether the run continues after the block, or ends an enclosing loop.
    pub flow: Flow,
    /// The reason why that loop ends.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<LoopEndReason>,
}

/// The result of a branch that ran in another process.
#[derive(Debug)]
#[non_exhaustive]
pub struct BranchReport {
    /// The way it ended.
    pub end: Result<BranchEnd>,
    /// The events that it committed, and those of remote branches inside it. The runtime applies
    /// the events of all branches of a block when the last one has ended, in the order of the log.
    pub events: Vec<Stored>,
    /// The loops that ended in the branch.
    pub loops: Vec<LoopEnd>,
    /// The usage of its model calls, all with the names of agents.
    pub usage: UsageByAgent,
}

impl BranchEnd {
    /// Creates the end of a branch. `reason` is the reason for which it ends an enclosing loop.
    pub fn new(flow: Flow, reason: Option<LoopEndReason>) -> Self {
        Self { flow, reason }
    }
}

/// The JSON form of a [`BranchReport`]; the events are in the log.
#[derive(Serialize, Deserialize)]
struct BranchReportJson {
    end: Value,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    loops: Vec<LoopEnd>,
    #[serde(default)]
    usage: UsageByAgent,
}

impl BranchReport {
    /// Creates the report of a branch with this end.
    pub fn new(end: Result<BranchEnd>) -> Self {
        Self {
            end,
            events: Vec::new(),
            loops: Vec::new(),
            usage: UsageByAgent::default(),
        }
    }

    /// Adds the events that the branch committed, which only the committing engine knows.
    pub fn with_events(mut self, events: Vec<Stored>) -> Self {
        self.events = events;
        self
    }

    /// Adds the loops that ended in the branch.
    pub fn with_loops(mut self, loops: Vec<LoopEnd>) -> Self {
        self.loops = loops;
        self
    }

    /// Adds the usage of the branch's model calls.
    pub fn with_usage(mut self, usage: UsageByAgent) -> Self {
        self.usage = usage;
        self
    }

    /// Returns the report without its events as JSON, to send to the other process.
    ///
    /// # Errors
    /// Never for the report of `Runner::branch`.
    pub fn to_value(&self) -> Result<Value> {
        let end = match &self.end {
            Ok(end) => record::from_value(end).map_err(Error::other)?,
            Err(error) => record::from_error(error),
        };
        let sent = BranchReportJson {
            end,
            loops: self.loops.clone(),
            usage: self.usage.clone(),
        };
        to_json(&sent).map_err(Error::other)
    }

    /// Reads the report from JSON, and adds the events that the branch committed.
    ///
    /// # Errors
    /// When the value was not written by [`to_value`](Self::to_value).
    pub fn from_value(value: Value, events: Vec<Stored>) -> Result<Self> {
        let BranchReportJson { end, loops, usage } =
            record::read(value, record::RecordSubject::Branch)?;
        Ok(Self {
            end: record::read(end, record::RecordSubject::Branch),
            events,
            loops,
            usage,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ErrorKind;
    use crate::model::Usage;

    #[test]
    fn a_branch_report_survives_json() {
        let by = Path::root("w").child("p".into(), crate::At::Round(2));
        let end = BranchEnd::new(
            Flow::ExitTo("outer".into()),
            Some(LoopEndReason::Escalated { by: by.clone() }),
        );
        let mut report = BranchReport::new(Ok(end.clone()));
        let mut usage = Usage::new(20, 10);
        usage.calls = 3;
        report.usage.add(&"writer".into(), usage);
        let again = BranchReport::from_value(report.to_value().unwrap(), Vec::new()).unwrap();
        assert_eq!(again.end.unwrap(), end);
        assert_eq!(again.usage, report.usage);
        let failed = BranchReport::new(Err(Error::new(ErrorKind::Timeout, "late").at(&by)));
        let again = BranchReport::from_value(failed.to_value().unwrap(), Vec::new())
            .unwrap()
            .end
            .unwrap_err();
        assert_eq!(
            (again.kind(), again.message(), again.path()),
            (ErrorKind::Timeout, "late", Some(&by))
        );
    }
}
