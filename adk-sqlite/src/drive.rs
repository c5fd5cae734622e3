//! The right of a process to drive a run, taken and given up: also where its end cannot be written down, as on a full disk.

use crate::error::closed;
use crate::journal;
use crate::writer::{Db, Job, Writer};
use adk_core::engine::{Fits, RunStatus, Taken};
use adk_core::{Result, RunId};
use tokio::sync::oneshot;

/// Takes the right to drive, and what was recorded.
struct Take {
    run: RunId,
    fits: Fits,
    taken: Option<Taken>,
    reply: oneshot::Sender<Result<Taken>>,
}

impl Job for Take {
    fn run(&mut self, db: &mut Db) -> Result<()> {
        // For nobody nothing is taken.
        self.taken = match self.reply.is_closed() {
            true => None,
            false => Some(journal::take(db, self.run, &self.fits)?),
        };
        Ok(())
    }

    fn done(self: Box<Self>, result: Result<()>, db: &mut Db) {
        let Self { run, taken, reply, .. } = *self;
        let is_taken = result.is_ok() && taken.is_some();
        if is_taken {
            db.owner.is_written(run);
        }
        let unread = reply.send(result.and_then(|()| taken.ok_or_else(closed))).is_err();
        // Whoever asked may be gone by now: then nobody drives it.
        if unread && is_taken {
            let closed = journal::close(db, run, None);
            gave_up(db, run, closed.is_ok());
        }
    }
}

/// Gives up the right to drive, and says how far the run is when that is known.
struct Close {
    run: RunId,
    status: Option<RunStatus>,
    reply: Option<oneshot::Sender<Result<()>>>,
}

impl Job for Close {
    fn run(&mut self, db: &mut Db) -> Result<()> {
        journal::close(db, self.run, self.status.as_ref())
    }

    fn done(self: Box<Self>, result: Result<()>, db: &mut Db) {
        gave_up(db, self.run, result.is_ok());
        if let Some(reply) = self.reply {
            let _ = reply.send(result);
        }
    }
}

/// Nobody drives a run of this process any more. Where that is not written the table says otherwise, and the run may be
/// taken up again all the same, once there is room.
fn gave_up(db: &Db, run: RunId, is_written: bool) {
    match is_written {
        true => db.owner.is_written(run),
        false => db.owner.gave_up(run),
    }
}

impl Writer {
    pub(crate) async fn take(&self, run: RunId, fits: Fits) -> Result<Taken> {
        let (reply, result) = oneshot::channel();
        self.post(Box::new(Take { run, fits, taken: None, reply })).map_err(|_| closed())?;
        result.await.map_err(|_| closed())?
    }

    pub(crate) async fn close(&self, run: RunId, status: RunStatus) -> Result<()> {
        let (reply, result) = oneshot::channel();
        let job = Close { run, status: Some(status), reply: Some(reply) };
        self.post(Box::new(job)).map_err(|_| closed())?;
        result.await.map_err(|_| closed())?
    }

    /// The same without an end, for those who cannot wait. Whoever lists the runs from now on sees it.
    pub(crate) fn release(&self, run: RunId) {
        self.owner.gave_up(run);
        // When the thread has ended nobody is told any more.
        let _ = self.post(Box::new(Close { run, status: None, reply: None }));
    }
}
