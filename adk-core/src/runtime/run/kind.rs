//! [`RunKind`]: how a run came to this process, with the data that only such runs have.

use super::replay::Replay;
use super::{CallStep, CallerPlace, Run, TraceSpan};
use crate::runtime::live::LiveInput;
use crate::store::engine::{
    BranchTask, Claim, ClaimedRun, NestedEngine, RunRecord, StepKey, is_failure,
};
use crate::store::session::Session;
use crate::sync::lock;
use crate::{Name, Path};
use serde_json::Value;
use std::sync::{Arc, Mutex};

/// How a run came to this process.
pub(crate) enum RunKind {
    /// The run begins, or an engine above the store executes it again from its first event.
    New(NewRun),
    /// The run continues after its recorded part.
    Resumed(Box<Replay>),
    /// An agent that is used as a tool runs inside the run of its caller.
    Nested(Box<NestedRun>),
    /// The run is a branch of a run that another process drives. It has no entry of its own in the
    /// registry.
    Branch(BranchStart),
    /// Another process drives the run, and this process reads its events from the store.
    Followed,
}

/// Data of a run that begins.
#[derive(Default)]
pub(crate) struct NewRun {
    /// The record with which the run is registered. The first commit stores the record and leaves
    /// `None`.
    pub(crate) record: Mutex<Option<Arc<RunRecord>>>,
    /// User input that arrives during a live run.
    pub(crate) live: Option<LiveInput>,
    /// Whether no other run can reach the session.
    pub(crate) is_alone: bool,
    /// Whether the registry knows the run before its first commit, because it was queued or is
    /// executed again.
    pub(crate) is_registered: bool,
}

/// Data of the run of an agent that is used as a tool.
pub(crate) struct NestedRun {
    /// The run of the caller.
    pub(crate) outer: Arc<Run>,
    /// Maps the steps of this run to records of the outer run. `None` if the engine records the
    /// tool call as a whole.
    pub(crate) engine: Option<Arc<NestedEngine>>,
    /// The agent that makes the tool call.
    pub(crate) by: CallerPlace,
    /// The tool call that executes this run.
    pub(crate) step: Arc<CallStep>,
    /// Keys that the call had set before this run, which sees them. The store does not have them
    /// yet.
    pub(crate) set: Vec<Name>,
}

/// What the whole run had done when a remote branch began.
pub(crate) struct BranchStart {
    /// The number of model calls.
    pub(crate) calls: u32,
    /// The place in the log after the last event that the branch sees.
    pub(crate) upto: u64,
}

impl NewRun {
    /// Attaches the record of the run to its first commit.
    pub(crate) fn attach(&mut self, record: RunRecord) {
        self.record = Mutex::new(Some(Arc::new(record)));
    }
}

impl RunKind {
    /// Continues a claimed run in its session. Also returns the claim.
    pub(crate) fn resume(claimed: ClaimedRun, session: &Arc<Session>) -> (Self, Claim) {
        if claimed.starts_over {
            let new = NewRun {
                is_registered: true,
                ..NewRun::default()
            };
            return (Self::New(new), claimed.claim);
        }
        let begins = usize::try_from(claimed.record.begins).unwrap_or(usize::MAX);
        session.keep(begins, &claimed.events);
        let (replay, claim) = Replay::new(claimed, session);
        (Self::Resumed(Box::new(replay)), claim)
    }

    pub(crate) fn of_branch(task: &BranchTask) -> Self {
        Self::Branch(BranchStart {
            calls: task.calls,
            upto: task.upto,
        })
    }

    /// Returns the recorded part of a resumed run.
    pub(crate) fn replay(&self) -> Option<&Replay> {
        match self {
            Self::Resumed(replay) => Some(replay),
            _ => None,
        }
    }

    /// Returns the recorded part of a resumed run until the run has repeated all of it.
    pub(crate) fn active_replay(&self) -> Option<&Replay> {
        self.replay().filter(|replay| !replay.is_over())
    }

    pub(crate) fn nested(&self) -> Option<&NestedRun> {
        match self {
            Self::Nested(nested) => Some(nested),
            _ => None,
        }
    }

    /// Returns whether the run is part of the run of a caller.
    pub(crate) fn is_nested(&self) -> bool {
        self.nested().is_some()
    }

    fn new_run(&self) -> Option<&NewRun> {
        match self {
            Self::New(new) => Some(new),
            _ => None,
        }
    }

    /// Returns the user input of a live run.
    pub(crate) fn live(&self) -> Option<&LiveInput> {
        self.new_run()?.live.as_ref()
    }

    /// Returns whether no other run can reach the session.
    pub(crate) fn is_alone(&self) -> bool {
        self.new_run().is_some_and(|new| new.is_alone)
    }

    /// Returns whether the registry knows the run before its first commit.
    pub(super) fn is_registered(&self) -> bool {
        match self {
            Self::New(new) => new.is_registered,
            Self::Resumed(_) | Self::Followed => true,
            Self::Nested(_) | Self::Branch(_) => false,
        }
    }

    /// Takes the record of a new run, for its first commit.
    pub(super) fn take_record(&self) -> Option<Arc<RunRecord>> {
        lock(&self.new_run()?.record).take()
    }

    /// Keeps the trace of a new run in its record, for the process that resumes the run.
    pub(crate) fn keep_trace(&self, span: &TraceSpan) {
        if let Some(new) = self.new_run()
            && let Some(record) = lock(&new.record).as_mut().and_then(Arc::get_mut)
        {
            record.trace = span.context();
        }
    }

    /// Returns the number of model calls that were made before a remote branch began, at the root
    /// of its run.
    pub(super) fn calls_before(&self, path: &Path) -> u64 {
        match self {
            Self::Branch(branch) if path.parent().is_none() => branch.calls.into(),
            _ => 0,
        }
    }

    /// Returns whether the engine has supplied a journal of this run, or of the run around it.
    pub(crate) fn has_record(&self) -> bool {
        match self {
            Self::Nested(nested) => nested.outer.kind.has_record(),
            _ => self.replay().is_some(),
        }
    }

    /// Returns the recorded result of a call, if the engine has supplied the journal.
    pub(crate) fn recorded_result(&self, key: &StepKey) -> Option<Value> {
        self.record_of(key, Value::clone)
    }

    /// Returns whether the result of a call is read from the journal, so that the call is not made
    /// again. A failed call in the journal is made again.
    pub(crate) fn is_answered(&self, key: &StepKey) -> bool {
        self.record_of(key, |record| !is_failure(record))
            .unwrap_or_default()
    }

    fn record_of<T>(&self, key: &StepKey, read: impl FnOnce(&Value) -> T) -> Option<T> {
        match self {
            Self::Nested(nested) => {
                let key = nested.engine.as_ref()?.key(key);
                nested.outer.kind.record_of(&key, read)
            }
            _ => self.replay()?.journal.step(&key.to_string()).map(read),
        }
    }

    /// Returns whether the journal of a resumed run contains anything below a path, which is a
    /// round or an element of a block.
    pub(crate) fn has_begun(&self, path: &Path) -> bool {
        self.replay()
            .is_some_and(|replay| replay.journal.has_begun(path))
    }
}
