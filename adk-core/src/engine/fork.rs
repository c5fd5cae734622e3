//! A branch that runs elsewhere: what it is told, and how it comes back.

use super::{Stored, record};
use crate::event::StateDelta;
use crate::flow::{LoopEnd, LoopEndReason};
use crate::model::Usage;
use crate::session::SessionKey;
use crate::{Error, Flow, Name, Path, Result, RunId};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::sync::Arc;

/// A branch of a parallel block or an element of an `each`, addressed by name: it captures nothing, and may run in any
/// process that knows the workflow.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Fork {
    /// The run.
    pub run_id: RunId,
    /// The number of the claim that drives it, see [`ClaimId`](super::ClaimId).
    #[serde(default)]
    pub epoch: u64,
    /// Its session.
    pub session: SessionKey,
    /// The name of the workflow at its root.
    pub workflow: Name,
    /// The path of the branch with rounds: that of its block and the name of its first step, as in `w/par/left`. Of an
    /// element it is `w/each_1[3]`.
    pub path: Path,
    /// What its events are marked with.
    pub branch: Arc<str>,
    /// The state at the fork.
    pub state: StateDelta,
    /// The `temp:` keys at the fork.
    pub temp: StateDelta,
    /// The stored keys that were written in each scope around, from the inside out: an element and an instance read
    /// what they have written themselves before anything else.
    #[serde(default)]
    pub written: Vec<Vec<Name>>,
    /// How many events of the log it sees: those from before the fork.
    pub upto: u64,
    /// The model calls that the run had made, which its limit counts.
    #[serde(default)]
    pub calls: u32,
    /// The settings of the run, as JSON.
    pub config: Value,
}

/// How a branch left its block.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct BranchEnd {
    /// Whether it goes on behind the block, or at the end of a loop around it.
    pub flow: Flow,
    /// What ends that loop.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<LoopEndReason>,
}

/// How a branch that ran elsewhere comes back.
#[derive(Debug)]
#[non_exhaustive]
pub struct Joined {
    /// How it ended.
    pub end: Result<BranchEnd>,
    /// What it has committed, and what branches have that it has forked itself. What the branches of a block have committed is applied when all have come back, in the
    /// order of the log.
    pub events: Vec<Stored>,
    /// The loops in it that ended.
    pub loops: Vec<LoopEnd>,
    /// What its model calls used.
    pub usage: Usage,
}

impl BranchEnd {
    /// A branch that ended so, and why the loop ends that it leaves.
    pub fn new(flow: Flow, reason: Option<LoopEndReason>) -> Self {
        Self { flow, reason }
    }
}

/// What travels; the events are in the log.
#[derive(Serialize, Deserialize)]
struct Told {
    end: Value,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    loops: Vec<LoopEnd>,
    #[serde(default)]
    usage: Usage,
}

impl Joined {
    /// A branch that has ended so.
    pub fn new(end: Result<BranchEnd>) -> Self {
        Self { end, events: Vec::new(), loops: Vec::new(), usage: Usage::default() }
    }

    /// With what it has committed, which whoever made the commits knows.
    pub fn with_events(mut self, events: Vec<Stored>) -> Self {
        self.events = events;
        self
    }

    /// All but the events as JSON, for the way back.
    ///
    /// # Errors
    /// Never for what [`Runner::branch`](crate::Runner::branch) has given.
    pub fn to_value(&self) -> Result<Value> {
        let end = match &self.end {
            Ok(end) => record::of(end).map_err(Error::other)?,
            Err(error) => record::failed(error),
        };
        let told = Told { end, loops: self.loops.clone(), usage: self.usage };
        serde_json::to_value(told).map_err(Error::other)
    }

    /// What came back, with what it has committed.
    ///
    /// # Errors
    /// When it is not what [`to_value`](Self::to_value) gave.
    pub fn from_value(value: Value, events: Vec<Stored>) -> Result<Self> {
        let Told { end, loops, usage } = record::read(value, record::RecordOf::Branch)?;
        Ok(Self { end: record::read(end, record::RecordOf::Branch), events, loops, usage })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ErrorKind;

    #[test]
    fn the_way_back_keeps_how_it_ended() {
        let by = Path::root("w").child("p".into(), crate::At::Round(2));
        let end =
            BranchEnd::new(Flow::ExitTo("outer".into()), Some(LoopEndReason::Escalated { by: by.clone() }));
        let mut joined = Joined::new(Ok(end.clone()));
        joined.usage = Usage { calls: 3, ..Usage::new(20, 10) };
        let again = Joined::from_value(joined.to_value().unwrap(), Vec::new()).unwrap();
        assert_eq!(again.end.unwrap(), end);
        assert_eq!(again.usage, joined.usage);
        let failed = Joined::new(Err(Error::new(ErrorKind::Timeout, "late").at(&by)));
        let again = Joined::from_value(failed.to_value().unwrap(), Vec::new()).unwrap().end.unwrap_err();
        assert_eq!((again.kind(), again.message(), again.path()), (ErrorKind::Timeout, "late", Some(&by)));
    }
}
