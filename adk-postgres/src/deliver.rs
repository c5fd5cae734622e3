//! [`deliver`]: reports the results of a committed transaction.

use crate::Shared;
use crate::error::closed_error;
use crate::journal::FilledSlot;
use crate::lane::Job;
use crate::log::Head;
use crate::reader::Shelf;
use adk_journal::Event;
use adk_journal::engine::{Draft, Slot, Stored, refuse};
use adk_journal::session::{Session, SessionKey, SessionRow};
use adk_model::{Error, ErrorKind, EventId, Result, StoreErrorKind};
use serde_json::Value;
use std::collections::VecDeque;
use std::mem;
use std::sync::Arc;

/// Result of a transaction for one job.
pub(crate) enum Outcome {
    /// The event was appended at this place of the log.
    New(u64),
    /// The slot was already filled with this event.
    FilledSlot(FilledSlot),
    /// The recorded value of a step, or the answer to a wait.
    Value(Option<Value>),
    /// The work is done. For [`Job::Look`], whether the session exists; for [`Job::Close`], whether
    /// the claim was current.
    Done(bool),
    /// The rows of the session.
    Row(Option<SessionRow>),
}

/// A committed transaction.
pub(crate) struct Written {
    /// The session object of this process, if the session is open.
    pub(crate) session: Option<Arc<Session>>,
    /// Events of the log that the open session does not contain yet, with their places in the log.
    pub(crate) missing: VecDeque<(u64, Arc<Event>)>,
    pub(crate) outcomes: Vec<Result<Outcome>>,
    /// The rows of the session after the transaction. `None` if the session does not exist.
    pub(crate) head: Option<Head>,
}

/// Reports the results of a committed transaction, in the order of the log. An event is delivered
/// to its session even if its receiver is gone.
pub(crate) fn deliver(
    shared: &Arc<Shared>,
    key: &SessionKey,
    jobs: Vec<Job>,
    mut written: Written,
) {
    let outcomes = mem::take(&mut written.outcomes);
    for (job, outcome) in jobs.into_iter().zip(outcomes) {
        match (job, outcome) {
            (
                Job::Commit {
                    slot, draft, reply, ..
                },
                Ok(Outcome::New(place)),
            ) => {
                let _ = reply.send(Ok(written.deliver_new(place, slot, draft)));
            }
            (
                Job::Commit {
                    slot, tried, reply, ..
                },
                Ok(Outcome::FilledSlot(filled)),
            ) => {
                let _ = reply.send(Ok(written.deliver_filled(filled, slot, &tried)));
            }
            (Job::Step { value, reply, .. }, Ok(Outcome::Value(earlier))) => {
                let _ = reply.send(Ok(earlier.unwrap_or(value)));
            }
            (Job::Wait { reply, .. }, Ok(Outcome::Value(answer))) => drop(reply.send(Ok(answer))),
            (Job::Close { claim, reply, .. }, Ok(Outcome::Done(is_ours))) => {
                shared.drives.finish_release(claim, true);
                let closed = || {
                    if is_ours {
                        Ok(())
                    } else {
                        Err(refuse::fenced(claim.run_id))
                    }
                };
                let _ = reply.map(|reply| reply.send(closed()));
            }
            (Job::Finished { reply, .. } | Job::Withdraw { reply, .. }, Ok(Outcome::Done(_))) => {
                let _ = reply.send(Ok(()));
            }
            (Job::Append { reply, .. } | Job::Enqueue { reply, .. }, Ok(Outcome::Done(_))) => {
                let _ = reply.send(Ok(()));
            }
            (Job::Look { reply }, Ok(Outcome::Done(is_there))) => drop(reply.send(Ok(is_there))),
            (Job::Open { reply }, Ok(Outcome::Row(row))) => {
                let opened = row.map(|row| written.open(shared, key, row));
                let _ = reply.send(Ok(opened));
            }
            (job, Err(error)) => refuse_job(shared, job, error),
            (job, Ok(_)) => refuse_job(shared, job, closed_error()),
        }
    }
    written.catch_up(u64::MAX);
}

impl Written {
    /// Appends missing events before a place to the open session.
    fn catch_up(&mut self, before: u64) {
        let Some(session) = &self.session else { return };
        while let Some((place, event)) = self.missing.pop_front_if(|(place, _)| *place < before) {
            // An event whose first commit lost its answer is missing here, and its own job delivers
            // it.
            if place >= session.len() as u64 {
                session.append_stored(event);
            }
        }
    }

    /// Delivers an event that the transaction has appended.
    fn deliver_new(&mut self, place: u64, slot: Slot, draft: Draft) -> Stored {
        self.catch_up(place);
        let event = draft.event;
        // The session of the slot belongs to another store than the session that is open here.
        let is_above = slot.claim().is_driven_above();
        if let Some(session) = self.session.as_ref().filter(|_| is_above) {
            session.append_stored(event.clone());
        }
        slot.deliver(place, event, draft.temp)
    }

    /// Delivers the event that already fills a slot. `tried` are the ids of the events that this
    /// process has tried to append.
    fn deliver_filled(&mut self, filled: FilledSlot, slot: Slot, tried: &[EventId]) -> Stored {
        let FilledSlot { place, event, temp } = filled;
        self.catch_up(place);
        let is_ours = tried.contains(&event.id) && slot.session().len() as u64 == place;
        if is_ours || slot.claim().is_driven_above() {
            slot.deliver(place, event, temp)
        } else {
            drop(slot);
            Stored::earlier(place, event, temp)
        }
    }

    /// Opens the session in memory.
    fn open(&mut self, shared: &Arc<Shared>, key: &SessionKey, row: SessionRow) -> Arc<Session> {
        self.catch_up(row.len as u64);
        let shelf = Shelf {
            shared: Arc::downgrade(shared),
            key: key.clone(),
            number: row.number,
        };
        shared.live.open(key, row, Arc::new(shelf))
    }
}

/// Reports an error to the sender of a job.
pub(crate) fn refuse_job(shared: &Shared, job: Job, error: Error) {
    let is_ended = matches!(
        error.kind(),
        ErrorKind::RunExists | ErrorKind::Store(StoreErrorKind::Fenced)
    );
    if let Some(claim) = job.claim().filter(|_| is_ended) {
        shared.drives.end(claim);
    }
    match job {
        Job::Commit { slot, reply, .. } => {
            drop(slot);
            let _ = reply.send(Err(error));
        }
        Job::Step { reply, .. } => drop(reply.send(Err(error))),
        Job::Wait { reply, .. } => drop(reply.send(Err(error))),
        Job::Withdraw { reply, .. }
        | Job::Finished { reply, .. }
        | Job::Append { reply, .. }
        | Job::Enqueue { reply, .. } => {
            let _ = reply.send(Err(error));
        }
        Job::Close { claim, reply, .. } => {
            // Other processes must learn that the run is free, so the lease thread writes the
            // release later.
            if !claim.is_driven_above() {
                shared.drives.finish_release(claim, false);
            }
            let _ = reply.map(|reply| reply.send(Err(error)));
        }
        Job::Look { reply } => drop(reply.send(Err(error))),
        Job::Open { reply } => drop(reply.send(Err(error))),
    }
}
