//! One queue per session: what is asked for while a transaction is on its way goes together in the next one.

use crate::Shared;
use crate::batch::batch;
use adk_core::engine::{ClaimId, Done, Draft, RunRecord, RunStatus, Slot, Stored, Update, Wait};
use adk_core::model::Usage;
use adk_core::session::{Session, SessionKey};
use adk_core::{Event, EventId, Result};
use serde_json::Value;
use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::oneshot;
use tokio::time::Instant;

/// The most that goes into one transaction, so that the first is not held up by the last.
const MOST: usize = 128;

/// Who waits for a result. He may be gone.
pub(crate) type Reply<T> = oneshot::Sender<Result<T>>;

/// Something to be done in a session whose row is locked, in this order.
pub(crate) enum Job {
    /// An event of a run. An update makes the draft in the transaction.
    Commit {
        slot: Slot,
        draft: Draft,
        update: Option<Box<Update>>,
        tried: Vec<EventId>,
        reply: Reply<Stored>,
    },
    /// A run that waits for the turn of the session.
    Enqueue { claim: ClaimId, record: Box<RunRecord>, reply: Reply<()> },
    /// The record of a step.
    Step { claim: ClaimId, key: String, value: Value, reply: Reply<Value> },
    /// A value that is waited for.
    Wait { claim: ClaimId, wait: Box<Wait>, reply: Reply<Option<Value>> },
    /// Waits that no agent awaits any more.
    Withdraw { claim: ClaimId, waits: Vec<String>, reply: Reply<()> },
    /// Agents that have finished, of a run that makes no more commits.
    Finished { claim: ClaimId, done: Vec<Done>, reply: Reply<()> },
    /// The end of a run, or of driving it.
    Close { claim: ClaimId, end: Option<(RunStatus, Usage)>, reply: Option<Reply<()>> },
    /// Events that have id and time.
    Append { events: Vec<Event>, reply: Reply<()> },
    /// Nothing but what comes with the lock: events of other programs get their places.
    Look { reply: Reply<bool> },
    /// The session as it is in memory.
    Open { reply: Reply<Option<Arc<Session>>> },
}

impl Job {
    /// The claim that has to be the current one of its run.
    pub(crate) fn claim(&self) -> Option<ClaimId> {
        match self {
            Self::Commit { slot, .. } => Some(slot.claim()),
            Self::Step { claim, .. }
            | Self::Wait { claim, .. }
            | Self::Withdraw { claim, .. }
            | Self::Finished { claim, .. } => Some(*claim),
            Self::Enqueue { .. }
            | Self::Close { .. }
            | Self::Append { .. }
            | Self::Look { .. }
            | Self::Open { .. } => None,
        }
    }

    /// Whether it writes anything.
    pub(crate) fn writes(&self) -> bool {
        !matches!(self, Self::Look { .. } | Self::Open { .. })
    }

    /// Whether it is the first event of a run.
    pub(crate) fn begins(&self) -> bool {
        matches!(self, Self::Commit { slot, .. } if slot.begins.is_some())
    }

    /// Whether it belongs to a run, and goes together with others of the kind.
    fn is_of_run(&self) -> bool {
        !matches!(self, Self::Append { .. } | Self::Look { .. } | Self::Open { .. })
    }

    /// Whether it may be done twice.
    pub(crate) fn is_repeatable(&self) -> bool {
        !matches!(self, Self::Append { .. })
    }
}

/// The sessions that something is asked of.
#[derive(Default)]
pub(crate) struct Lanes(Mutex<HashMap<SessionKey, VecDeque<Asked>>>);

/// A job, and when it was asked for: the patience with it begins then, and not when those before it have ended.
type Asked = (Instant, Job);

impl Lanes {
    fn lanes(&self) -> MutexGuard<'_, HashMap<SessionKey, VecDeque<Asked>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The next ones that go together, and when the last of them was asked for. A lane that is empty ends.
    fn next(&self, key: &SessionKey) -> Option<(Instant, Vec<Job>)> {
        let mut lanes = self.lanes();
        let lane = lanes.get_mut(key)?;
        let Some((mut asked, first)) = lane.pop_front() else {
            lanes.remove(key);
            return None;
        };
        let mut jobs = vec![first];
        if jobs[0].is_of_run() {
            while jobs.len() < MOST
                && let Some((later, job)) = lane.pop_front_if(|(_, job)| job.is_of_run())
            {
                asked = later;
                jobs.push(job);
            }
        }
        Some((asked, jobs))
    }
}

impl Shared {
    /// Puts it at the end of the queue of its session. It is done whether or not anybody waits for it.
    pub(crate) fn post(self: &Arc<Self>, key: SessionKey, job: Job) {
        let asked = (Instant::now(), job);
        let mut lanes = self.lanes.lanes();
        if let Some(lane) = lanes.get_mut(&key) {
            lane.push_back(asked);
            return;
        }
        lanes.insert(key.clone(), VecDeque::from([asked]));
        drop(lanes);
        let this = self.clone();
        self.runtime.spawn(async move {
            while let Some((asked, jobs)) = this.lanes.next(&key) {
                batch(&this, &key, asked, jobs).await;
            }
        });
    }
}
