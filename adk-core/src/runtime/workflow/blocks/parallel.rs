//! Blocks whose parts run concurrently: the branches of a `parallel` and the elements of an `each`.
//! The block waits for all parts, and cancels them when a part fails or leaves the block.

use super::discard::Discards;
use super::join::Branches;
use super::remote::RemoteBranchSet;
use crate::runtime::run::{Consumption, Context, Cut, KeyScope, measure};
use crate::runtime::workflow::steps::reads::Elements;
use crate::runtime::workflow::steps::{Exit, RunPart, Steps, Walked, boxed, scopes};
use crate::spec::OnError;
use crate::store::engine::BlockPart;
use crate::store::event::LEFT_OUT_KEY;
use crate::sync::lock;
use crate::{At, BoxFuture, Error, Event, Name, Path, Result};
use serde_json::{Value, json};
use std::collections::{BTreeSet, HashSet};
use std::future::poll_fn;
use std::ops::Range;
use std::sync::{Arc, Mutex};

impl Steps<'_> {
    /// Runs a `parallel` block.
    pub(crate) async fn run_parallel(
        &self,
        at: usize,
        limit: Option<u32>,
        cx: &mut Context,
    ) -> Result<Walked> {
        let discards = self.skips_failures(at).then(|| Discards::begin(cx));
        let remotes = Arc::<RemoteBranchSet>::default();
        let outcome = self.run_branches(at, limit, &remotes, None, cx).await?;
        match discards {
            Some(discards) => boxed(|| self.end_branches(at, outcome, discards, cx)).await,
            None => Ok(outcome.walked),
        }
    }

    /// Reports the branches that are left out, and undoes their writes and the writes of cancelled
    /// branches.
    pub(super) async fn end_branches(
        &self,
        at: usize,
        outcome: Box<PartsOutcome>,
        discards: Discards,
        cx: &mut Context,
    ) -> Result<Walked> {
        let kept = self
            .parts(at)
            .enumerate()
            .filter(|(index, _)| outcome.kept.contains(index));
        let kept: Vec<_> = kept
            .flat_map(|(_, branch)| self.step_names(&branch))
            .collect();
        let is_discarded =
            move |part: &BlockPart| !matches!(part, BlockPart::Step(name) if kept.contains(name));
        outcome.end(&discards, is_discarded, cx).await?;
        Ok(outcome.walked)
    }

    /// Runs the branches of a `parallel` block: all of them, or until one wins the race.
    ///
    /// An `async fn` would add its frame to each block, and blocks nest.
    pub(super) fn run_branches<'s>(
        &'s self,
        at: usize,
        limit: Option<u32>,
        remotes: &'s Arc<RemoteBranchSet>,
        race: Option<&'s mut Race>,
        cx: &'s Context,
    ) -> BoxFuture<'s, Result<Box<PartsOutcome>>> {
        let remote = cx.run.engine.remote();
        let spent = race
            .as_ref()
            .map(|race| race.spent.clone())
            .unwrap_or_default();
        let branches = self.parts(at).enumerate().map(move |(index, branch)| {
            let own = self.branch_context(index, &branch, cx);
            let path = || cx.path().child(self.workflow.name(branch.start), At::Once);
            let sent = remotes.send(index, path, &own, remote);
            let branch = sent.unwrap_or_else(|| self.run_part(branch, None, own));
            match spent.get(index) {
                Some(spent) => Box::pin(measure(
                    cx.run.clone(),
                    cx.around.meter.clone(),
                    spent.clone(),
                    branch,
                )),
                None => branch,
            }
        });
        let paths = self
            .parts(at)
            .map(|branch| cx.path().child(self.workflow.name(branch.start), At::Once));
        let skip = self.skippable_paths(at, paths);
        let begun = begun_parts(limit, cx, |begun| {
            self.parts(at)
                .map(|branch| {
                    self.step_names(&branch)
                        .iter()
                        .any(|name| begun.contains(&**name))
                })
                .collect()
        });
        run_parts(branches, (limit, begun), remotes, race, skip, cx)
    }

    /// Returns the context of the branch with the number `index` of the block at the current path.
    pub(super) fn branch_context(
        &self,
        index: usize,
        branch: &Range<usize>,
        cx: &Context,
    ) -> Context {
        let index = u32::try_from(index).unwrap_or(u32::MAX);
        let mut own = cx.for_branch(
            index,
            self.steps.get(branch.start).map_or("", |step| step.name),
        );
        if cx.config().escalate_ends_all_loops {
            own.cut = Some(Cut::new(cx.path().clone()));
        }
        own
    }

    /// Returns the paths of the branches or elements that are left out when they fail: all of
    /// `paths` under `on_error = skip`, otherwise none.
    fn skippable_paths(&self, at: usize, paths: impl Iterator<Item = Path>) -> Vec<Path> {
        if self.skips_failures(at) {
            paths.collect()
        } else {
            Vec::new()
        }
    }

    fn skips_failures(&self, at: usize) -> bool {
        self.steps[at].on_error == OnError::Skip
    }

    /// Runs the steps of an `each` once per element, and collects their writes in lists.
    ///
    /// An element begins with an event that holds its item. After all elements have ended, one
    /// event of the block holds the lists. A list has the order of the elements, whichever ended
    /// first, and leaves out elements that have not written the key.
    pub(crate) async fn run_each(
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
        let (remotes, scopes) = (Arc::<RemoteBranchSet>::default(), Mutex::default());
        let discards = self.skips_failures(at).then(|| Discards::begin(cx));
        let running = self.run_elements(
            at,
            item,
            (&elements.list, elements.count),
            limit,
            (&remotes, &scopes),
            cx,
        );
        let outcome = running.await?;
        boxed(|| self.end_elements(at, scopes, outcome, discards, cx)).await
    }

    /// Reports the elements that are left out, undoes their writes, and commits the lists of the
    /// other elements.
    async fn end_elements(
        &self,
        at: usize,
        scopes: Mutex<Vec<Arc<KeyScope>>>,
        outcome: Box<PartsOutcome>,
        discards: Option<Discards>,
        cx: &mut Context,
    ) -> Result<Walked> {
        if let Some(discards) = discards {
            let kept: BTreeSet<_> = outcome.kept.iter().map(|index| *index as u32).collect();
            let is_discarded = move |part: &BlockPart| match part {
                BlockPart::Element(at) => !kept.contains(at),
                _ => true,
            };
            outcome.end(&discards, is_discarded, cx).await?;
        }
        if let Walked::Through = outcome.walked {
            self.commit_lists(at, scopes, &outcome.failed, cx).await?;
        }
        Ok(outcome.walked)
    }

    /// Returns the future that runs the elements of an `each`. The function is not inlined, so that
    /// the future is not part of the frame that awaits it, as in [`boxed`].
    #[inline(never)]
    fn run_elements<'s>(
        &'s self,
        at: usize,
        item: &str,
        (list, count): (&'s Value, usize),
        limit: Option<u32>,
        (remotes, scopes): (&'s Arc<RemoteBranchSet>, &'s Mutex<Vec<Arc<KeyScope>>>),
        cx: &'s Context,
    ) -> BoxFuture<'s, Result<Box<PartsOutcome>>> {
        let body = at + 1..self.steps[at].end;
        let (each, item) = (self.workflow.name(at), Name::shared(item));
        let own: Vec<_> = self
            .written_keys(body.clone())
            .into_iter()
            .chain([item.clone()])
            .collect();
        let (known, remote) = (cx.known_with(&item), cx.run.engine.remote());
        let paths = (0..)
            .take(count)
            .map(|index| cx.path().with(At::Item(index)));
        let skip = self.skippable_paths(at, paths);
        let values = list.as_array().into_iter().flatten().take(count);
        let elements = (0..).zip(values).map(move |(index, value)| {
            let scope = Arc::new(scopes::element_scope(
                &each,
                index,
                &own,
                cx.around.scope.clone(),
            ));
            lock(scopes).push(scope.clone());
            let mut element = cx.for_element(index, scope);
            element.around.known.clone_from(&known);
            if let Some(sent) =
                remotes.send(index as usize, || element.path().clone(), &element, remote)
            {
                return sent;
            }
            self.run_part(
                body.clone(),
                Some((item.clone(), Arc::new(value.clone()))),
                element,
            )
        });
        let begun = begun_parts(limit, cx, |begun| {
            (0..count)
                .map(|index| begun.contains(&format!("[{index}]")))
                .collect()
        });
        run_parts(elements, (limit, begun), remotes, None, skip, cx)
    }

    /// Commits the lists of the elements that are not left out.
    async fn commit_lists(
        &self,
        at: usize,
        scopes: Mutex<Vec<Arc<KeyScope>>>,
        failed: &[FailedPart],
        cx: &mut Context,
    ) -> Result<()> {
        let keys = self.written_keys(at + 1..self.steps[at].end);
        if keys.is_empty() {
            return Ok(());
        }
        let is_left_out = |index: usize| failed.iter().any(|(failed, ..)| *failed == index);
        let scopes = std::mem::take(&mut *lock(&scopes)).into_iter().enumerate();
        let scopes = scopes
            .filter(|(index, _)| !is_left_out(*index))
            .map(|(_, scope)| scope);
        gather(&keys, scopes, cx).await
    }
}

/// Commits the lists of the values that the elements have written.
fn gather<'a>(
    keys: &[Name],
    elements: impl Iterator<Item = Arc<KeyScope>>,
    cx: &'a mut Context,
) -> BoxFuture<'a, Result<()>> {
    let (mut event, elements) = (Event::new(), elements.collect::<Vec<_>>());
    for key in keys {
        let values = elements
            .iter()
            .filter_map(|scope| cx.run.value(Some(scope), key));
        let list: Vec<_> = values.map(|value| Value::clone(&value)).collect();
        event
            .actions
            .state_delta
            .insert(key.clone(), Value::Array(list));
    }
    Box::pin(async move { cx.emit(event).await.map(drop) })
}

/// Leaves out a failed branch or element. From here on its failed calls count as results, so that a
/// resumed run leaves it out too.
async fn leave_out(index: usize, path: &Path, error: Error, cx: &Context) -> Result<FailedPart> {
    for path in [path, cx.path()] {
        if let Some(settled) = cx.run.settle(path) {
            settled.await?;
        }
    }
    Ok((index, path.clone(), error.to_string()))
}

/// Branches that race: the first branch that finishes wins.
#[derive(Default)]
pub(super) struct Race {
    /// Consumption of each branch.
    pub(super) spent: Vec<Arc<Mutex<Consumption>>>,
    /// Number of the branch that has won.
    pub(super) winner: Option<usize>,
    /// Last error of a failed branch.
    failed: Option<Error>,
}

impl Race {
    /// Makes a race of `branches` branches.
    pub(super) fn new(branches: usize) -> Self {
        let spent = std::iter::repeat_with(Arc::default)
            .take(branches)
            .collect();
        Self {
            spent,
            ..Self::default()
        }
    }
}

/// A failed branch or element: its number, its path, and its error.
type FailedPart = (usize, Path, String);

/// How the branches or elements of a block have ended.
pub(super) struct PartsOutcome {
    pub(super) walked: Walked,
    /// Branches or elements that are left out because they failed.
    failed: Vec<FailedPart>,
    /// Numbers of the branches or elements that have ended by themselves and without an error.
    kept: Vec<usize>,
}

impl PartsOutcome {
    /// Reports the branches or elements that are left out with their errors, and undoes the writes
    /// of the discarded ones.
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
        let failed =
            failed.map(|(_, path, error)| json!({"path": path.to_string(), "error": error}));
        let event =
            Event::new().with_metadata(LEFT_OUT_KEY, json!({"failed": failed.collect::<Vec<_>>()}));
        discards.commit(event, is_discarded, cx).await
    }
}

/// Returns how many branches or elements of a block had begun before the run was resumed, counted
/// from the first one. The resumed run begins all of them at once, even if `max_concurrency` has
/// changed, because their events may alternate in the journal.
fn begun_parts(
    limit: Option<u32>,
    cx: &Context,
    parts: impl FnOnce(&HashSet<String>) -> Vec<bool>,
) -> usize {
    let replay = cx
        .run
        .kind
        .replay()
        .filter(|replay| limit.is_some() && !replay.is_over());
    let begun = replay
        .map(|replay| parts(&replay.journal.parts_begun(cx.path())))
        .unwrap_or_default();
    begun
        .iter()
        .rposition(|begun| *begun)
        .map_or(0, |last| last + 1)
}

/// Runs the branches or elements of a block: at most `limit.0` at a time, but the first `limit.1`
/// at once. The iterator creates a future when the branch or element begins. A failed branch or
/// element is left out if `skip` has its path, and is listed in the outcome.
fn run_parts<'s>(
    waiting: impl Iterator<Item = BoxFuture<'s, Result<Walked>>> + Send + 's,
    limit: (Option<u32>, usize),
    remotes: &'s RemoteBranchSet,
    race: Option<&'s mut Race>,
    skip: Vec<Path>,
    cx: &'s Context,
) -> BoxFuture<'s, Result<Box<PartsOutcome>>> {
    // The future is boxed here so that it is not part of the frame that awaits it.
    Box::pin(join_parts(waiting, limit, remotes, race, skip, cx))
}

async fn join_parts<'s>(
    mut waiting: impl Iterator<Item = BoxFuture<'s, Result<Walked>>>,
    (limit, begun): (Option<u32>, usize),
    remotes: &'s RemoteBranchSet,
    race: Option<&'s mut Race>,
    skip: Vec<Path>,
    cx: &'s Context,
) -> Result<Box<PartsOutcome>> {
    let limit = limit.map_or(usize::MAX, |n| n.max(1) as usize);
    let _joining = cx.join_branches();
    let mut joined = JoinState {
        left: None,
        failed: Vec::new(),
        kept: Vec::new(),
        race,
    };
    let mut running = Branches::default();
    loop {
        while (running.live_count() < limit || running.begun_count() < begun)
            && let Some(branch) = waiting.next()
        {
            running.push(branch);
        }
        let Some((index, ended)) = poll_fn(|task| running.poll_next(task)).await else {
            if remotes.has_sent() {
                boxed(|| remotes.apply(cx)).await;
            }
            return joined.finish();
        };
        let is_over = ended.is_ok();
        match joined.end_part(index, ended, index < skip.len(), cx) {
            AfterPart::Continue => {
                if let Some(withdrawn) = cx.run.withdraw_lost_in(cx.path(), is_over) {
                    withdrawn.await?;
                }
            }
            AfterPart::LeaveOut(error) => {
                joined
                    .failed
                    .push(boxed(|| leave_out(index, &skip[index], error, cx)).await?);
            }
            // The drop of the siblings cancels them; their committed events stay.
            AfterPart::End(ended) => {
                if remotes.has_sent() {
                    cancel_rest(running, remotes, cx).await;
                } else {
                    drop(running);
                }
                replay_cancelled(cx);
                if is_over && let Some(withdrawn) = cx.run.withdraw_lost_in(cx.path(), true) {
                    withdrawn.await?;
                }
                let kept = joined.kept;
                return ended.map(|walked| {
                    Box::new(PartsOutcome {
                        walked,
                        failed: Vec::new(),
                        kept,
                    })
                });
            }
        }
    }
}

/// The results of the branches or elements that have ended. Its methods are not inlined, so that
/// they are not part of the frame that awaits the unfinished ones, as in [`boxed`].
struct JoinState<'s> {
    left: Option<Exit>,
    failed: Vec<FailedPart>,
    kept: Vec<usize>,
    race: Option<&'s mut Race>,
}

/// The reaction of a block to the end of a branch or element.
enum AfterPart {
    Continue,
    LeaveOut(Error),
    End(Result<Walked>),
}

impl JoinState<'_> {
    #[inline(never)]
    fn end_part(
        &mut self,
        index: usize,
        ended: Result<Walked>,
        may_skip: bool,
        cx: &Context,
    ) -> AfterPart {
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
    fn finish(mut self) -> Result<Box<PartsOutcome>> {
        self.failed.sort_unstable_by_key(|(index, ..)| *index);
        match (self.left, self.race.and_then(|race| race.failed.take())) {
            (Some(exit), _) => Ok(Walked::Exit(exit)),
            (None, Some(error)) => Err(error),
            (None, None) => Ok(Walked::Through),
        }
        .map(|walked| {
            Box::new(PartsOutcome {
                walked,
                failed: self.failed,
                kept: self.kept,
            })
        })
    }
}

/// Applies the recorded events of cancelled branches or elements, which do not emit them again.
#[inline(never)]
fn replay_cancelled(cx: &Context) {
    if let Some(replay) = cx.run.kind.replay() {
        replay.drop_branches(&cx.run, format!("{}/", cx.path()));
        replay.drop_branches(&cx.run, format!("{}[", cx.path()));
    }
}

/// Cancels the branches that run in this process, waits for the remote branches, and delivers the
/// events that the remote branches had committed.
///
/// The future is boxed in this function, so that it is not part of the frame that awaits it: blocks
/// nest.
fn cancel_rest<'s>(
    mut running: Branches<BoxFuture<'s, Result<Walked>>>,
    remotes: &'s RemoteBranchSet,
    cx: &'s Context,
) -> BoxFuture<'s, ()> {
    Box::pin(async move {
        let pending = remotes.cancel();
        running.retain(|index| pending.contains(&index));
        while poll_fn(|task| running.poll_next(task)).await.is_some() {}
        remotes.apply(cx).await;
    })
}
