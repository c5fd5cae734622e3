//! Jobs that claim and release runs. A release takes effect even if it cannot be written, for
//! example on a full disk.

use crate::error::closed_error;
use crate::journal;
use crate::writer::{Db, Job, Writer};
use crate::{Shared, SqliteStore};
use adk_journal::engine::{Claim, ClaimCheck, ClaimId, ClaimedRun, RunRecord, RunStatus, refuse};
use adk_model::model::UsageByAgent;
use adk_model::{Result, RunId};
use std::sync::{Arc, Weak};
use tokio::sync::oneshot;

/// Claims a run and reads its journal.
struct MakeClaim {
    run: RunId,
    check: ClaimCheck,
    store: Weak<Shared>,
    claimed: Option<ClaimedRun>,
    reply: oneshot::Sender<Result<ClaimedRun>>,
}

impl Job for MakeClaim {
    fn run(&mut self, db: &mut Db) -> Result<()> {
        self.claimed = if self.reply.is_closed() {
            None
        } else {
            Some(journal::claim(db, self.run, &self.check)?)
        };
        Ok(())
    }

    /// Makes the [`Claim`], which releases itself on drop, here and not in `run`. If the
    /// transaction is rolled back, a later claim may get the same epoch, and the drop of the first
    /// claim would release it. If the receiver is dropped, the claim is dropped too, which releases
    /// the run.
    fn done(self: Box<Self>, result: Result<()>, _: &mut Db) {
        let Self {
            claimed,
            store,
            reply,
            ..
        } = *self;
        let claimed = result
            .and_then(|()| claimed.ok_or_else(closed_error))
            .map(|mut claimed| {
                claimed.claim = releasing_claim(claimed.claim.id(), store);
                claimed
            });
        let _ = reply.send(claimed);
    }
}

/// Inserts a queued run, which waits until earlier runs of its session have ended. This process
/// gets the claim.
struct Enqueue {
    claim: ClaimId,
    record: RunRecord,
    store: Weak<Shared>,
    reply: oneshot::Sender<Result<Claim>>,
}

impl Job for Enqueue {
    fn run(&mut self, db: &mut Db) -> Result<()> {
        if self.reply.is_closed() {
            Err(closed_error())
        } else {
            journal::enqueue(db, self.claim, &self.record)
        }
    }

    fn done(self: Box<Self>, result: Result<()>, _: &mut Db) {
        let Self {
            claim,
            store,
            reply,
            ..
        } = *self;
        let _ = reply.send(result.map(|()| releasing_claim(claim, store)));
    }
}

/// Returns a claim that is released when it is dropped.
fn releasing_claim(claim: ClaimId, store: Weak<Shared>) -> Claim {
    Claim::new(claim, move |id| {
        if let Some(store) = store.upgrade() {
            store.writer.release(id);
        }
    })
}

/// The status that a run has reached, and its usage.
type End = (RunStatus, UsageByAgent);

/// Releases a claim, and writes the status of the run if it is known.
struct Close {
    claim: ClaimId,
    end: Option<End>,
    is_ours: bool,
    reply: Option<oneshot::Sender<Result<()>>>,
}

impl Job for Close {
    fn run(&mut self, db: &mut Db) -> Result<()> {
        self.is_ours = journal::close(db, self.claim, self.end.as_ref())?;
        Ok(())
    }

    fn done(self: Box<Self>, result: Result<()>, db: &mut Db) {
        let Self {
            claim,
            is_ours,
            reply,
            ..
        } = *self;
        if result.is_ok() {
            db.owner.unmark_released(claim);
        } else if !claim.is_driven_above() {
            // For this process, the run is free at once. Other processes can claim it when the
            // release is written.
            db.owner.mark_released(claim);
            if !db.file.is_lost() {
                db.unwritten.push(claim);
            }
        }
        if let Some(reply) = reply {
            let fenced = || {
                if is_ours {
                    Ok(())
                } else {
                    Err(refuse::fenced(claim.run_id))
                }
            };
            let _ = reply.send(result.and_then(|()| fenced()));
        }
    }
}

impl Db {
    /// Takes the releases that could not be written, as jobs.
    pub(crate) fn take_unwritten(&mut self) -> impl Iterator<Item = Box<dyn Job>> + use<> {
        let claims = std::mem::take(&mut self.unwritten).into_iter();
        claims.map(|claim| {
            Box::new(Close {
                claim,
                end: None,
                is_ours: false,
                reply: None,
            }) as Box<dyn Job>
        })
    }
}

impl SqliteStore {
    pub(crate) async fn enqueue_run(&self, claim: ClaimId, record: RunRecord) -> Result<Claim> {
        let (reply, result) = oneshot::channel();
        let job = Enqueue {
            claim,
            record,
            store: Arc::downgrade(&self.0),
            reply,
        };
        self.0
            .writer
            .post(Box::new(job))
            .map_err(|_| closed_error())?;
        result.await.map_err(|_| closed_error())?
    }

    pub(crate) async fn make_claim(&self, run: RunId, check: ClaimCheck) -> Result<ClaimedRun> {
        let (reply, result) = oneshot::channel();
        let store = Arc::downgrade(&self.0);
        let job = MakeClaim {
            run,
            check,
            store,
            claimed: None,
            reply,
        };
        self.0
            .writer
            .post(Box::new(job))
            .map_err(|_| closed_error())?;
        result.await.map_err(|_| closed_error())?
    }
}

impl Writer {
    pub(crate) async fn close(&self, claim: ClaimId, end: End) -> Result<()> {
        let (reply, result) = oneshot::channel();
        let job = Close {
            claim,
            end: Some(end),
            is_ours: false,
            reply: Some(reply),
        };
        self.post(Box::new(job)).map_err(|_| closed_error())?;
        result.await.map_err(|_| closed_error())?
    }

    /// Releases a claim without a status, for callers that cannot wait. Lists of runs show the
    /// release at once.
    pub(crate) fn release(&self, claim: ClaimId) {
        // The claim of an engine above the store, such as Restate, lasts until the run ends.
        if claim.is_driven_above() {
            return;
        }
        self.owner.mark_released(claim);
        // The send fails only if the writer thread has ended.
        let _ = self.post(Box::new(Close {
            claim,
            end: None,
            is_ours: false,
            reply: None,
        }));
    }
}
