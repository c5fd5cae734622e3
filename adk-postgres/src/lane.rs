//! [`Lanes`]: one queue of jobs per session. Jobs that arrive during a transaction share the next
//! one.

use adk_journal::Event;
use adk_journal::engine::{ClaimId, Done, Draft, RunRecord, RunStatus, Slot, Stored, Update, Wait};
use adk_journal::session::{Session, SessionKey};
use adk_model::model::UsageByAgent;
use adk_model::{EventId, Result};
use serde_json::Value;
use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::oneshot;
use tokio::time::Instant;

/// Maximum number of jobs in a transaction, so that the last job does not delay the first too long.
const MOST: usize = 128;

/// Sender of a result. The receiver may have been dropped.
pub(crate) type Reply<T> = oneshot::Sender<Result<T>>;

/// Work on a session. Jobs run in order, while the row of the session is locked.
pub(crate) enum Job {
    /// Appends an event of a run. With an update, the transaction makes the draft of the event from
    /// the stored value of a state key.
    Commit {
        slot: Slot,
        draft: Draft,
        update: Option<Box<Update>>,
        tried: Vec<EventId>,
        reply: Reply<Stored>,
    },
    /// Inserts a queued run, which waits until earlier runs of the session have ended.
    Enqueue {
        claim: ClaimId,
        record: Box<RunRecord>,
        reply: Reply<()>,
    },
    /// Records the value of a step.
    Step {
        claim: ClaimId,
        key: String,
        value: Value,
        reply: Reply<Value>,
    },
    /// Opens a wait, or reads its answer.
    Wait {
        claim: ClaimId,
        wait: Box<Wait>,
        reply: Reply<Option<Value>>,
    },
    /// Removes waits that no agent awaits any more.
    Withdraw {
        claim: ClaimId,
        waits: Vec<String>,
        reply: Reply<()>,
    },
    /// Records finished agents of a run when no further commit of the run would record them.
    Finished {
        claim: ClaimId,
        done: Vec<Done>,
        reply: Reply<()>,
    },
    /// Releases a run, and writes its status if it is known.
    Close {
        claim: ClaimId,
        end: Option<(RunStatus, UsageByAgent)>,
        reply: Option<Reply<()>>,
    },
    /// Appends events that have an id and a time.
    Append {
        events: Vec<Event>,
        reply: Reply<()>,
    },
    /// Only locks the session. The lock gives places in the log to events of other programs.
    Look { reply: Reply<bool> },
    /// Opens the session in memory.
    Open { reply: Reply<Option<Arc<Session>>> },
}

impl Job {
    /// Returns the claim that must be current for the job.
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

    /// Reports whether the job writes.
    pub(crate) fn writes(&self) -> bool {
        !matches!(self, Self::Look { .. } | Self::Open { .. })
    }

    /// Reports whether the job is the first event of a run.
    pub(crate) fn begins(&self) -> bool {
        matches!(self, Self::Commit { slot, .. } if slot.begins.is_some())
    }

    /// Reports whether the job belongs to a run, and may share a transaction with other such jobs.
    fn is_of_run(&self) -> bool {
        !matches!(
            self,
            Self::Append { .. } | Self::Look { .. } | Self::Open { .. }
        )
    }

    /// Reports whether the job may be executed twice.
    pub(crate) fn is_repeatable(&self) -> bool {
        !matches!(self, Self::Append { .. })
    }
}

/// Queues of the sessions that have jobs.
#[derive(Default)]
pub(crate) struct Lanes(Mutex<HashMap<SessionKey, VecDeque<QueuedJob>>>);

/// A job with the time at which it was posted. Its patience counts from that time, not from the end
/// of earlier jobs.
type QueuedJob = (Instant, Job);

impl Lanes {
    fn lanes(&self) -> MutexGuard<'_, HashMap<SessionKey, VecDeque<QueuedJob>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Appends a job to the queue of its session. Returns whether the queue is new, so that the
    /// caller must execute its jobs until [`next`](Self::next) returns `None`.
    pub(crate) fn add(&self, key: &SessionKey, job: Job) -> bool {
        let asked = (Instant::now(), job);
        let mut lanes = self.lanes();
        if let Some(lane) = lanes.get_mut(key) {
            lane.push_back(asked);
            return false;
        }
        lanes.insert(key.clone(), VecDeque::from([asked]));
        true
    }

    /// Takes the next jobs that share a transaction, with the time at which the last of them was
    /// posted. Removes the queue if it is empty.
    pub(crate) fn next(&self, key: &SessionKey) -> Option<(Instant, Vec<Job>)> {
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
