//! [`Runner::cancel`]: ends runs from outside.
//!
//! A store cancels a run by ending its claim. The driving process notices the cancellation at its
//! next commit. In this process, the run also ends immediately.

use super::{Runner, RunnerShared};
use crate::runtime::run::Run;
use crate::store::engine::{ClaimId, RunFilter, RunState, RunStatus, refuse};
use crate::sync::lock;
use crate::{Error, ErrorKind, Result, RunId, StoreErrorKind};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, Weak};
use tokio::sync::Notify;

/// Runs that streams of this runner drive, by claim.
#[derive(Default)]
pub(crate) struct DrivenRuns(Mutex<BTreeMap<ClaimId, CancelTarget>>);

/// Target of a cancellation.
#[derive(Clone)]
enum CancelTarget {
    Run(Weak<Run>),
    /// Run that waits for its turn.
    Queued(Arc<Notify>),
}

/// Guard that lists a run as driven by this runner until it is dropped.
pub(super) struct DriveGuard {
    shared: Arc<RunnerShared>,
    claim: ClaimId,
}

impl DriveGuard {
    pub(super) fn new(shared: &Arc<RunnerShared>, run: &Arc<Run>) -> Self {
        Self::insert(
            shared,
            run.identity.claim,
            CancelTarget::Run(Arc::downgrade(run)),
        )
    }

    /// Lists a run that waits for its turn and is cancelled by `cancelled`. The run has no claim
    /// yet, so the entry is stored under a random claim number.
    pub(super) fn for_queued(
        shared: &Arc<RunnerShared>,
        run: RunId,
        cancelled: Arc<Notify>,
    ) -> Self {
        Self::insert(
            shared,
            ClaimId::chosen(run),
            CancelTarget::Queued(cancelled),
        )
    }

    fn insert(shared: &Arc<RunnerShared>, claim: ClaimId, target: CancelTarget) -> Self {
        lock(&shared.driven.0).insert(claim, target);
        Self {
            shared: shared.clone(),
            claim,
        }
    }
}

impl CancelTarget {
    fn cancel(&self) {
        match self {
            Self::Run(run) => {
                if let Some(run) = run.upgrade() {
                    run.cancel();
                }
            }
            Self::Queued(cancelled) => cancelled.notify_one(),
        }
    }
}

impl Drop for DriveGuard {
    fn drop(&mut self) {
        lock(&self.shared.driven.0).remove(&self.claim);
    }
}

impl<P, R> Runner<P, R> {
    /// Cancels a run, whichever process drives it. The run and all its branches end with an error
    /// of kind [`ErrorKind::Cancelled`]; its committed events stay. A run of this runner ends
    /// immediately, even during a model call. A run in another process ends at its next commit. A
    /// run that waits for users ends immediately, with its waits. A run that waits for the turn of
    /// its session never begins.
    ///
    /// A cancelled run cannot be resumed. Returns the current status of the run:
    /// [`Cancelled`](RunStatus::Cancelled), also when it was cancelled before. If the run had
    /// already ended, returns its end and changes nothing.
    ///
    /// # Errors
    /// Fails with [`ErrorKind::UnknownRun`], with [`ErrorKind::Config`] when the engine does not
    /// keep runs, or when the store fails.
    pub async fn cancel(&self, run: RunId) -> Result<RunStatus> {
        let registry = self
            .shared
            .engine
            .registry_for(|| format!("cancel run `{run}`"))?;
        let status = registry.cancel(&self.shared.app, run).await?;
        if status == RunStatus::Cancelled {
            let claim = |epoch| ClaimId { run_id: run, epoch };
            let driven: Vec<_> = lock(&self.shared.driven.0)
                .range(claim(0)..=claim(u64::MAX))
                .map(|(_, target)| target.clone())
                .collect();
            driven.iter().for_each(CancelTarget::cancel);
        }
        Ok(status)
    }

    /// Cancels the unfinished runs that a filter selects, such as all runs of a user. Returns the
    /// runs that this call cancelled, in the order of the filter.
    ///
    /// # Errors
    /// Fails as [`cancel`](Self::cancel) does. Runs that were cancelled before the error stay
    /// cancelled.
    pub async fn cancel_where(&self, filter: &RunFilter) -> Result<Vec<RunId>> {
        let mut open = filter.clone();
        if open.state == RunState::Any {
            open.state = RunState::Unfinished;
        }
        let mut cancelled = Vec::new();
        for run in self.runs(&open).await? {
            if run.status.is_open() && self.cancel(run.run_id).await? == RunStatus::Cancelled {
                cancelled.push(run.run_id);
            }
        }
        Ok(cancelled)
    }
}

/// Returns whether a store refused a write because the claim is not the current one.
pub(super) fn is_fenced(error: &Error) -> bool {
    error.kind() == ErrorKind::Store(StoreErrorKind::Fenced)
}

/// Explains the refused write of a run: the run was cancelled, another process drives it, or
/// another run has its id. Stores the usage of a cancelled run.
pub(super) async fn explain_fenced(run: &Run, error: Error) -> Error {
    if run.is_unknown() {
        return refuse::run_exists(run.id());
    }
    let Some(registry) = run.engine.registry() else {
        return error;
    };
    match registry
        .runs(&run.session().key().app, &RunFilter::of_run(run.id()))
        .await
    {
        Ok(runs) if runs.iter().any(|run| run.status == RunStatus::Cancelled) => {
            // The store refuses this end because the claim is gone, but adds the usage.
            let _ = registry
                .close(
                    run.identity.claim,
                    RunStatus::Cancelled,
                    run.progress.usage_by_agent(),
                )
                .await;
            refuse::cancelled(run.id())
        }
        _ => error,
    }
}
