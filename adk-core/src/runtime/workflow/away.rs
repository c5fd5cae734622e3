//! Branches of a block that run in another process, and their reports.

use super::walk::{Exit, Walked};
use crate::runtime::run::{Context, KeyScope, LoopEndReason, Run, count_replayed};
use crate::store::engine::{BranchEnd, BranchReport, RemoteBranches, Stored};
use crate::store::outbox::Counted;
use crate::sync::lock;
use crate::{BoxFuture, Flow, Path, Result};
use std::future::{pending, ready};
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::oneshot;

/// The branches of one block that are elsewhere.
#[derive(Default)]
pub(super) struct Away(Mutex<State>);

#[derive(Default)]
struct State {
    /// By the order in which the branches of the block began.
    indices: Vec<usize>,
    cancel: Vec<oneshot::Sender<()>>,
    back: Vec<(Stored, Option<Arc<KeyScope>>)>,
    run: Option<Arc<Run>>,
}

/// The time of the block was over after some of its branches had come back.
impl Drop for Away {
    fn drop(&mut self) {
        let state = self.0.get_mut().unwrap_or_else(PoisonError::into_inner);
        let Some(run) = &state.run else { return };
        for (stored, scope) in state.back.drain(..) {
            let report = BranchReport::new(Ok(BranchEnd::default())).with_events(vec![stored]);
            run.keep_report(Box::pin(ready(Ok(report))), scope);
        }
    }
}

impl Away {
    /// Asks the engine to take a branch; `own` is the context that it would run with here. `path` is that of the branch,
    /// which is the `index`th of its block.
    pub(super) fn send<'s>(
        self: &Arc<Self>,
        index: usize,
        path: impl FnOnce() -> Path,
        own: &Context,
        remote: Option<&'s dyn RemoteBranches>,
    ) -> Option<BoxFuture<'s, Result<Walked>>> {
        // Where an escalate ends all loops, a branch ends in the middle of an agent.
        let remote = remote.filter(|_| own.is_addressable && own.cut.is_none())?;
        let (run, path) = (own.run.clone(), path());
        if run.replay.as_ref().is_some_and(|replay| !replay.is_over()) {
            return None;
        }
        let (cancel, cancelled) = oneshot::channel();
        // A sender that is dropped cancels as well: then the block is.
        let cancelled = Box::pin(async move { drop(cancelled.await) });
        let report = remote.offer(own.branch_task(path.clone()), cancelled)?;
        let mut state = lock(&self.0);
        state.indices.push(index);
        state.cancel.push(cancel);
        state.run = Some(run.clone());
        let (away, scope, meter) = (self.clone(), own.scope.clone(), own.meter.clone());
        let mut report = Returning { report: Some(report), run: run.clone(), scope: scope.clone() };
        Some(Box::pin(async move {
            let _busy = Counted::new(&run.outbox().in_flight);
            let BranchReport { end, events, loops, usage } = report.back().await?;
            lock(&away.0).back.extend(events.into_iter().map(|event| (event, scope.clone())));
            let rounds = loops.iter().map(|end| u64::from(end.rounds)).sum();
            loops.into_iter().for_each(|end| run.end_loop(end));
            run.count_skipped(usage);
            count_replayed(meter.as_ref(), &usage, rounds, &path);
            end.map(walked)
        }))
    }

    /// Applies what branches had committed whose block was dropped, since its time was over.
    pub(super) async fn left_behind(cx: &Context) {
        let left = cx.run.take_reports();
        if left.is_empty() {
            return;
        }
        let away = Self::default();
        for (report, scope) in left {
            let _busy = Counted::new(&cx.run.outbox().in_flight);
            // One that could not be run has committed nothing.
            if let Ok(BranchReport { events, usage, .. }) = report.await {
                lock(&away.0).back.extend(events.into_iter().map(|event| (event, scope.clone())));
                cx.run.count_skipped(usage);
                count_replayed(cx.meter.as_ref(), &usage, 0, cx.path());
            }
        }
        away.apply(cx).await;
    }

    /// Whether any branch is elsewhere, or was.
    pub(super) fn has_sent(&self) -> bool {
        !lock(&self.0).indices.is_empty()
    }

    /// Nobody needs the branches any more; gives those that are still to come back.
    pub(super) fn cancel(&self) -> Vec<usize> {
        let mut state = lock(&self.0);
        state.cancel.clear();
        state.indices.clone()
    }

    /// Applies what the branches have committed, in the order of the log, and hands it to the consumer.
    pub(super) async fn apply(&self, cx: &Context) {
        let mut back = std::mem::take(&mut lock(&self.0).back);
        back.sort_unstable_by_key(|(stored, _)| stored.place);
        let mut last = None;
        for (stored, scope) in back {
            last = Some(cx.run.join_event(stored, scope.as_deref()));
        }
        if let Some(ticket) = last {
            cx.run.outbox().taken(ticket).await;
        }
    }
}

/// The report of a branch on its way here. Where nobody waits for it any more, the run keeps it.
struct Returning {
    report: Option<BoxFuture<'static, Result<BranchReport>>>,
    run: Arc<Run>,
    scope: Option<Arc<KeyScope>>,
}

impl Returning {
    async fn back(&mut self) -> Result<BranchReport> {
        let report = match &mut self.report {
            Some(report) => report.await,
            None => pending().await,
        };
        self.report = None;
        report
    }
}

impl Drop for Returning {
    fn drop(&mut self) {
        if let Some(report) = self.report.take() {
            self.run.keep_report(report, self.scope.take());
        }
    }
}

fn walked(end: BranchEnd) -> Walked {
    let target = match end.flow {
        Flow::Continue => return Walked::Through,
        Flow::Exit => None,
        Flow::ExitTo(name) => Some(name),
    };
    Walked::Exit(Exit { target, reason: end.reason.unwrap_or(LoopEndReason::Break), is_direct: false })
}

/// How a walk over the steps of a branch ended, for who has sent it.
pub(super) fn told(walked: Walked) -> BranchEnd {
    match walked {
        Walked::Through => BranchEnd::default(),
        Walked::Exit(Exit { target, reason, .. }) => {
            BranchEnd::new(target.map_or(Flow::Exit, Flow::ExitTo), Some(reason))
        }
    }
}
