//! [`OpenWait`] and [`LostWaits`]: the open waits of a run, and waits that no agent awaits any
//! more.
//!
//! A wait is lost when its agent drops it without an answer: another branch won the race, a sibling
//! ended the block, an attempt ran out of time, or a concurrent call failed. The next call of the
//! run withdraws the wait in the store, so that users do not answer it without effect.
//!
//! When the run continues after the drop, the wait is lost for good. This is recorded under the key
//! of the wait. A resumed run may execute the agent again, up to the end of its block. The agent
//! finds the record, does not ask again, and ignores an answer from before the end of the block.
//! When the run fails instead, nothing is recorded, and a retry asks again.

use super::Run;
use super::record;
use crate::store::engine::{StepKey, Waiting};
use crate::store::outbox::CountGuard;
use crate::sync::lock;
use crate::{BoxFuture, Path, Result};
use std::convert::Infallible;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::{Acquire, Release};
use std::sync::{Arc, Mutex, OnceLock};

/// A wait of an agent, from its question on.
pub(crate) struct OpenWait {
    run: Arc<Run>,
    waiting: Waiting,
    /// The key of the wait. `None` if dropping this value does not lose the wait, because the wait
    /// has an answer or an earlier execution has withdrawn it.
    key: Option<StepKey>,
}

impl OpenWait {
    pub(crate) fn new(run: &Arc<Run>, key: StepKey, waiting: Waiting) -> Self {
        Self {
            run: run.clone(),
            waiting,
            key: Some(key),
        }
    }

    /// Marks the wait as settled: its answer has come, or will not be read.
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

/// Lost waits that are not withdrawn, or may still become final. The list is boxed, because few
/// runs lose a wait.
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
    /// Whether the store may still list the wait.
    is_open: bool,
    /// Whether the run has continued without the wait.
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

    /// Makes the lost waits at the matching paths final, because the run has continued after them.
    /// Returns whether there is something to write.
    pub(super) fn settle(&self, is_match: impl Fn(&Path) -> bool) -> bool {
        if self.is_empty() {
            return false;
        }
        self.change(|waits| {
            waits
                .iter_mut()
                .filter(|wait| is_match(&wait.key.path))
                .for_each(|wait| wait.is_final = true);
            waits.iter().any(|wait| wait.is_open || wait.is_final)
        })
    }
}

impl Run {
    /// Adds a wait that an agent dropped without an answer. The wait stays in the list until the
    /// loss is written, also when the writing future is dropped.
    fn lose_wait(&self, key: StepKey) {
        if self.engine.waits().is_some() {
            self.progress.lost_waits.change(|waits| {
                waits.push(LostWait {
                    key,
                    is_open: true,
                    is_final: false,
                })
            });
        }
    }

    /// Parks the run until its open waits are answered. Never returns: once an answer has come, the
    /// run is executed again.
    pub(crate) async fn park(&self, open: Vec<OpenWait>) -> Infallible {
        let asked = open.iter().filter(|wait| wait.key.is_some());
        let waits: Vec<_> = asked
            .map(|wait| self.progress.add_waiting(wait.waiting.clone()))
            .collect();
        // Waits without a key were withdrawn in an earlier execution and get no answer. The journal
        // shows that the run continued without them, so the enclosing block ends and drops this
        // future.
        let counter = if waits.is_empty() {
            &self.outbox().held
        } else {
            &self.outbox().parked
        };
        let _counted = CountGuard::new(counter);
        std::future::pending().await
    }

    /// Withdraws the waits that branches or elements of a block have lost. `is_over` makes them
    /// final, because the branch, the element or the block has ended without an error. Returns
    /// `None` if nothing was lost, which is the usual case.
    pub(crate) fn withdraw_lost_in<'a>(
        &'a self,
        block: &Path,
        is_over: bool,
    ) -> Option<BoxFuture<'a, Result<()>>> {
        let settled = self
            .progress
            .lost_waits
            .settle(|path| is_over && is_in_block(block, path));
        settled.then(|| -> BoxFuture<'a, _> { Box::pin(self.withdraw_lost()) })
    }

    /// Withdraws the lost waits in the store, and then records the final ones. In this order the
    /// store refuses an answer that comes in between.
    pub(super) async fn withdraw_lost(&self) -> Result<()> {
        let Some(registry) = self.engine.waits() else {
            return Ok(());
        };
        let lost = self.progress.lost_waits.change(|waits| waits.clone());
        let open: Vec<_> = lost
            .iter()
            .filter(|wait| wait.is_open)
            .map(|wait| wait.key.id())
            .collect();
        if !open.is_empty() {
            registry.withdraw(self.identity.claim, open).await?;
            let is_written = |key: &StepKey| lost.iter().any(|wait| wait.key == *key);
            self.progress.lost_waits.change(|waits| {
                waits
                    .iter_mut()
                    .filter(|wait| is_written(&wait.key))
                    .for_each(|wait| wait.is_open = false);
            });
        }
        for LostWait { key, .. } in lost.into_iter().filter(|wait| wait.is_final) {
            let withdrawn = Box::pin(async { Ok(record::withdrawal()) });
            self.engine
                .step(self.identity.claim, key.clone(), withdrawn)
                .await?;
            self.progress
                .lost_waits
                .change(|waits| waits.retain(|wait| wait.key != key));
        }
        Ok(())
    }
}

/// Returns whether a path is in a block. The path of an element is a sibling of the path of its
/// block: `w/e[3]/ask` is in `w/e`.
fn is_in_block(block: &Path, path: &Path) -> bool {
    let mut outward = std::iter::successors(Some(path), |path| path.parent());
    outward.any(|outer| outer.name() == block.name() && outer.parent() == block.parent())
}
