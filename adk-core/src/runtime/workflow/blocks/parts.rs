//! The parts of a block: the branches of a `parallel` or the elements of an `each`, which run
//! concurrently. The block waits for all parts, and cancels them when a part fails or leaves the
//! block.

use super::discard::Discards;
use super::join::Branches;
use super::remote::RemoteBranchSet;
use crate::runtime::run::{Consumption, Context};
use crate::runtime::workflow::steps::{Exit, Walked, boxed};
use crate::spec::SkipLimit;
use crate::store::engine::BlockPart;
use crate::store::event::LEFT_OUT_KEY;
use crate::{BoxFuture, Error, Event, Path, Result};
use serde_json::json;
use std::collections::HashSet;
use std::future::poll_fn;
use std::sync::{Arc, Mutex};
use std::task::Waker;

/// Leaves out a failed branch or element. From here on its failed calls count as results, so that a
/// resumed run leaves it out too.
async fn leave_out(part: FailedPart, cx: &Context) -> Result<FailedPart> {
    for path in [&part.path, cx.path()] {
        if let Some(settled) = cx.run.settle(path) {
            settled.await?;
        }
    }
    Ok(part)
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

/// A failed branch or element.
pub(super) struct FailedPart {
    pub(super) index: usize,
    path: Path,
    error: Error,
}

/// How the branches or elements of a block have ended.
pub(super) struct PartsOutcome {
    pub(super) walked: Walked,
    /// Branches or elements that are left out because they failed.
    pub(super) failed: Vec<FailedPart>,
    /// Numbers of the branches or elements that have ended by themselves and without an error.
    pub(super) kept: Vec<usize>,
}

impl PartsOutcome {
    /// Reports the branches or elements that are left out with their errors, and undoes the writes
    /// of the discarded ones.
    pub(super) async fn end(
        &self,
        discards: &Discards,
        is_discarded: impl Fn(&BlockPart) -> bool + Clone + Send + 'static,
        cx: &mut Context,
    ) -> Result<()> {
        if self.failed.is_empty() || !matches!(self.walked, Walked::Through) {
            return discards.commit_cancelled(is_discarded, cx).await;
        }
        let failed = self.failed.iter();
        let failed = failed.map(|FailedPart { path, error, .. }| {
            json!({"path": path.to_string(), "error": error.to_string()})
        });
        let event =
            Event::new().with_metadata(LEFT_OUT_KEY, json!({"failed": failed.collect::<Vec<_>>()}));
        discards.commit(event, is_discarded, cx).await
    }
}

/// Returns how many branches or elements of a block had begun before the run was resumed, counted
/// from the first one. The resumed run begins all of them at once, even if `max_concurrency` has
/// changed, because their events may alternate in the journal.
pub(super) fn begun_parts(
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

/// How a block runs its branches or elements.
pub(super) struct JoinRules {
    /// Largest number of branches or elements that run at a time.
    pub(super) limit: Option<u32>,
    /// Number of branches or elements that begin at once despite `limit`.
    pub(super) begun: usize,
    /// Paths of the branches or elements that are left out when they fail.
    pub(super) skip: Vec<Path>,
    /// Limit of the elements that are left out.
    pub(super) skip_limit: Option<SkipLimit>,
    /// Number of elements, whose progress is reported; `None` for branches.
    pub(super) elements: Option<usize>,
}

/// Runs the branches or elements of a block. The iterator creates a future when the branch or
/// element begins.
pub(super) fn run_parts<'s>(
    waiting: impl Iterator<Item = BoxFuture<'s, Result<Walked>>> + Send + 's,
    rules: JoinRules,
    remotes: &'s RemoteBranchSet,
    race: Option<&'s mut Race>,
    cx: &'s Context,
) -> BoxFuture<'s, Result<Box<PartsOutcome>>> {
    // The future is boxed here so that it is not part of the frame that awaits it.
    Box::pin(join_parts(waiting, rules, remotes, race, cx))
}

async fn join_parts<'s>(
    mut waiting: impl Iterator<Item = BoxFuture<'s, Result<Walked>>>,
    rules: JoinRules,
    remotes: &'s RemoteBranchSet,
    race: Option<&'s mut Race>,
    cx: &'s Context,
) -> Result<Box<PartsOutcome>> {
    let limit = rules.limit.map_or(usize::MAX, |n| n.max(1) as usize);
    let _joining = cx.join_branches();
    let mut joined = JoinState {
        left: None,
        failed: Vec::new(),
        kept: Vec::new(),
        race,
    };
    let mut progress = Progress::new(rules.elements, cx);
    let mut running = Branches::default();
    loop {
        while (running.live_count() < limit || running.begun_count() < rules.begun)
            && let Some(branch) = waiting.next()
        {
            running.push(branch);
        }
        let next = poll_fn(|task| {
            let polled = running.poll_next(task);
            if polled.is_pending() {
                progress.report_replayed(&joined, &running, task.waker(), cx);
            }
            polled
        });
        let Some((index, ended)) = next.await else {
            progress.report_all_replayed(&joined, cx);
            if remotes.has_sent() {
                boxed(|| remotes.apply(cx)).await;
            }
            return joined.finish();
        };
        let is_over = ended.is_ok();
        match joined.end_part(index, ended, &rules, cx) {
            AfterPart::Continue => {
                if let Some(withdrawn) = cx.run.withdraw_lost_in(cx.path(), is_over) {
                    withdrawn.await?;
                }
            }
            AfterPart::LeaveOut(part) => {
                joined.failed.push(boxed(|| leave_out(part, cx)).await?);
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
        progress.report(&joined, cx);
    }
}

/// The reports of the progress of an `each`, as lifecycle events.
enum Progress {
    /// No reports: a block with branches, or a run without lifecycle events.
    Off,
    /// The run repeats its recorded part. The elements that end in it are reported after it.
    Replaying {
        total: usize,
    },
    On {
        total: usize,
    },
}

impl Progress {
    /// Reports the start of the elements, unless the block is in the recorded part of a run.
    fn new(elements: Option<usize>, cx: &Context) -> Self {
        match elements.filter(|_| cx.config().lifecycle_events) {
            None => Self::Off,
            Some(total) if cx.run.kind.active_replay().is_some() => Self::Replaying { total },
            Some(total) => {
                cx.report_progress(0, 0, total);
                Self::On { total }
            }
        }
    }

    /// Reports the elements that have ended.
    fn report(&self, joined: &JoinState<'_>, cx: &Context) {
        if let Self::On { total } = self {
            let skipped = joined.failed.len();
            cx.report_progress(joined.kept.len() + skipped, skipped, *total);
        }
    }

    /// Reports the elements that have ended in the recorded part of a run, once the run has
    /// repeated that part and no element can continue. Until then `waker` is woken when this may
    /// have changed.
    fn report_replayed<F: Future + Unpin>(
        &mut self,
        joined: &JoinState<'_>,
        running: &Branches<F>,
        waker: &Waker,
        cx: &Context,
    ) {
        let Self::Replaying { total } = *self else {
            return;
        };
        let replay = cx.run.kind.replay();
        if replay.is_none_or(|replay| replay.poll_over(waker)) && running.is_idle() {
            *self = Self::On { total };
            self.report(joined, cx);
        }
    }

    /// Reports that all elements have ended, if all ended in the recorded part of a run and the
    /// recorded part does not contain the end of the block.
    fn report_all_replayed(&self, joined: &JoinState<'_>, cx: &Context) {
        if let Self::Replaying { total } = *self
            && cx.run.kind.active_replay().is_none()
        {
            Self::On { total }.report(joined, cx);
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
    LeaveOut(FailedPart),
    End(Result<Walked>),
}

impl JoinState<'_> {
    #[inline(never)]
    fn end_part(
        &mut self,
        index: usize,
        ended: Result<Walked>,
        rules: &JoinRules,
        cx: &Context,
    ) -> AfterPart {
        if ended.is_ok() {
            self.kept.push(index);
        }
        let skipped = rules.skip.get(index);
        match (ended, &mut self.race) {
            (Ok(Walked::Through), None) => AfterPart::Continue,
            (Ok(Walked::Exit(exit)), _) if exit.ends_all_loops(cx) && !exit.is_direct => {
                self.left.get_or_insert(exit);
                AfterPart::Continue
            }
            (Err(error), _)
                if let Some(path) = skipped
                    && cx.may_continue(&error) =>
            {
                let path = path.clone();
                let part = FailedPart { index, path, error };
                match self.check_limit(part, rules, cx) {
                    Ok(part) => AfterPart::LeaveOut(part),
                    Err(error) => AfterPart::End(Err(error)),
                }
            }
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

    /// Returns a failed branch or element if it may be left out.
    ///
    /// # Errors
    /// When too many elements have failed.
    fn check_limit(
        &mut self,
        part: FailedPart,
        rules: &JoinRules,
        cx: &Context,
    ) -> Result<FailedPart> {
        let Some(limit) = rules.skip_limit else {
            return Ok(part);
        };
        let (all, most) = (rules.skip.len(), limit.of_elements(rules.skip.len()));
        // A block whose end is in the journal has kept a former limit.
        let replay = cx.run.kind.active_replay();
        let has_ended = replay.is_some_and(|replay| replay.next_event(cx.path()).is_some());
        if self.failed.len() < most || has_ended {
            return Ok(part);
        }
        self.failed.push(part);
        // The first one in the order of the source: a resumed run may see another order of time.
        self.failed.sort_unstable_by_key(|part| part.index);
        let count = self.failed.len();
        let FailedPart { path, error, .. } = self.failed.swap_remove(0);
        let path = error.path().unwrap_or(&path);
        let message = format!(
            "{count} of {all} elements have failed, and `on_error = skip(max = {limit})` leaves out \
             at most {most}; the first is `{path}`: {}",
            error.message()
        );
        let help = error.help().unwrap_or("remove the cause of the failures");
        let help = format!("{help}; or raise `max`");
        Err(Error::new(error.kind(), message)
            .with_help(help)
            .with_source(error)
            .at(cx.path()))
    }

    #[inline(never)]
    fn finish(mut self) -> Result<Box<PartsOutcome>> {
        self.failed.sort_unstable_by_key(|part| part.index);
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
