//! [`Failures`]: the failed calls of a run whose agents have not continued yet.
//!
//! A failed call is recorded as a failure, which does not answer the call: the next resume makes
//! the call again. When its agent handles the error and continues, later steps depend on the error.
//! From then on the error is the result of that call, so a resumed run takes the same path.

use super::{Run, record};
use crate::store::engine::StepKey;
use crate::sync::lock;
use crate::{BoxFuture, Path, Result};
use serde_json::Value;
use std::sync::Mutex;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::{Acquire, Release};

/// The failed calls with their recorded errors.
#[derive(Debug, Default)]
pub(super) struct Failures {
    any: AtomicBool,
    calls: Mutex<Vec<(StepKey, Value)>>,
}

impl Failures {
    fn take(&self, is_match: impl Fn(&Path) -> bool) -> Vec<(StepKey, Value)> {
        if !self.any.load(Acquire) {
            return Vec::new();
        }
        let mut calls = lock(&self.calls);
        let taken = calls
            .extract_if(.., |(key, _)| is_match(&key.path))
            .collect();
        self.any.store(!calls.is_empty(), Release);
        taken
    }
}

impl Run {
    /// Adds a failed call with its recorded error.
    pub(crate) fn record_failure(&self, key: StepKey, failure: Value) {
        if let (Some(outer), Some(within)) = (&self.outer, &self.within) {
            return outer.record_failure(within.key(&key), failure);
        }
        let mut calls = lock(&self.failures.calls);
        calls.push((key, failure));
        self.failures.any.store(true, Release);
    }

    /// Returns whether failed calls or lost waits must be settled before an agent continues.
    pub(crate) fn is_unsettled(&self) -> bool {
        let own = || self.failures.any.load(Acquire) || !self.lost_waits.is_empty();
        self.outer
            .as_ref()
            .map_or_else(own, |outer| outer.is_unsettled())
    }

    /// Settles failed calls and lost waits before the agent at this path continues. The errors of
    /// its own calls, and those of enclosing and inner agents, become results; their lost waits are
    /// final. Other branches are not settled. Returns `None` if nothing is to be settled, which is
    /// the usual case.
    pub(crate) fn settle<'a>(&'a self, path: &Path) -> Option<BoxFuture<'a, Result<()>>> {
        if let Some(outer) = &self.outer {
            return outer.settle(path);
        }
        let is_match = |other: &Path| is_around(other, path) || is_around(path, other);
        let settled = self.failures.take(is_match);
        let has_lost = self.lost_waits.settle(is_match);
        if settled.is_empty() && !has_lost {
            return None;
        }
        Some(Box::pin(async move {
            for (key, failure) in settled {
                let result = record::settle(failure);
                self.engine
                    .step(self.claim, key, Box::pin(async { Ok(result) }))
                    .await?;
            }
            if has_lost {
                self.withdraw_lost().await
            } else {
                Ok(())
            }
        }))
    }

    /// Forgets the failed calls of an agent that has finished. The agent does not run again, so it
    /// will not repeat these calls.
    pub(super) fn forget_failures(&self, path: &Path) {
        self.failures.take(|failed| is_around(path, failed));
        self.settle_waits_of(path);
    }
}

/// Returns whether the outer path is the inner path or one of its ancestors.
pub(super) fn is_around(outer: &Path, inner: &Path) -> bool {
    std::iter::successors(Some(inner), |path| path.parent()).any(|path| path == outer)
}
