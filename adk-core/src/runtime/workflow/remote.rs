//! [`RemoteBranchSet`]: branches of a block that another process executes, and their reports.
//!
//! [`descend`] is the other side: the process that executes a branch walks from the root of the
//! workflow down to that branch, past every step before it.

use super::parallel::begin_element;
use super::step_table::StepTable;
use super::turn::OuterNames;
use super::walk::{Exit, Walk, Walked};
use super::{nested, reads, scopes};
use crate::LoopEndReason;
use crate::runtime::run::{Context, KeyScope, Run, count_replayed};
use crate::spec::{AgentKind, ERROR_KEY, StepKind};
use crate::store::engine::{BranchEnd, BranchReport, RemoteBranches, Stored};
use crate::store::outbox::CountGuard;
use crate::sync::lock;
use crate::{At, BoxFuture, Error, ErrorKind, Flow, Name, Path, Result};
use std::future::{pending, ready};
use std::ops::Range;
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
        let remote = remote.filter(|_| own.is_addressable && own.cut.is_none())?;
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
        let (remotes, scope, meter) = (self.clone(), own.scope.clone(), own.meter.clone());
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
            run.count_skipped(usage);
            count_replayed(meter.as_ref(), &usage, rounds, &path);
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
                cx.run.count_skipped(usage);
                count_replayed(cx.meter.as_ref(), &usage, 0, cx.path());
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

/// Converts the end of a walk over the steps of a branch for the process that sent the branch.
pub(super) fn into_branch_end(walked: Walked) -> BranchEnd {
    match walked {
        Walked::Through => BranchEnd::default(),
        Walked::Exit(Exit { target, reason, .. }) => {
            BranchEnd::new(target.map_or(Flow::Exit, Flow::ExitTo), Some(reason))
        }
    }
}

/// Walks through a workflow to the branch that the context looks for, and runs that branch.
pub(super) async fn descend(workflow: &(dyn StepTable + Sync), cx: &mut Context) -> Result<Flow> {
    let spec = workflow.spec();
    cx.enter_bounds(spec);
    cx.unchecked = workflow.is_unchecked() || (cx.unchecked && !workflow.is_closed());
    if workflow.is_closed() {
        if cx.path().parent().is_some() {
            let outer = cx.scope.take();
            cx.scope = Some(Arc::new(scopes::workflow_scope(
                spec,
                cx.path().name().clone(),
                outer,
            )));
        }
        cx.known = nested::known_keys(spec);
    }
    cx.states = nested::state_keys(workflow, cx);
    let walk = Walk {
        workflow,
        steps: spec.steps,
    };
    let place = cx.path().clone();
    // The process that drives the run enforces this limit too, but it may have ended.
    let deadline = match spec.limits.time {
        Some(longest) => cx.start_time_limit(longest).await?,
        None => None,
    };
    let (run, down) = (cx.run.clone(), Box::pin(walk.descend(cx)));
    match deadline {
        None => down.await?,
        Some((key, deadline)) => match run.run_until(key, deadline, down).await {
            Some(found) => found?,
            None => return Err(cx.time_error(&place)),
        },
    }
    Ok(Flow::Continue)
}

impl Walk<'_> {
    async fn descend(&self, cx: &mut Context) -> Result<()> {
        let mut range = 0..self.steps.len();
        let mut root = self.workflow.root();
        loop {
            let at = match root.take() {
                // A block that is the whole tree has no path of its own below the workflow.
                Some(at) => at,
                None => {
                    let Some(name) = cx.next_sought() else {
                        return Err(unknown_branch(cx));
                    };
                    let at = self
                        .find_step(&name, range)
                        .ok_or_else(|| unknown_branch(cx))?;
                    cx.enter(self.workflow.name(at), At::Once);
                    at
                }
            };
            let step = &self.steps[at];
            range = at + 1..step.end;
            match step.kind {
                StepKind::Agent { .. } => {
                    let agent = self
                        .workflow
                        .agent(at)
                        .filter(|agent| agent.meta().kind == AgentKind::Workflow);
                    let Some(agent) = agent else {
                        return Err(unknown_branch(cx));
                    };
                    let _around = OuterNames::enter(agent, step, cx);
                    return agent.run_dyn(cx).await.map(drop);
                }
                StepKind::Loop { .. } => cx.go_to(cx.sought_at()),
                StepKind::Try(_) => match cx.sought_at() {
                    At::Once => {
                        let scope = scopes::else_scope(&self.workflow.name(at), cx.scope.take());
                        (cx.scope, cx.known) = (Some(Arc::new(scope)), cx.known_with(ERROR_KEY));
                    }
                    round => cx.go_to(round),
                },
                StepKind::Parallel { .. } => {
                    let (step, part) = self.enter_branch(at, range, cx)?;
                    if part.start == step && cx.is_last_sought() {
                        return self.arrive(part, None, cx).await;
                    }
                    range = part;
                }
                StepKind::Each { item, list, .. } => {
                    let found = self.enter_element(at, item, list, range.clone(), cx)?;
                    if let Some(value) = found {
                        return self.arrive(range, Some(value), cx).await;
                    }
                }
                _ => {}
            }
        }
    }

    /// Enters the branch of a parallel that has the next sought step. Returns that step and the
    /// steps of the branch.
    fn enter_branch(
        &self,
        at: usize,
        range: Range<usize>,
        cx: &mut Context,
    ) -> Result<(usize, Range<usize>)> {
        let name = cx.peek_sought().ok_or_else(|| unknown_branch(cx))?;
        let step = self
            .find_step(&name, range)
            .ok_or_else(|| unknown_branch(cx))?;
        let mut parts = (0..).zip(self.parts(at));
        let (index, part) = parts
            .find(|(_, part)| part.contains(&step))
            .ok_or_else(|| unknown_branch(cx))?;
        let first = self.steps.get(part.start).map_or("", |step| step.name);
        let own = cx.for_branch(index, first);
        cx.become_branch(own);
        Ok((step, part))
    }

    /// Enters the sought element of an `each`. Returns the item with its value if the element is
    /// the branch that was looked for.
    fn enter_element(
        &self,
        at: usize,
        item: &str,
        list: &str,
        range: Range<usize>,
        cx: &mut Context,
    ) -> Result<Option<(Name, Arc<serde_json::Value>)>> {
        let At::Item(index) = cx.sought_at() else {
            return Err(unknown_branch(cx));
        };
        let (each, item) = (self.workflow.name(at), Name::shared(item));
        let own: Vec<_> = self
            .written_keys(range)
            .into_iter()
            .chain([item.clone()])
            .collect();
        let around = cx.scope.clone();
        let scope = Arc::new(scopes::element_scope(&each, index, &own, around));
        let mut element = cx.for_element(index, scope);
        element.known = cx.known_with(&item);
        let mut found = None;
        if cx.is_sought() {
            let items = reads::list_value(&item, list, cx)?;
            let value = items.get(index as usize).cloned();
            let value = value.ok_or_else(|| unknown_branch(cx))?;
            found = Some((item, Arc::new(value)));
        }
        cx.become_branch(element);
        Ok(found)
    }

    /// Runs the branch that was looked for, and leaves its end in the context.
    async fn arrive(
        &self,
        range: Range<usize>,
        item: Option<(Name, Arc<serde_json::Value>)>,
        cx: &mut Context,
    ) -> Result<()> {
        let search = cx.arrive()?;
        if let Some((item, value)) = item {
            begin_element(item, value, cx).await?;
        }
        let end = into_branch_end(self.run_steps(range, cx).await?);
        cx.set_branch_end(search, end);
        Ok(())
    }

    fn find_step(&self, name: &str, mut range: Range<usize>) -> Option<usize> {
        range.find(|&at| {
            let step = &self.steps[at];
            let is_place = !matches!(
                step.kind,
                StepKind::End
                    | StepKind::Branch
                    | StepKind::Arm { .. }
                    | StepKind::Else
                    | StepKind::Break { .. }
            );
            is_place && step.name == name
        })
    }
}

fn unknown_branch(cx: &Context) -> Error {
    let message = format!("this workflow has no branch `{}`", cx.sought_path());
    Error::new(ErrorKind::TopologyChanged, message)
        .with_help("run the branch with the workflow of its run")
        .at(cx.path())
}
