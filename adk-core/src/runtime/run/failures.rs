//! Failed calls of a run that nobody has gone on after yet.
//!
//! A call that fails leaves a record that answers nothing: the next resume makes the call again. When its agent handles
//! the error and goes on, what follows depends on it. From then on the error is the result of that call, and a resumed
//! run takes the same way.

use super::{Run, record};
use crate::store::engine::StepKey;
use crate::sync::lock;
use crate::{BoxFuture, Path, Result};
use serde_json::Value;
use std::sync::Mutex;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::{Acquire, Release};

/// The failed calls, with their records.
#[derive(Debug, Default)]
pub(super) struct Failures {
    any: AtomicBool,
    calls: Mutex<Vec<(StepKey, Value)>>,
}

impl Failures {
    fn take(&self, is_meant: impl Fn(&Path) -> bool) -> Vec<(StepKey, Value)> {
        if !self.any.load(Acquire) {
            return Vec::new();
        }
        let mut calls = lock(&self.calls);
        let taken = calls.extract_if(.., |(key, _)| is_meant(&key.path)).collect();
        self.any.store(!calls.is_empty(), Release);
        taken
    }
}

impl Run {
    /// A call has failed, and this is its record.
    pub(crate) fn failed(&self, key: StepKey, failure: Value) {
        if let (Some(outer), Some(within)) = (&self.outer, &self.within) {
            return outer.failed(within.key(&key), failure);
        }
        let mut calls = lock(&self.failures.calls);
        calls.push((key, failure));
        self.failures.any.store(true, Release);
    }

    /// Whether something is to be settled when an agent goes on: a failed call, or a wait that was lost.
    pub(crate) fn is_unsettled(&self) -> bool {
        let own = || self.failures.any.load(Acquire) || !self.lost_waits.is_empty();
        self.outer.as_ref().map_or_else(own, |outer| outer.is_unsettled())
    }

    /// The agent at this path goes on: failed calls of its own, of agents around it and of those below it are results
    /// now, and lost waits are lost for good. Those of branches beside it are not. `None` where there are none, which is
    /// nearly always.
    pub(crate) fn settle<'a>(&'a self, path: &Path) -> Option<BoxFuture<'a, Result<()>>> {
        if let Some(outer) = &self.outer {
            return outer.settle(path);
        }
        let is_meant = |other: &Path| is_around(other, path) || is_around(path, other);
        let settled = self.failures.take(is_meant);
        let has_lost = self.lost_waits.settle(is_meant);
        if settled.is_empty() && !has_lost {
            return None;
        }
        Some(Box::pin(async move {
            for (key, failure) in settled {
                let result = record::settle(failure);
                self.engine.step(self.claim, key, Box::pin(async { Ok(result) })).await?;
            }
            if has_lost { self.withdraw_lost().await } else { Ok(()) }
        }))
    }

    /// The agent at this path has finished well: it is not executed again, so nobody will ask for its failed calls.
    pub(super) fn forget_failures(&self, path: &Path) {
        self.failures.take(|failed| is_around(path, failed));
        self.settle_waits_of(path);
    }
}

/// Whether a path is the other, or one of those around it.
pub(super) fn is_around(outer: &Path, inner: &Path) -> bool {
    std::iter::successors(Some(inner), |path| path.parent()).any(|path| path == outer)
}
