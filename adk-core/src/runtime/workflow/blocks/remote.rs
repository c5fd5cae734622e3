//! [`RemoteBranchSet`]: branches of a block that another process executes, and their reports.

use crate::LoopEndReason;
use crate::runtime::run::{Context, KeyScope, Run, count_replayed};
use crate::runtime::workflow::steps::{Exit, Walked};
use crate::store::engine::{BranchEnd, BranchReport, RemoteBranches, Stored};
use crate::store::outbox::CountGuard;
use crate::sync::lock;
use crate::{BoxFuture, Flow, Path, Result};
use std::future::{pending, ready};
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::oneshot;

/// The remote branches of one block.
#[derive(Default)]
pub(super) struct RemoteBranchSet(Mutex<SentBranches>);

#[derive(Default)]
struct SentBranches {
    /// Numbers of the remote branches, in the order in which the branches of the block began.
    indices: Vec<usize>,
    cancel: Vec<oneshot::Sender<()>>,
    events: Vec<(Stored, Option<Arc<KeyScope>>)>,
    run: Option<Arc<Run>>,
}

/// A set that still holds events at its drop belongs to a block whose time ran out. The run keeps
/// the events.
impl Drop for RemoteBranchSet {
    fn drop(&mut self) {
        let state = self.0.get_mut().unwrap_or_else(PoisonError::into_inner);
        let Some(run) = &state.run else { return };
        for (stored, scope) in state.events.drain(..) {
            let report = BranchReport::new(Ok(BranchEnd::default())).with_events(vec![stored]);
            run.progress.keep_report(Box::pin(ready(Ok(report))), scope);
        }
    }
}

impl RemoteBranchSet {
    /// Offers a branch to the engine. `own` is the context that the branch would use in this
    /// process, `path` is its path, and `index` is its number in the block. Returns `None` if the
    /// branch runs here.
    pub(super) fn send<'s>(
        self: &Arc<Self>,
        index: usize,
        path: impl FnOnce() -> Path,
        own: &Context,
        remote: Option<&'s dyn RemoteBranches>,
    ) -> Option<BoxFuture<'s, Result<Walked>>> {
        // Under `escalate_ends_all_loops` a branch may end in the middle of an agent, which a
        // remote branch cannot do.
        let remote = remote.filter(|_| own.frame.is_addressable && own.cut.is_none())?;
        let (run, path) = (own.run.clone(), path());
        if run.kind.active_replay().is_some() {
            return None;
        }
        let (cancel, cancelled) = oneshot::channel();
        // The drop of the sender cancels as well: it means that the block was dropped.
        let cancelled = Box::pin(async move { drop(cancelled.await) });
        let report = remote.offer(own.branch_task(path.clone()), cancelled)?;
        let mut state = lock(&self.0);
        state.indices.push(index);
        state.cancel.push(cancel);
        state.run = Some(run.clone());
        let (remotes, scope, meter) = (
            self.clone(),
            own.around.scope.clone(),
            own.around.meter.clone(),
        );
        let mut report = ReportGuard {
            report: Some(report),
            run: run.clone(),
            scope: scope.clone(),
        };
        Some(Box::pin(async move {
            let _busy = CountGuard::new(&run.outbox().in_flight);
            let BranchReport {
                end,
                events,
                loops,
                usage,
                ..
            } = report.receive().await?;
            lock(&remotes.0)
                .events
                .extend(events.into_iter().map(|event| (event, scope.clone())));
            let rounds = loops.iter().map(|end| u64::from(end.rounds)).sum();
            loops.into_iter().for_each(|end| run.progress.end_loop(end));
            run.count_skipped(&usage);
            count_replayed(meter.as_ref(), &usage.total(), rounds, &path);
            end.map(from_branch_end)
        }))
    }

    /// Applies the events of branches whose block was dropped because its time ran out.
    pub(super) async fn apply_dropped(cx: &Context) {
        let left = cx.run.progress.take_reports();
        if left.is_empty() {
            return;
        }
        let remotes = Self::default();
        for (report, scope) in left {
            let _busy = CountGuard::new(&cx.run.outbox().in_flight);
            // A branch that could not run has committed no events.
            if let Ok(BranchReport { events, usage, .. }) = report.await {
                lock(&remotes.0)
                    .events
                    .extend(events.into_iter().map(|event| (event, scope.clone())));
                cx.run.count_skipped(&usage);
                count_replayed(cx.around.meter.as_ref(), &usage.total(), 0, cx.path());
            }
        }
        remotes.apply(cx).await;
    }

    /// Returns `true` if the block has sent any branch to another process.
    pub(super) fn has_sent(&self) -> bool {
        !lock(&self.0).indices.is_empty()
    }

    /// Cancels the remote branches. Returns their numbers, so that the caller can wait for their
    /// reports.
    pub(super) fn cancel(&self) -> Vec<usize> {
        let mut state = lock(&self.0);
        state.cancel.clear();
        state.indices.clone()
    }

    /// Applies the events of the branches in log order, and waits until the consumer has taken
    /// them.
    pub(super) async fn apply(&self, cx: &Context) {
        let mut events = std::mem::take(&mut lock(&self.0).events);
        events.sort_unstable_by_key(|(stored, _)| stored.place);
        let mut last = None;
        for (stored, scope) in events {
            last = Some(cx.run.join_event(stored, scope.as_deref()));
        }
        if let Some(ticket) = last {
            cx.run.outbox().until_taken(ticket).await;
        }
    }
}

/// The report of a remote branch, until it arrives. If its block is dropped first, the run keeps
/// the report.
struct ReportGuard {
    report: Option<BoxFuture<'static, Result<BranchReport>>>,
    run: Arc<Run>,
    scope: Option<Arc<KeyScope>>,
}

impl ReportGuard {
    async fn receive(&mut self) -> Result<BranchReport> {
        let report = match &mut self.report {
            Some(report) => report.await,
            None => pending().await,
        };
        self.report = None;
        report
    }
}

impl Drop for ReportGuard {
    fn drop(&mut self) {
        if let Some(report) = self.report.take() {
            self.run.progress.keep_report(report, self.scope.take());
        }
    }
}

fn from_branch_end(end: BranchEnd) -> Walked {
    let target = match end.flow {
        Flow::Continue => return Walked::Through,
        Flow::Exit => None,
        Flow::ExitTo(name) => Some(name),
    };
    Walked::Exit(Exit {
        target,
        reason: end.reason.unwrap_or(LoopEndReason::Break),
        is_direct: false,
    })
}
