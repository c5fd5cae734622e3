//! [`OpenWait`] and [`LostWaits`]: the open waits of a run, and those that no agent awaits any more.
//!
//! A wait is lost when its agent drops it without an answer: another branch won the race, a sibling ended the block, an
//! attempt ran out of time, or a call beside it failed. The next call of the run withdraws it in the store, so that nobody
//! answers in vain.
//!
//! When the run goes on after what dropped a wait, the wait is lost for good. This is recorded under its key. A resumed run
//! may execute the agent again, up to the end of its block: it finds the record, asks no more, and ignores an answer that
//! came before the block ended. When the run fails instead, nothing is recorded, and a retry asks again.

use super::Run;
use super::failures::is_around;
use super::record;
use crate::store::engine::{StepKey, Waiting};
use crate::store::outbox::CountGuard;
use crate::sync::lock;
use crate::{BoxFuture, Path, Result};
use std::convert::Infallible;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::{Acquire, Release};
use std::sync::{Arc, Mutex, OnceLock};

/// A wait of an agent, from the moment it is asked for.
pub(crate) struct OpenWait {
    run: Arc<Run>,
    waiting: Waiting,
    /// `None` once it is not lost by a drop: it has an answer, or was withdrawn by an earlier execution.
    key: Option<StepKey>,
}

impl OpenWait {
    pub(crate) fn new(run: &Arc<Run>, key: StepKey, waiting: Waiting) -> Self {
        Self { run: run.clone(), waiting, key: Some(key) }
    }

    /// It has an answer, or no answer will be read.
    pub(crate) fn settle(&mut self) {
        self.key = None;
    }
}

impl Drop for OpenWait {
    fn drop(&mut self) {
        if let Some(key) = self.key.take() {
            self.run.lose_wait(key);
        }
    }
}

/// Lost waits that are not withdrawn, or not yet known to be lost for good.
/// In a box, since few runs lose a wait.
#[derive(Debug, Default)]
pub(super) struct LostWaits(OnceLock<Box<LostList>>);

#[derive(Debug, Default)]
struct LostList {
    any: AtomicBool,
    waits: Mutex<Vec<LostWait>>,
}

#[derive(Clone, Debug)]
struct LostWait {
    key: StepKey,
    /// The store may still list it.
    is_open: bool,
    /// The run has gone on without it.
    is_final: bool,
}

impl LostWaits {
    pub(super) fn is_empty(&self) -> bool {
        self.0.get().is_none_or(|list| !list.any.load(Acquire))
    }

    fn change<T>(&self, change: impl FnOnce(&mut Vec<LostWait>) -> T) -> T {
        let LostList { any, waits } = &**self.0.get_or_init(Box::default);
        let mut waits = lock(waits);
        let changed = change(&mut waits);
        any.store(!waits.is_empty(), Release);
        changed
    }

    /// The run has gone on after what dropped the waits at these paths. Returns whether something is to be written.
    pub(super) fn settle(&self, is_meant: impl Fn(&Path) -> bool) -> bool {
        if self.is_empty() {
            return false;
        }
        self.change(|waits| {
            waits.iter_mut().filter(|wait| is_meant(&wait.key.path)).for_each(|wait| wait.is_final = true);
            waits.iter().any(|wait| wait.is_open || wait.is_final)
        })
    }
}

impl Run {
    /// An agent has dropped a wait without an answer. It stays in the list until this is written, also when the future that
    /// writes it is dropped as well.
    fn lose_wait(&self, key: StepKey) {
        if self.engine.waits().is_some() {
            self.lost_waits.change(|waits| waits.push(LostWait { key, is_open: true, is_final: false }));
        }
    }

    /// Waits for these. Nothing comes back: with the answers the run is executed once more.
    pub(crate) async fn park(&self, open: Vec<OpenWait>) -> Infallible {
        let asked = open.iter().filter(|wait| wait.key.is_some());
        let waits: Vec<_> = asked.map(|wait| self.add_waiting(wait.waiting.clone())).collect();
        // Withdrawn questions get no answer: their record says that the block around ends.
        let counter = if waits.is_empty() { &self.outbox().held } else { &self.outbox().parked };
        let _counted = CountGuard::new(counter);
        std::future::pending().await
    }

    /// Withdraws the waits that parts of a block have left. `None` without any, which is nearly always. `is_over` says that
    /// they are lost for good, since the part or the block that dropped them has ended without an error.
    pub(crate) fn withdraw_lost_in<'a>(
        &'a self,
        block: &Path,
        is_over: bool,
    ) -> Option<BoxFuture<'a, Result<()>>> {
        let settled = self.lost_waits.settle(|path| is_over && is_in_block(block, path));
        settled.then(|| -> BoxFuture<'a, _> { Box::pin(self.withdraw_lost()) })
    }

    /// Writes what is known of lost waits. The store forgets them before they are recorded: an answer that comes between is
    /// refused.
    pub(super) async fn withdraw_lost(&self) -> Result<()> {
        let Some(registry) = self.engine.waits() else { return Ok(()) };
        let lost = self.lost_waits.change(|waits| waits.clone());
        let open: Vec<_> = lost.iter().filter(|wait| wait.is_open).map(|wait| wait.key.id()).collect();
        if !open.is_empty() {
            registry.withdraw(self.claim, open).await?;
            let is_written = |key: &StepKey| lost.iter().any(|wait| wait.key == *key);
            self.lost_waits.change(|waits| {
                waits.iter_mut().filter(|wait| is_written(&wait.key)).for_each(|wait| wait.is_open = false);
            });
        }
        for LostWait { key, .. } in lost.into_iter().filter(|wait| wait.is_final) {
            let withdrawn = Box::pin(async { Ok(record::withdrawal()) });
            self.engine.step(self.claim, key.clone(), withdrawn).await?;
            self.lost_waits.change(|waits| waits.retain(|wait| wait.key != key));
        }
        Ok(())
    }

    /// The agent at this path has finished well: what was lost below it is lost for good.
    pub(super) fn settle_waits_of(&self, path: &Path) {
        self.lost_waits.settle(|lost| is_around(path, lost));
    }
}

/// Whether a path is in a block, of whose elements each has a path beside that of the block: `w/e[3]/ask` is in `w/e`.
fn is_in_block(block: &Path, path: &Path) -> bool {
    let mut outward = std::iter::successors(Some(path), |path| path.parent());
    outward.any(|outer| outer.name() == block.name() && outer.parent() == block.parent())
}
