//! Blocks whose parts run at the same time: joined, and cancelled with the first that fails or leaves.

use super::away::Away;
use super::join::Branches;
use super::reads::Elements;
use super::scopes;
use super::walk::{Exit, Walk, Walked, boxed};
use crate::runtime::run::{Context, Cut, KeyScope, LoopEndReason, Spent, metered};
use crate::spec::{AgentKind, StepKind};
use crate::store::session::Scope;
use crate::{At, BoxFuture, Error, Event, Name, Result};
use serde_json::Value;
use std::future::poll_fn;
use std::ops::Range;
use std::pin::pin;
use std::sync::{Arc, Mutex};
use std::task::Poll;

impl Walk<'_> {
    /// Runs the branches of a parallel; all of them, unless they race.
    pub(super) async fn parallel(
        &self,
        at: usize,
        limit: Option<u32>,
        race: Option<&mut Race>,
        cx: &Context,
    ) -> Result<Walked> {
        let (away, remote) = (Arc::<Away>::default(), cx.run.engine.remote());
        let spent = race.as_ref().map(|race| race.spent.clone()).unwrap_or_default();
        let branches = self.parts(at).enumerate().map(|(index, branch)| {
            let own = self.branch_context(&branch, cx);
            let path = cx.path().child(self.workflow.name(branch.start), At::Once);
            let sent = away.send(index, path, &own, remote);
            let branch = sent.unwrap_or_else(|| self.branch(branch, None, own));
            match spent.get(index) {
                Some(spent) => Box::pin(metered(cx.run.clone(), spent.clone(), branch)),
                None => branch,
            }
        });
        together(branches, limit, &away, race, cx).await
    }

    /// The context of a branch of the parallel at this path.
    pub(super) fn branch_context(&self, branch: &Range<usize>, cx: &Context) -> Context {
        let mut own = cx.for_branch(self.steps.get(branch.start).map_or("", |step| step.name));
        if cx.config().escalate_ends_all_loops {
            own.cut = Some(Cut::new(cx.path().clone()));
        }
        own
    }

    /// Runs the steps of an `each` once per element, and makes lists of what they have written.
    ///
    /// An element begins with an event that holds its item. When all have ended, one event of the block holds the
    /// lists: in the order of the elements, whatever came first, and without those that have not written the key.
    pub(super) async fn each(
        &self,
        at: usize,
        item: &str,
        elements: Elements,
        limit: Option<u32>,
        cx: &mut Context,
    ) -> Result<Walked> {
        let Elements { list, count, left_out } = elements;
        if let Some(event) = left_out {
            cx.emit_boxed(*event).await?;
        }
        let body = at + 1..self.steps[at].end;
        let (each, item) = (self.workflow.name(at), Name::shared(item));
        let written = self.written(body.clone());
        let own: Vec<_> = written.iter().chain([&item]).cloned().collect();
        let known = cx.known_with(&item);
        let mut scopes = Vec::new();
        let (away, remote) = (Arc::<Away>::default(), cx.run.engine.remote());
        let values = list.as_array().into_iter().flatten().take(count);
        let elements = (0..).zip(values).map(|(index, value)| {
            let scope = Arc::new(scopes::of_element(&each, index, &own, cx.scope.clone()));
            scopes.push(scope.clone());
            let mut element = cx.element(index, scope);
            element.known.clone_from(&known);
            if let Some(sent) = away.send(index as usize, element.path().clone(), &element, remote) {
                return sent;
            }
            self.branch(body.clone(), Some((item.clone(), Arc::new(value.clone()))), element)
        });
        if let Walked::Exit(exit) = together(elements, limit, &away, None, cx).await? {
            return Ok(Walked::Exit(exit));
        }
        if !written.is_empty() {
            gather(&written, &scopes, cx).await?;
        }
        Ok(Walked::Through)
    }

    /// The keys that steps can write, sorted. Those with a prefix are the session's own.
    pub(super) fn written(&self, steps: Range<usize>) -> Vec<Name> {
        let steps = self.steps.get(steps).unwrap_or_default();
        let keys = steps.iter().flat_map(scopes::written).filter(|key| Scope::of(key) == Scope::Session);
        let mut keys: Vec<_> = keys.map(Name::shared).collect();
        keys.sort_unstable();
        keys.dedup();
        keys
    }

    /// Not an `async fn`: the declared type is what ends the recursion for the `Send` check.
    pub(super) fn branch<'s>(
        &'s self,
        range: Range<usize>,
        item: Option<(Name, Arc<Value>)>,
        mut own: Context,
    ) -> BoxFuture<'s, Result<Walked>> {
        Box::pin(async move {
            if let Some((item, value)) = item {
                begin(item, value, &mut own).await?;
            }
            match own.cut.clone() {
                None => boxed(|| self.steps(range, &mut own)).await,
                Some(cut) => boxed(|| async move { self.until_cut(range, &cut, own).await }).await,
            }
        })
    }

    /// Runs a branch to its end, or to an escalate of its own child, which ends the block at once (ADK's rule; under
    /// `RunConfig::escalate_ends_all_loops`). An escalate from deeper inside leaves the block when all have ended.
    async fn until_cut(&self, range: Range<usize>, cut: &Cut, mut own: Context) -> Result<Walked> {
        // What a workflow passes on was said deeper inside.
        let is_workflow = |at: usize| match self.steps.get(at).map(|step| step.kind) {
            Some(StepKind::Agent { meta, .. }) => meta.kind == AgentKind::Workflow,
            _ => false,
        };
        let (start, block) = (range.start, own.path().clone());
        let mut walk = pin!(self.steps(range, &mut own));
        let walked = poll_fn(|task| match (walk.as_mut().poll(task), cut.by()) {
            (Poll::Pending, Some(by)) => Poll::Ready(Ok(Walked::Exit(Exit::cut(by.clone())))),
            (polled, _) => polled,
        });
        let mut walked = walked.await?;
        if let Walked::Exit(exit) = &mut walked
            && let LoopEndReason::Escalated { by } = &exit.reason
        {
            exit.is_direct = by.parent() == Some(&block) && !is_workflow(start);
        }
        Ok(walked)
    }
}

/// Commits the item of an element. Boxed as [`gather`] is, since blocks nest and an event is large.
pub(super) fn begin(item: Name, value: Arc<Value>, own: &mut Context) -> BoxFuture<'_, Result<()>> {
    let mut event = Event::new();
    event.actions.state_delta.insert(item, value);
    Box::pin(async move { own.emit(event).await.map(drop) })
}

/// Commits the lists of what the elements have written.
fn gather<'a>(keys: &[Name], elements: &[Arc<KeyScope>], cx: &'a mut Context) -> BoxFuture<'a, Result<()>> {
    let mut event = Event::new();
    for key in keys {
        let values = elements.iter().filter_map(|scope| cx.run.value(Some(scope), key));
        let list: Vec<_> = values.map(|value| Value::clone(&value)).collect();
        event.actions.state_delta.insert(key.clone(), Value::Array(list));
    }
    Box::pin(async move { cx.emit(event).await.map(drop) })
}

/// Branches of which the first one that finishes wins.
#[derive(Default)]
pub(super) struct Race {
    /// What each of them uses.
    pub(super) spent: Vec<Arc<Mutex<Spent>>>,
    /// Which one has won.
    pub(super) winner: Option<usize>,
    /// The last error of those that have failed.
    failed: Option<Error>,
}

impl Race {
    /// A race of so many branches.
    pub(super) fn of(branches: usize) -> Self {
        let spent = std::iter::repeat_with(Arc::default).take(branches).collect();
        Self { spent, ..Self::default() }
    }
}

/// Runs branches, so many at a time. Each is made when it begins.
fn together<'s>(
    waiting: impl Iterator<Item = BoxFuture<'s, Result<Walked>>> + Send + 's,
    limit: Option<u32>,
    away: &'s Away,
    race: Option<&'s mut Race>,
    cx: &'s Context,
) -> BoxFuture<'s, Result<Walked>> {
    // As with `back` below: not a part of the frame that awaits it.
    Box::pin(run(waiting, limit, away, race, cx))
}

async fn run<'s>(
    mut waiting: impl Iterator<Item = BoxFuture<'s, Result<Walked>>>,
    limit: Option<u32>,
    away: &'s Away,
    mut race: Option<&'s mut Race>,
    cx: &'s Context,
) -> Result<Walked> {
    let limit = limit.map_or(usize::MAX, |n| n.max(1) as usize);
    let _joining = cx.joining();
    let mut left = None;
    let mut running = Branches::default();
    loop {
        while running.live() < limit
            && let Some(branch) = waiting.next()
        {
            running.push(branch);
        }
        let Some((index, ended)) = poll_fn(|task| running.poll_next(task)).await else {
            if away.has_sent() {
                boxed(|| away.apply(cx)).await;
            }
            return match (left, race.and_then(|race| race.failed.take())) {
                (Some(exit), _) => Ok(Walked::Exit(exit)),
                (None, Some(error)) => Err(error),
                (None, None) => Ok(Walked::Through),
            };
        };
        match (ended, &mut race) {
            (Ok(Walked::Through), None) => {}
            (Ok(Walked::Exit(exit)), _) if exit.ends_all_loops(cx) && !exit.is_direct => {
                left = left.or(Some(exit))
            }
            (Err(error), Some(race)) if !error.is_of_run() => race.failed = Some(error),
            // Dropping the siblings cancels them; what they have committed stays.
            (ended, race) => {
                if let (Ok(_), Some(race)) = (&ended, race) {
                    race.winner = Some(index);
                }
                if away.has_sent() {
                    back(running, away, cx).await;
                } else {
                    drop(running);
                }
                if let Some(replay) = &cx.run.replay {
                    // What they had committed before the run was taken up again.
                    replay.cancelled(&cx.run, format!("{}/", cx.path()));
                    replay.cancelled(&cx.run, format!("{}[", cx.path()));
                }
                return ended;
            }
        }
    }
}

/// Cancels the branches that run here, and waits for those that are elsewhere: what they had committed is delivered.
///
/// Made here and not where it is awaited, whose frame on the stack would hold it: blocks nest.
fn back<'s>(
    mut running: Branches<BoxFuture<'s, Result<Walked>>>,
    away: &'s Away,
    cx: &'s Context,
) -> BoxFuture<'s, ()> {
    Box::pin(async move {
        let elsewhere = away.cancel();
        running.keep(|index| elsewhere.contains(&index));
        while poll_fn(|task| running.poll_next(task)).await.is_some() {}
        away.apply(cx).await;
    })
}
