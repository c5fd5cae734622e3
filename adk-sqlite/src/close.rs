//! The end of a process's right to drive a run: also where it cannot be written down, as on a full disk.

use crate::error::closed;
use crate::journal;
use crate::writer::{Db, Job};
use adk_core::engine::RunStatus;
use adk_core::{Result, RunId};
use tokio::sync::oneshot;

/// Gives up the right to drive, and says how far the run is when that is known.
pub(crate) struct Close {
    pub(crate) run: RunId,
    pub(crate) status: Option<RunStatus>,
    pub(crate) reply: Option<oneshot::Sender<Result<()>>>,
}

impl Job for Close {
    fn run(&mut self, db: &mut Db) -> Result<()> {
        journal::close(db, self.run, self.status.as_ref())
    }

    fn done(self: Box<Self>, result: Result<()>, db: &mut Db) {
        // The table says that this process drives it, and nobody does: it may be taken up again once there is room.
        match result.is_ok() {
            true => db.given_up.remove(&self.run),
            false => db.given_up.insert(self.run),
        };
        if let Some(reply) = self.reply {
            let _ = reply.send(result);
        }
    }
}

impl Db {
    /// Whether somebody drives a run of this owner.
    pub(crate) fn is_driven(&self, run: RunId, owner: &str) -> bool {
        if *owner == *self.owner.name && self.given_up.contains(&run) {
            return false;
        }
        self.owner.lives(&self.path, owner)
    }
}

impl crate::writer::Writer {
    pub(crate) async fn close(&self, run: RunId, status: RunStatus) -> Result<()> {
        let (reply, result) = oneshot::channel();
        let job = Close { run, status: Some(status), reply: Some(reply) };
        self.post(Box::new(job)).map_err(|_| closed())?;
        result.await.map_err(|_| closed())?
    }
}
