//! The walk over the flat list of steps. An exit is a jump; only branches, elements and nested
//! agents recurse.

mod context;
mod end;
mod jump;
mod part;

use self::context::WalkContext;
use self::end::BlockTransition;
pub(super) use self::part::begin_element;
use super::steps::{Exit, Steps, Walked, boxed, reads};
use super::turn::lifecycle::{self, BeginOutcome, LifecycleNode};
use super::turn::{is_plain, run_plain, run_turn};
use crate::LifecycleOutcome;
use crate::runtime::run::{Context, Frame, LifecycleReporter};
use crate::spec::{NodeKind, StepKind};
use crate::{BoxFuture, Error, Result};
use std::future::ready;
use std::ops::Range;

impl Steps<'_> {
    /// Runs some steps, and leaves all blocks that it has entered: an agent that runs a workflow
    /// itself may continue after an error.
    pub(super) async fn run_steps(&self, range: Range<usize>, cx: &mut Context) -> Result<Walked> {
        let mut cx = WalkContext::new(cx);
        let walked = boxed(|| self.walk(range, &mut cx)).await;
        if let Err(error) = &walked
            && !cx.open.is_empty()
        {
            Box::pin(self.fail_blocks(error, &mut cx)).await;
        }
        walked
    }

    /// Reports the failure of all entered blocks, and leaves them.
    async fn fail_blocks(&self, error: &Error, cx: &mut WalkContext<'_>) {
        while let Some((at, _)) = cx.innermost() {
            if let Some(node) = self.lifecycle_node(at) {
                node.fail(error, cx).await;
            }
            if let Some(watch) = cx.take_watch() {
                watch.0.end(lifecycle::failed_outcome(error, cx)).await;
            }
            cx.leave_block();
        }
    }

    async fn walk(&self, range: Range<usize>, cx: &mut WalkContext<'_>) -> Result<Walked> {
        let mut at = range.start;
        let is_whole = range == (0..self.steps.len());
        let mut left = None;
        while at < range.end {
            let step = &self.steps[at];
            let (next, exit) = match step.kind {
                StepKind::Agent { .. } => {
                    let agent = self.workflow.agent(at);
                    let agent = agent.ok_or_else(|| self.defect(at, "has no agent"))?;
                    if cx.config().resumable {
                        Box::pin(self.announce(at, is_whole, cx.innermost(), cx)).await?;
                    }
                    let is_plain = is_plain(self, at, agent, cx);
                    let frame = self.frame(at, cx);
                    // Workflows may nest to any depth, so the future of `run_turn` is boxed. Most
                    // other agents need only the small future of `run_plain`.
                    let ended = if is_plain {
                        run_plain(agent, cx.enter(frame)).await?
                    } else {
                        boxed(|| run_turn(self, at, agent, cx.enter(frame))).await?
                    };
                    (at + 1, ended.and_then(Exit::from_turn))
                }
                StepKind::Break { target } => (at + 1, Some(Exit::from_break(target))),
                StepKind::Sequence
                | StepKind::Loop { .. }
                | StepKind::Match { .. }
                | StepKind::Parallel { .. }
                | StepKind::Each { .. }
                | StepKind::Try(_) => {
                    self.announce(at, is_whole, cx.innermost(), cx).await?;
                    let frame = self.frame(at, cx);
                    cx.enter_block(at, frame, step.budget);
                    let begun = match self.watched_node(at, cx) {
                        Some(node) => boxed(|| self.begin_block(node, at, cx)).await?,
                        None => BeginOutcome::Runs,
                    };
                    if begun == BeginOutcome::Skipped {
                        (step.end + 1, self.leave(cx).await?)
                    } else if has_parts(&step.kind) {
                        self.announce_parallel(at, cx).await?;
                        (step.end, self.start_parts(at, cx)?.await?.into_exit())
                    } else {
                        (self.first_inside(at, cx)?, None)
                    }
                }
                StepKind::Branch | StepKind::Arm { .. } | StepKind::Else => (at + 1, None),
                StepKind::End => match self.end_block(at, cx)? {
                    BlockTransition::Step(next) => (next, None),
                    BlockTransition::Close(reason) => (at + 1, self.close(reason, cx).await?),
                    BlockTransition::Round(start) => {
                        // Yields at times, so that a loop of agents that never wait can be
                        // cancelled and lets other tasks run.
                        tokio::task::coop::consume_budget().await;
                        (start, None)
                    }
                },
            };
            at = next;
            if let Some(exit) = exit
                && (!cx.around.unchecked || exit.ends_all_loops(cx) || self.is_taken(at, &exit))
            {
                let (next, outward) = boxed(|| self.follow_exit(exit, at, cx)).await?;
                at = next;
                left = left.or(outward);
            }
        }
        Ok(left.map_or(Walked::Through, Walked::Exit))
    }

    /// Returns a block as a lifecycle node. Returns `None` for a block that is the whole tree,
    /// because the tree itself begins and ends.
    fn lifecycle_node(&self, block: usize) -> Option<LifecycleNode<'_>> {
        (self.workflow.root() != Some(block))
            .then(|| LifecycleNode::Block(self.workflow.callbacks(block)))
    }

    fn is_loop(&self, block: usize) -> bool {
        matches!(self.steps[block].kind, StepKind::Loop { .. })
    }

    /// Returns the lifecycle node of a block that is observed by callbacks, plugins or lifecycle
    /// events. Few blocks are; the others begin and end without a future.
    fn watched_node(&self, block: usize, cx: &Context) -> Option<LifecycleNode<'_>> {
        self.lifecycle_node(block)
            .filter(|node| cx.config().lifecycle_events || node.is_watched(cx))
    }

    /// Reports the begin of a block, and returns whether the block runs.
    async fn begin_block(
        &self,
        node: LifecycleNode<'_>,
        at: usize,
        cx: &mut WalkContext<'_>,
    ) -> Result<BeginOutcome> {
        let watch = LifecycleReporter::begin(node_kind(&self.steps[at].kind), cx).await;
        if let Some(block) = cx.open.last_mut() {
            block.watch = watch.map(|watch| Box::new((watch, LifecycleOutcome::Completed)));
        }
        let begun = node.begin(cx).await.map_err(|error| error.at(cx.path()))?;
        if begun == BeginOutcome::Skipped {
            cx.set_outcome(|| LifecycleOutcome::Skipped);
        }
        Ok(begun)
    }

    /// Returns the first step inside the entered block.
    fn first_inside(&self, at: usize, cx: &mut WalkContext<'_>) -> Result<usize> {
        match self.steps[at].kind {
            StepKind::Loop { .. } => {
                cx.begin_round(1)?;
                Ok(at + 1)
            }
            StepKind::Match { key } => self.select_arm(at, key, cx),
            _ => Ok(at + 1),
        }
    }

    /// Returns a future that runs the branches or elements of a block in contexts of their own. The
    /// function is not inlined, so that the futures are not part of the frame that awaits them, as
    /// in [`boxed`].
    #[inline(never)]
    fn start_parts<'s>(
        &'s self,
        at: usize,
        cx: &'s mut Context,
    ) -> Result<BoxFuture<'s, Result<Walked>>> {
        Ok(match self.steps[at].kind {
            StepKind::Parallel {
                max_concurrency,
                first: true,
            } => boxed(|| self.run_first(at, max_concurrency, cx)),
            StepKind::Parallel {
                max_concurrency, ..
            } => boxed(|| self.run_parallel(at, max_concurrency, cx)),
            StepKind::Try(limits) => boxed(|| self.run_attempts(at, limits, cx)),
            StepKind::Each {
                item,
                list,
                max,
                over,
                max_concurrency,
            } => {
                let elements = reads::elements(item, list, max, over, cx)?;
                boxed(|| self.run_each(at, item, elements, max_concurrency, cx))
            }
            _ => boxed(|| ready(Ok(Walked::Through))),
        })
    }

    /// Returns the frame of a step.
    fn frame(&self, at: usize, cx: &mut Context) -> Frame {
        if self.workflow.root() == Some(at) {
            cx.frame_here()
        } else {
            cx.frame_below(self.workflow.name(at))
        }
    }

    /// Returns the first step of the arm that the value of the key selects.
    fn select_arm(&self, at: usize, key: &str, cx: &Context) -> Result<usize> {
        let value = reads::match_value(key, cx)?;
        let selected = self.workflow.select(at, &value);
        let selected = selected.map_err(|error| reads::no_arm_error(key, error, cx))?;
        let arm = self.parts(at).nth(selected);
        arm.map(|arm| arm.start).ok_or_else(|| {
            let arms = self.parts(at).count();
            self.defect(
                at,
                &format!("selects arm {selected} of {arms}, counted from 0"),
            )
            .at(cx.path())
        })
    }
}

/// Returns `true` if a block runs its steps in contexts of their own.
fn has_parts(kind: &StepKind<'_>) -> bool {
    matches!(
        kind,
        StepKind::Parallel { .. } | StepKind::Each { .. } | StepKind::Try(_)
    )
}

/// Returns the kind of a block for its lifecycle events.
fn node_kind(kind: &StepKind<'_>) -> NodeKind {
    match kind {
        StepKind::Loop { .. } => NodeKind::Loop,
        StepKind::Parallel { .. } => NodeKind::Parallel,
        StepKind::Match { .. } => NodeKind::Match,
        StepKind::Each { .. } => NodeKind::Each,
        StepKind::Try(_) => NodeKind::Try,
        _ => NodeKind::Sequence,
    }
}
