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
    fn is_empty(&self) -> bool {
        !self.any.load(Acquire)
    }

    fn add(&self, key: StepKey, failure: Value) {
        let mut calls = lock(&self.calls);
        calls.push((key, failure));
        self.any.store(true, Release);
    }

    fn take(&self, is_match: impl Fn(&Path) -> bool) -> Vec<(StepKey, Value)> {
        if self.is_empty() {
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
        if let Some(nested) = self.kind.nested()
            && let Some(engine) = &nested.engine
        {
            return nested.outer.record_failure(engine.key(&key), failure);
        }
        self.progress.failures.add(key, failure);
    }

    /// Returns whether failed calls or lost waits must be settled before an agent continues.
    pub(crate) fn is_unsettled(&self) -> bool {
        let progress = &self.outermost().progress;
        !progress.failures.is_empty() || !progress.lost_waits.is_empty()
    }

    /// Settles failed calls and lost waits before the agent at this path continues. The errors of
    /// its own calls, and those of enclosing and inner agents, become results; their lost waits are
    /// final. Other branches are not settled. Returns `None` if nothing is to be settled, which is
    /// the usual case.
    pub(crate) fn settle<'a>(&'a self, path: &Path) -> Option<BoxFuture<'a, Result<()>>> {
        let run = self.outermost();
        let is_match = |other: &Path| is_around(other, path) || is_around(path, other);
        let settled = run.progress.failures.take(is_match);
        let has_lost = run.progress.lost_waits.settle(is_match);
        if settled.is_empty() && !has_lost {
            return None;
        }
        Some(Box::pin(async move {
            for (key, failure) in settled {
                let result = record::settle(failure);
                run.engine
                    .step(run.identity.claim, key, Box::pin(async { Ok(result) }))
                    .await?;
            }
            if has_lost {
                run.withdraw_lost().await
            } else {
                Ok(())
            }
        }))
    }

    /// Forgets the failed calls of an agent that has finished. The agent does not run again, so it
    /// will not repeat these calls.
    pub(super) fn forget_failures(&self, path: &Path) {
        self.progress
            .failures
            .take(|failed| is_around(path, failed));
        let is_own = |lost: &Path| is_around(path, lost);
        self.progress.lost_waits.settle(is_own);
    }
}

/// Returns whether the outer path is the inner path or one of its ancestors.
pub(super) fn is_around(outer: &Path, inner: &Path) -> bool {
    std::iter::successors(Some(inner), |path| path.parent()).any(|path| path == outer)
}
