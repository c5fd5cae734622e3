//! [`Queue`]: the work that a run has posted.

use crate::batch::Work;
use crate::handle::Durable;
use crate::posted::{Answer, Commit, Effect};
use adk_core::engine::{BranchReport, Stored, TimerKind, Waiting};
use adk_core::{BoxFuture, Result};
use restate_sdk::context::InvocationHandle;
use serde_json::Value;
use std::collections::{BTreeMap, VecDeque};
use tokio::time::Instant;

/// The work that the run has posted, by its stage.
#[derive(Default)]
pub(super) struct Queue<'a> {
    pub(super) commits: VecDeque<(Commit, Answer<Result<Stored>>)>,
    pub(super) works: Vec<Work>,
    pub(super) effects: Vec<Effect>,
    pub(super) open: Vec<Open<'a>>,
}

/// A request to Restate whose result is awaited.
pub(super) struct Open<'a> {
    pub(super) kind: Awaited,
    pub(super) future: Durable<'a>,
}

pub(super) enum Awaited {
    Answer {
        id: String,
        call: InvocationHandle,
        answer: Answer<Result<Option<Value>>>,
    },
    Deadline(Box<Waiting>),
    Timer {
        kind: TimerKind,
        until: Instant,
        answer: Answer<()>,
    },
    Branch(u32),
    /// A branch signals that it has become idle, or that it asks to continue.
    News(u32),
    Look,
}

impl Awaited {
    /// Returns the id of the wait that is awaited.
    pub(super) fn wait(&self) -> Option<&str> {
        match self {
            Self::Answer { id, .. } => Some(id),
            _ => None,
        }
    }

    /// Returns the time at which running calls must end.
    pub(super) fn limit(&self) -> Option<Instant> {
        match self {
            Self::Timer {
                kind: TimerKind::Limit,
                until,
                ..
            } => Some(*until),
            _ => None,
        }
    }
}

/// Returns the waits among open requests, each with the invocation that waits for its answer.
pub(super) fn waits_of(open: Vec<Open<'_>>) -> Vec<(String, InvocationHandle)> {
    let wait = |open: Open<'_>| match open.kind {
        Awaited::Answer { id, call, .. } => Some((id, call)),
        _ => None,
    };
    open.into_iter().filter_map(wait).collect()
}

/// The branches of blocks that other invocations execute.
pub(super) struct Branches {
    pub(super) running: BTreeMap<u32, Branch>,
    pub(super) next: u32,
    /// The trace that branches continue. If branches continued a span of this attempt instead,
    /// their inputs would differ in the next attempt.
    pub(super) trace: Option<String>,
}

/// A branch that has not reported yet.
pub(super) struct Branch {
    pub(super) path: String,
    pub(super) call: InvocationHandle,
    /// Completes when the run cancels the branch. `None` after the cancellation.
    pub(super) cancelled: Option<BoxFuture<'static, ()>>,
    pub(super) answer: Answer<Result<BranchReport>>,
    pub(super) is_idle: bool,
    pub(super) news: u32,
}
