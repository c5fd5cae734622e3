//! Blocks whose parts run at the same time: joined, and cancelled with the first that fails or leaves.

use super::away::Away;
use super::discard::Discards;
use super::join::Branches;
use super::reads::Elements;
use super::scopes;
use super::walk::{Exit, Walk, Walked, boxed};
use crate::runtime::run::{Consumption, Context, Cut, KeyScope, LoopEndReason, measure};
use crate::spec::{AgentKind, OnError, StepKind};
use crate::store::engine::BlockPart;
use crate::store::event::LEFT_OUT_KEY;
use crate::sync::lock;
use crate::{At, BoxFuture, Error, Event, Name, Path, Result};
use serde_json::{Value, json};
use std::collections::{BTreeSet, HashSet};
use std::future::poll_fn;
use std::ops::Range;
use std::pin::pin;
use std::sync::{Arc, Mutex};
use std::task::Poll;

impl Walk<'_> {
    /// Runs the branches of a parallel.
    pub(super) async fn parallel(&self, at: usize, limit: Option<u32>, cx: &mut Context) -> Result<Walked> {
        let discards = self.skips(at).then(|| Discards::begin(cx));
        let away = Arc::<Away>::default();
        let ran = self.branches(at, limit, &away, None, cx).await?;
        match discards {
            Some(discards) => boxed(|| self.end_branches(at, ran, discards, cx)).await,
            None => Ok(ran.walked),
        }
    }

    /// Says which branches are left out, and undoes what they and those that were cancelled have written.
    pub(super) async fn end_branches(
        &self,
        at: usize,
        ran: Box<Ran>,
        discards: Discards,
        cx: &mut Context,
    ) -> Result<Walked> {
        let kept = self.parts(at).enumerate().filter(|(index, _)| ran.kept.contains(index));
        let kept: Vec<_> = kept.flat_map(|(_, branch)| self.names(&branch)).collect();
        let is_discarded =
            move |part: &BlockPart| !matches!(part, BlockPart::Step(name) if kept.contains(name));
        ran.end(&discards, is_discarded, cx).await?;
        Ok(ran.walked)
    }

    /// Runs the branches of a parallel; all of them, unless they race.
    ///
    /// Not an `async fn`: its frame would be one more of each block, and blocks nest.
    pub(super) fn branches<'s>(
        &'s self,
        at: usize,
        limit: Option<u32>,
        away: &'s Arc<Away>,
        race: Option<&'s mut Race>,
        cx: &'s Context,
    ) -> BoxFuture<'s, Result<Box<Ran>>> {
        let remote = cx.run.engine.remote();
        let spent = race.as_ref().map(|race| race.spent.clone()).unwrap_or_default();
        let branches = self.parts(at).enumerate().map(move |(index, branch)| {
            let own = self.branch_context(index, &branch, cx);
            let path = || cx.path().child(self.workflow.name(branch.start), At::Once);
            let sent = away.send(index, path, &own, remote);
            let branch = sent.unwrap_or_else(|| self.branch(branch, None, own));
            match spent.get(index) {
                Some(spent) => Box::pin(measure(cx.run.clone(), cx.meter.clone(), spent.clone(), branch)),
                None => branch,
            }
        });
        let paths = self.parts(at).map(|branch| cx.path().child(self.workflow.name(branch.start), At::Once));
        let skip = self.skip(at, paths);
        let begun = begun(limit, cx, |begun| {
            self.parts(at)
                .map(|branch| self.names(&branch).iter().any(|name| begun.contains(&**name)))
                .collect()
        });
        together(branches, (limit, begun), away, race, skip, cx)
    }

    /// The context of a branch of the parallel at this path, which is the `index`th of its block.
    pub(super) fn branch_context(&self, index: usize, branch: &Range<usize>, cx: &Context) -> Context {
        let index = u32::try_from(index).unwrap_or(u32::MAX);
        let mut own = cx.for_branch(index, self.steps.get(branch.start).map_or("", |step| step.name));
        if cx.config().escalate_ends_all_loops {
            own.cut = Some(Cut::new(cx.path().clone()));
        }
        own
    }

    /// The paths of the parts of a block that are left out when they fail: all, or none.
    fn skip(&self, at: usize, paths: impl Iterator<Item = Path>) -> Vec<Path> {
        if self.skips(at) { paths.collect() } else { Vec::new() }
    }

    fn skips(&self, at: usize) -> bool {
        self.steps[at].on_error == OnError::Skip
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
        if let Some(event) = elements.left_out {
            cx.emit_boxed(*event).await?;
        }
        let (away, scopes) = (Arc::<Away>::default(), Mutex::default());
        let discards = self.skips(at).then(|| Discards::begin(cx));
        let running = self.elements(at, item, (&elements.list, elements.count), limit, (&away, &scopes), cx);
        let ran = running.await?;
        boxed(|| self.end_elements(at, scopes, ran, discards, cx)).await
    }

    /// Says which elements are left out, undoes what they have written, and commits the lists of the others.
    async fn end_elements(
        &self,
        at: usize,
        scopes: Mutex<Vec<Arc<KeyScope>>>,
        ran: Box<Ran>,
        discards: Option<Discards>,
        cx: &mut Context,
    ) -> Result<Walked> {
        if let Some(discards) = discards {
            let kept: BTreeSet<_> = ran.kept.iter().map(|index| *index as u32).collect();
            let is_discarded =
                move |part: &BlockPart| !matches!(part, BlockPart::Element(at) if kept.contains(at));
            ran.end(&discards, is_discarded, cx).await?;
        }
        if let Walked::Through = ran.walked {
            self.lists(at, scopes, &ran.failed, cx).await?;
        }
        Ok(ran.walked)
    }

    /// The elements of an `each`, running. Made outside of the frame that awaits them, as in [`boxed`].
    #[inline(never)]
    fn elements<'s>(
        &'s self,
        at: usize,
        item: &str,
        (list, count): (&'s Value, usize),
        limit: Option<u32>,
        (away, scopes): (&'s Arc<Away>, &'s Mutex<Vec<Arc<KeyScope>>>),
        cx: &'s Context,
    ) -> BoxFuture<'s, Result<Box<Ran>>> {
        let body = at + 1..self.steps[at].end;
        let (each, item) = (self.workflow.name(at), Name::shared(item));
        let own: Vec<_> = self.written(body.clone()).into_iter().chain([item.clone()]).collect();
        let (known, remote) = (cx.known_with(&item), cx.run.engine.remote());
        let paths = (0..).take(count).map(|index| cx.path().with(At::Item(index)));
        let skip = self.skip(at, paths);
        let values = list.as_array().into_iter().flatten().take(count);
        let elements = (0..).zip(values).map(move |(index, value)| {
            let scope = Arc::new(scopes::of_element(&each, index, &own, cx.scope.clone()));
            lock(scopes).push(scope.clone());
            let mut element = cx.for_element(index, scope);
            element.known.clone_from(&known);
            if let Some(sent) = away.send(index as usize, || element.path().clone(), &element, remote) {
                return sent;
            }
            self.branch(body.clone(), Some((item.clone(), Arc::new(value.clone()))), element)
        });
        let begun =
            begun(limit, cx, |begun| (0..count).map(|index| begun.contains(&format!("[{index}]"))).collect());
        together(elements, (limit, begun), away, None, skip, cx)
    }

    /// Commits the lists of the elements that are not left out.
    async fn lists(
        &self,
        at: usize,
        scopes: Mutex<Vec<Arc<KeyScope>>>,
        failed: &[FailedPart],
        cx: &mut Context,
    ) -> Result<()> {
        let keys = self.written(at + 1..self.steps[at].end);
        if keys.is_empty() {
            return Ok(());
        }
        let is_left_out = |index: usize| failed.iter().any(|(failed, ..)| *failed == index);
        let scopes = std::mem::take(&mut *lock(&scopes)).into_iter().enumerate();
        let scopes = scopes.filter(|(index, _)| !is_left_out(*index)).map(|(_, scope)| scope);
        gather(&keys, scopes, cx).await
    }

    /// The keys that steps can write, sorted.
    pub(super) fn written(&self, steps: Range<usize>) -> Vec<Name> {
        let steps = self.steps.get(steps).unwrap_or_default();
        let keys = steps.iter().flat_map(scopes::written);
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
                None => self.steps(range, &mut own).await,
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
        let walked = poll_fn(|task| match (walk.as_mut().poll(task), cut.ended_by()) {
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
fn gather<'a>(
    keys: &[Name],
    elements: impl Iterator<Item = Arc<KeyScope>>,
    cx: &'a mut Context,
) -> BoxFuture<'a, Result<()>> {
    let (mut event, elements) = (Event::new(), elements.collect::<Vec<_>>());
    for key in keys {
        let values = elements.iter().filter_map(|scope| cx.run.value(Some(scope), key));
        let list: Vec<_> = values.map(|value| Value::clone(&value)).collect();
        event.actions.state_delta.insert(key.clone(), Value::Array(list));
    }
    Box::pin(async move { cx.emit(event).await.map(drop) })
}

/// Leaves a part out that has failed. From here on its failed calls are results: a run that is taken up again leaves out the
/// same.
async fn leave_out(index: usize, path: &Path, error: Error, cx: &Context) -> Result<FailedPart> {
    for path in [path, cx.path()] {
        if let Some(settled) = cx.run.settle(path) {
            settled.await?;
        }
    }
    Ok((index, path.clone(), error.to_string()))
}

/// Branches that race: the first one that finishes wins.
#[derive(Default)]
pub(super) struct Race {
    /// What each of them uses.
    pub(super) spent: Vec<Arc<Mutex<Consumption>>>,
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

/// A part that has failed: its number, its path, and why.
type FailedPart = (usize, Path, String);

/// How the parts of a block have ended.
pub(super) struct Ran {
    pub(super) walked: Walked,
    /// Those that are left out.
    failed: Vec<FailedPart>,
    /// Those that have ended by themselves, without an error.
    kept: Vec<usize>,
}

impl Ran {
    /// Says what was left out of a block, and why, and undoes what the discarded parts have written.
    async fn end(
        &self,
        discards: &Discards,
        is_discarded: impl Fn(&BlockPart) -> bool + Clone + Send + 'static,
        cx: &mut Context,
    ) -> Result<()> {
        if self.failed.is_empty() || !matches!(self.walked, Walked::Through) {
            return discards.commit_cancelled(is_discarded, cx).await;
        }
        let failed = self.failed.iter();
        let failed = failed.map(|(_, path, error)| json!({"path": path.to_string(), "error": error}));
        let event = Event::new().with_metadata(LEFT_OUT_KEY, json!({"failed": failed.collect::<Vec<_>>()}));
        discards.commit(event, is_discarded, cx).await
    }
}

/// How many parts of a block have begun before, from the first on. A resumed run begins these again whatever
/// `max_concurrency` it has now: what the journal holds of one may come between what it holds of another.
fn begun(limit: Option<u32>, cx: &Context, parts: impl FnOnce(&HashSet<String>) -> Vec<bool>) -> usize {
    let replay = cx.run.replay.as_ref().filter(|replay| limit.is_some() && !replay.is_over());
    let begun = replay.map(|replay| parts(&replay.parts_begun(cx.path()))).unwrap_or_default();
    begun.iter().rposition(|begun| *begun).map_or(0, |last| last + 1)
}

/// Runs branches, `limit.0` at a time, and those before `limit.1` at once. Each is made when it begins. Those that fail are left out where `skip` has their
/// paths, and come back in their order.
fn together<'s>(
    waiting: impl Iterator<Item = BoxFuture<'s, Result<Walked>>> + Send + 's,
    limit: (Option<u32>, usize),
    away: &'s Away,
    race: Option<&'s mut Race>,
    skip: Vec<Path>,
    cx: &'s Context,
) -> BoxFuture<'s, Result<Box<Ran>>> {
    // As with `back` below: not a part of the frame that awaits it.
    Box::pin(run(waiting, limit, away, race, skip, cx))
}

async fn run<'s>(
    mut waiting: impl Iterator<Item = BoxFuture<'s, Result<Walked>>>,
    (limit, begun): (Option<u32>, usize),
    away: &'s Away,
    race: Option<&'s mut Race>,
    skip: Vec<Path>,
    cx: &'s Context,
) -> Result<Box<Ran>> {
    let limit = limit.map_or(usize::MAX, |n| n.max(1) as usize);
    let _joining = cx.join_branches();
    let mut joined = JoinState { left: None, failed: Vec::new(), kept: Vec::new(), race };
    let mut running = Branches::default();
    loop {
        while (running.live() < limit || running.begun() < begun)
            && let Some(branch) = waiting.next()
        {
            running.push(branch);
        }
        let Some((index, ended)) = poll_fn(|task| running.poll_next(task)).await else {
            if away.has_sent() {
                boxed(|| away.apply(cx)).await;
            }
            return joined.finish();
        };
        let is_over = ended.is_ok();
        match joined.ended(index, ended, index < skip.len(), cx) {
            AfterPart::Continue => {
                if let Some(withdrawn) = cx.run.withdraw_lost_in(cx.path(), is_over) {
                    withdrawn.await?;
                }
            }
            AfterPart::LeaveOut(error) => {
                joined.failed.push(boxed(|| leave_out(index, &skip[index], error, cx)).await?);
            }
            // Dropping the siblings cancels them; what they have committed stays.
            AfterPart::End(ended) => {
                if away.has_sent() {
                    back(running, away, cx).await;
                } else {
                    drop(running);
                }
                cancelled(cx);
                if is_over && let Some(withdrawn) = cx.run.withdraw_lost_in(cx.path(), true) {
                    withdrawn.await?;
                }
                let kept = joined.kept;
                return ended.map(|walked| Box::new(Ran { walked, failed: Vec::new(), kept }));
            }
        }
    }
}

/// What has come of the parts that have ended. Its methods are no part of the frame that awaits the others, as in [`boxed`].
struct JoinState<'s> {
    left: Option<Exit>,
    failed: Vec<FailedPart>,
    kept: Vec<usize>,
    race: Option<&'s mut Race>,
}

/// What follows from the end of a part.
enum AfterPart {
    Continue,
    LeaveOut(Error),
    End(Result<Walked>),
}

impl JoinState<'_> {
    #[inline(never)]
    fn ended(&mut self, index: usize, ended: Result<Walked>, may_skip: bool, cx: &Context) -> AfterPart {
        if ended.is_ok() {
            self.kept.push(index);
        }
        match (ended, &mut self.race) {
            (Ok(Walked::Through), None) => AfterPart::Continue,
            (Ok(Walked::Exit(exit)), _) if exit.ends_all_loops(cx) && !exit.is_direct => {
                self.left.get_or_insert(exit);
                AfterPart::Continue
            }
            (Err(error), _) if may_skip && cx.may_continue(&error) => AfterPart::LeaveOut(error),
            (Err(error), Some(race)) if cx.may_continue(&error) => {
                race.failed = Some(error);
                AfterPart::Continue
            }
            (ended, race) => {
                if let (Ok(_), Some(race)) = (&ended, race) {
                    race.winner = Some(index);
                }
                AfterPart::End(ended)
            }
        }
    }

    #[inline(never)]
    fn finish(mut self) -> Result<Box<Ran>> {
        self.failed.sort_unstable_by_key(|(index, ..)| *index);
        match (self.left, self.race.and_then(|race| race.failed.take())) {
            (Some(exit), _) => Ok(Walked::Exit(exit)),
            (None, Some(error)) => Err(error),
            (None, None) => Ok(Walked::Through),
        }
        .map(|walked| Box::new(Ran { walked, failed: self.failed, kept: self.kept }))
    }
}

/// What cancelled parts had committed before the run was taken up again.
#[inline(never)]
fn cancelled(cx: &Context) {
    if let Some(replay) = &cx.run.replay {
        replay.drop_branches(&cx.run, format!("{}/", cx.path()));
        replay.drop_branches(&cx.run, format!("{}[", cx.path()));
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
