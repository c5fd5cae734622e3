//! Runs that are ended from outside.
//!
//! A store cancels a run by taking its claim away. The process that drives it finds that out at its next commit, and at once
//! when it is this one.

use super::{Runner, RunnerShared};
use crate::runtime::run::Run;
use crate::store::engine::{ClaimId, RunFilter, RunState, RunStatus, refuse};
use crate::sync::lock;
use crate::{Error, ErrorKind, Result, RunId, StoreErrorKind};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, Weak};
use tokio::sync::Notify;

/// The runs that streams of this runner drive, by their claims.
#[derive(Default)]
pub(crate) struct DrivenRuns(Mutex<BTreeMap<ClaimId, CancelTarget>>);

/// What ends a run.
#[derive(Clone)]
enum CancelTarget {
    Run(Weak<Run>),
    /// It waits for its turn.
    Queued(Arc<Notify>),
}

/// A run is driven here, for as long as this lives.
pub(super) struct DriveGuard {
    shared: Arc<RunnerShared>,
    claim: ClaimId,
}

impl DriveGuard {
    pub(super) fn new(shared: &Arc<RunnerShared>, run: &Arc<Run>) -> Self {
        Self::insert(shared, run.claim, CancelTarget::Run(Arc::downgrade(run)))
    }

    /// A run that waits for its turn, and is cancelled by this notification. The number is that of no claim.
    pub(super) fn for_queued(shared: &Arc<RunnerShared>, run: RunId, cancelled: Arc<Notify>) -> Self {
        Self::insert(shared, ClaimId::chosen(run), CancelTarget::Queued(cancelled))
    }

    fn insert(shared: &Arc<RunnerShared>, claim: ClaimId, target: CancelTarget) -> Self {
        lock(&shared.driven.0).insert(claim, target);
        Self { shared: shared.clone(), claim }
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
    /// Cancels a run, in whatever process it is driven: it ends with an error of kind [`ErrorKind::Cancelled`], all its branches
    /// with it, and what it has committed stays. In this runner it ends at once, also in the middle of a model call; in
    /// another process at its next commit. A run that waits for people ends at once, and its waits with it. A run that waits for
    /// the turn of its session never begins.
    ///
    /// A cancelled run is not taken up again. Returns the status that the run has now:
    /// [`Cancelled`](RunStatus::Cancelled), also when it was cancelled before, or its end when it had ended, which changes
    /// nothing.
    ///
    /// # Errors
    /// [`ErrorKind::UnknownRun`]; [`ErrorKind::Config`] when the engine keeps no runs; when the store fails.
    pub async fn cancel(&self, run: RunId) -> Result<RunStatus> {
        let registry = self.shared.engine.registry_for(|| format!("cancel run `{run}`"))?;
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

    /// Cancels the runs that a filter selects and that have not ended, such as all those of a user. Returns those that are
    /// cancelled now, in the order of the filter.
    ///
    /// # Errors
    /// As [`cancel`](Self::cancel); what was cancelled until then stays so.
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

/// Whether a store has refused a write since the claim is not the current one.
pub(super) fn is_fenced(error: &Error) -> bool {
    error.kind() == ErrorKind::Store(StoreErrorKind::Fenced)
}

/// What that means: the run was cancelled, another process drives it, or it cannot begin since its id is that of another run.
/// Of a run that was cancelled it is stored what it has used.
pub(super) async fn explain_fenced(run: &Run, error: Error) -> Error {
    if run.is_unknown() {
        return refuse::run_exists(run.id);
    }
    let Some(registry) = run.engine.registry() else { return error };
    match registry.runs(&run.session().key().app, &RunFilter::of_run(run.id)).await {
        Ok(runs) if runs.iter().any(|run| run.status == RunStatus::Cancelled) => {
            // Refused in any case, since the claim is gone.
            let _ = registry.close(run.claim, RunStatus::Cancelled, run.usage()).await;
            refuse::cancelled(run.id)
        }
        _ => error,
    }
}
