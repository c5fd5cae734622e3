//! The walk over the flat list of steps: an exit is a jump, only what runs at the same time recurses.

mod end;
mod exit;

use self::end::Next;
pub(super) use self::exit::{Exit, Walked};
use super::lifecycle::{self, Begun, Who};
use super::reads;
use super::turn::{is_plain, plain, turn};
use super::wired::Wired;
use crate::runtime::run::{Context, Frame, LifecycleOutcome, LifecycleReporter, LoopEndReason, Meter};
use crate::spec::{NodeKind, Step, StepKind};
use crate::{At, BoxFuture, Error, ErrorKind, Name, Result};
use adk_spec::__private::Cost;
use std::future::ready;
use std::ops::Range;
use std::sync::Arc;

/// A block that the walk is in.
pub(super) struct Open {
    pub(super) at: usize,
    /// What the context was before the block was entered.
    outer: Frame,
    /// The round, for a loop; otherwise 0.
    pub(super) round: u32,
    /// How many rounds the record holds, once that was asked.
    begun: Option<u32>,
    /// An exit that has to wait until the block has run on to its end (`RunConfig::escalate_ends_all_loops`).
    escalated: Option<Box<Exit>>,
    /// The meter around, of a block with a budget.
    meter: Option<Option<Arc<Meter>>>,
    /// Tells of its end, where that was asked for, and how it ended.
    watch: Option<Box<(Box<LifecycleReporter>, LifecycleOutcome)>>,
}

impl Open {
    /// Keeps how it ended, for its last lifecycle event.
    fn ends(&mut self, outcome: impl FnOnce() -> LifecycleOutcome) {
        if let Some(watch) = &mut self.watch {
            watch.1 = outcome();
        }
    }
}

pub(super) struct Walk<'a> {
    pub(super) workflow: &'a (dyn Wired + Sync),
    pub(super) steps: &'a [Step<'a>],
}

impl<'a> Walk<'a> {
    pub(super) async fn steps(&self, range: Range<usize>, cx: &mut Context) -> Result<Walked> {
        let mut open: Vec<Open> = Vec::new();
        let walked = boxed(|| self.walk(range, &mut open, cx)).await;
        if !open.is_empty() {
            Box::pin(self.give_up(open, walked.as_ref().err(), cx)).await;
        }
        walked
    }

    /// Goes out of the blocks that are open: an agent that runs a workflow by itself may go on after its error.
    async fn give_up(&self, mut open: Vec<Open>, error: Option<&Error>, cx: &mut Context) {
        while let Some(block) = open.pop() {
            if let (Some(error), Some(who)) = (error, self.who(block.at)) {
                who.fail(error, cx).await;
            }
            if let (Some(error), Some(watch)) = (error, block.watch) {
                watch.0.end(lifecycle::failed(error, cx)).await;
            }
            self.go_back(block.at, block.outer, block.meter, cx);
        }
    }

    async fn walk(&self, range: Range<usize>, open: &mut Vec<Open>, cx: &mut Context) -> Result<Walked> {
        let mut at = range.start;
        let is_whole = range == (0..self.steps.len());
        let mut left = None;
        while at < range.end {
            let step = &self.steps[at];
            let (next, exit) = match step.kind {
                StepKind::Agent { .. } => {
                    let agent = self.workflow.agent(at);
                    let agent = agent.ok_or_else(|| self.broken(at, "has no agent"))?;
                    if cx.config().resumable {
                        Box::pin(self.announce(at, is_whole, open, cx)).await?;
                    }
                    let outer = self.go_to(at, cx);
                    // Only a workflow can be in another without end; of the others few need more than this.
                    let ended = if is_plain(self, at, agent, cx) {
                        plain(agent, outer, cx).await?
                    } else {
                        boxed(|| turn(self, at, agent, outer, cx)).await?
                    };
                    (at + 1, ended.and_then(|(flow, by)| Exit::new(flow, LoopEndReason::Escalated { by })))
                }
                StepKind::Break { target } => {
                    let target = target.map(Name::shared);
                    (at + 1, Some(Exit { target, ..Exit::innermost(LoopEndReason::Break) }))
                }
                StepKind::Sequence
                | StepKind::Loop { .. }
                | StepKind::Match { .. }
                | StepKind::Parallel { .. }
                | StepKind::Each { .. }
                | StepKind::Try(_) => {
                    self.announce(at, is_whole, open, cx).await?;
                    self.enter(at, open, cx);
                    let begun = match self.watched(at, cx) {
                        Some(who) => boxed(|| self.begin(who, at, open, cx)).await?,
                        None => Begun::Runs,
                    };
                    if begun == Begun::Skipped {
                        (step.end + 1, self.leave(open, cx).await?)
                    } else if has_parts(&step.kind) {
                        self.announce_parallel(at, cx).await?;
                        (step.end, self.parts_of(at, cx)?.await?.exit())
                    } else {
                        (self.inside(at, open, cx)?, None)
                    }
                }
                StepKind::Branch | StepKind::Arm { .. } | StepKind::Else => (at + 1, None),
                StepKind::End => match self.end(at, open, cx)? {
                    Next::Step(next) => (next, None),
                    Next::Close(reason) => (at + 1, self.close(reason, open, cx).await?),
                    Next::Round(start) => {
                        // A loop of agents that never wait lets others run, and can be cancelled.
                        tokio::task::coop::consume_budget().await;
                        (start, None)
                    }
                },
            };
            at = next;
            if let Some(exit) = exit
                && (!cx.unchecked || exit.ends_all_loops(cx) || self.is_taken(at, &exit))
            {
                let (next, outward) = boxed(|| self.exit(exit, at, open, cx)).await?;
                at = next;
                left = left.or(outward);
            }
        }
        Ok(left.map_or(Walked::Through, Walked::Exit))
    }

    /// A block as what begins and ends; the root of a tree does so as the tree.
    fn who(&self, block: usize) -> Option<Who<'_>> {
        (self.workflow.root() != Some(block)).then(|| Who::Block(self.workflow.callbacks(block)))
    }

    fn is_loop(&self, block: usize) -> bool {
        matches!(self.steps[block].kind, StepKind::Loop { .. })
    }

    /// A block with callbacks, plugins or lifecycle events: few have any, and the others begin and end without a future.
    fn watched(&self, block: usize, cx: &Context) -> Option<Who<'_>> {
        self.who(block).filter(|who| cx.config().lifecycle_events || who.is_watched(cx))
    }

    /// Goes into a block.
    fn enter(&self, at: usize, open: &mut Vec<Open>, cx: &mut Context) {
        let outer = self.go_to(at, cx);
        let meter = self.steps[at].budget.map(|budget| cx.enter_budget(budget));
        open.push(Open { at, outer, round: 0, begun: None, escalated: None, meter, watch: None });
    }

    /// Tells that a block begins, and asks whether it runs.
    async fn begin(&self, who: Who<'_>, at: usize, open: &mut [Open], cx: &mut Context) -> Result<Begun> {
        let watch = LifecycleReporter::begin(kind(&self.steps[at].kind), cx).await;
        if let Some(block) = open.last_mut() {
            block.watch = watch.map(|watch| Box::new((watch, LifecycleOutcome::Completed)));
        }
        let begun = who.begin(cx).await.map_err(|error| error.at(cx.path()))?;
        if let (Begun::Skipped, Some(block)) = (begun, open.last_mut()) {
            block.ends(|| LifecycleOutcome::Skipped);
        }
        Ok(begun)
    }

    /// The first step inside of the block that was entered.
    fn inside(&self, at: usize, open: &mut [Open], cx: &mut Context) -> Result<usize> {
        match self.steps[at].kind {
            StepKind::Loop { .. } => {
                if let Some(block) = open.last_mut() {
                    block.round = 1;
                }
                cx.go_to(At::Round(1));
                cx.count(Cost::Rounds, 1, || cx.run.has_begun(cx.path()))?;
                Ok(at + 1)
            }
            StepKind::Match { key } => self.arm(at, key, cx),
            _ => Ok(at + 1),
        }
    }

    /// The parts of a block that run in contexts of their own. Made outside of the frame that awaits them, as in [`boxed`].
    #[inline(never)]
    fn parts_of<'s>(&'s self, at: usize, cx: &'s mut Context) -> Result<BoxFuture<'s, Result<Walked>>> {
        Ok(match self.steps[at].kind {
            StepKind::Parallel { max_concurrency, first: true } => {
                boxed(|| self.first(at, max_concurrency, cx))
            }
            StepKind::Parallel { max_concurrency, .. } => boxed(|| self.parallel(at, max_concurrency, cx)),
            StepKind::Try(limits) => boxed(|| self.attempts(at, limits, cx)),
            StepKind::Each { item, list, max, over, max_concurrency } => {
                let elements = reads::elements(item, list, max, over, cx)?;
                boxed(|| self.each(at, item, elements, max_concurrency, cx))
            }
            _ => boxed(|| ready(Ok(Walked::Through))),
        })
    }

    /// Goes to a step; what comes back is for [`go_back`](Self::go_back).
    fn go_to(&self, at: usize, cx: &mut Context) -> Frame {
        if self.workflow.root() == Some(at) {
            cx.begin_again(At::Once)
        } else {
            cx.enter(self.workflow.name(at), At::Once)
        }
    }

    fn go_back(&self, at: usize, outer: Frame, meter: Option<Option<Arc<Meter>>>, cx: &mut Context) {
        let mut inner = cx.leave(outer);
        if let Some(meter) = meter {
            cx.meter = meter;
        }
        if self.workflow.root() == Some(at) {
            cx.continue_counts(&mut inner);
        }
    }

    /// The first step of the arm that the value of the key selects.
    fn arm(&self, at: usize, key: &str, cx: &Context) -> Result<usize> {
        let value = reads::subject(key, cx)?;
        let selected = self.workflow.select(at, &value);
        let selected = selected.map_err(|error| reads::no_arm(key, error, cx))?;
        let arm = self.parts(at).nth(selected);
        arm.map(|arm| arm.start).ok_or_else(|| {
            let arms = self.parts(at).count();
            self.broken(at, &format!("selects arm {selected} of {arms}, counted from 0")).at(cx.path())
        })
    }

    /// The steps between the markers of each branch of a parallel, or of each arm of a match.
    pub(super) fn parts(&self, block: usize) -> impl Iterator<Item = Range<usize>> {
        let (mut at, end) = (block + 1, self.steps[block].end);
        std::iter::from_fn(move || {
            let marker = (at < end).then(|| &self.steps[at])?;
            let part = at + 1..marker.end;
            at = marker.end + 1;
            Some(part)
        })
    }

    /// A defect of who made the workflow, which is no macro.
    fn broken(&self, at: usize, why: &str) -> Error {
        let message = format!("step {at} of `{}` {why}", self.workflow.spec().name);
        Error::new(ErrorKind::Config, message)
    }
}

/// Whether a block runs what is inside of it in contexts of their own.
fn has_parts(kind: &StepKind<'_>) -> bool {
    matches!(kind, StepKind::Parallel { .. } | StepKind::Each { .. } | StepKind::Try(_))
}

/// What a block is called where it begins and ends.
fn kind(kind: &StepKind<'_>) -> NodeKind {
    match kind {
        StepKind::Loop { .. } => NodeKind::Loop,
        StepKind::Parallel { .. } => NodeKind::Parallel,
        StepKind::Match { .. } => NodeKind::Match,
        StepKind::Each { .. } => NodeKind::Each,
        StepKind::Try(_) => NodeKind::Try,
        _ => NodeKind::Sequence,
    }
}

/// A future of its own, which is made outside of the frame that awaits it. A frame that carried such futures would be
/// large, and workflows may be nested deep.
#[inline(never)]
pub(super) fn boxed<'a, F: Future + Send + 'a>(make: impl FnOnce() -> F) -> BoxFuture<'a, F::Output> {
    Box::pin(make())
}
