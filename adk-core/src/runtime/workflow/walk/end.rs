//! The end of a block: another round of a loop, or the way out of the block.

use super::context::WalkContext;
use crate::Flow;
use crate::runtime::run::Context;
use crate::runtime::workflow::steps::{Exit, Steps, boxed, reads};
use crate::runtime::workflow::turn::lifecycle::{self, LifecycleNode};
use crate::spec::{Step, StepKind};
use crate::{At, Result};
use crate::{LifecycleOutcome, LoopEnd, LoopEndReason};

/// The continuation of a walk after the end of a block.
pub(super) enum BlockTransition {
    Step(usize),
    /// The next round of a loop, at its first step.
    Round(usize),
    /// The block has ended; a loop has a reason.
    Close(Option<LoopEndReason>),
}

impl Steps<'_> {
    /// Returns the continuation at the end of a block or an arm.
    pub(super) fn end_block(&self, at: usize, cx: &mut WalkContext<'_>) -> Result<BlockTransition> {
        let Some((block, round)) = cx
            .innermost()
            .filter(|(block, _)| self.steps[*block].end == at)
        else {
            // The end of an arm: the walk skips the other arms.
            let around = cx.innermost();
            return Ok(BlockTransition::Step(
                around.map_or(at + 1, |(block, _)| self.steps[block].end),
            ));
        };
        let StepKind::Loop { max, until } = self.steps[block].kind else {
            return Ok(BlockTransition::Close(None));
        };
        if let Some(key) = until
            && reads::is_true(key, cx)?
        {
            return Ok(BlockTransition::Close(Some(LoopEndReason::Until)));
        }
        let max = self.workflow.max(block).or(max);
        let next = round.saturating_add(1);
        let is_last = max.is_some_and(|max| round >= max);
        // The journal may have been recorded under an older `max`. A recorded round runs again
        // even if `max` is lower now, and a loop that has ended in the journal does not get further
        // rounds.
        let begun = max.and_then(|_| cx.rounds_begun());
        let is_last = match begun {
            None => is_last,
            Some(begun) => next > begun && (is_last || begun > 0 && self.is_over(at, cx)),
        };
        if is_last {
            return Ok(BlockTransition::Close(Some(LoopEndReason::Max)));
        }
        cx.begin_round(next)?;
        Ok(BlockTransition::Round(block + 1))
    }

    /// Returns `true` if the journal holds anything from after the innermost block, whose end is at
    /// this step.
    fn is_over(&self, at: usize, cx: &WalkContext<'_>) -> bool {
        let Some(replay) = cx.run.kind.replay() else {
            return false;
        };
        let block = cx.path().with(At::Once);
        // If the journal has no later event, it may still contain calls and waits of the step after
        // the block.
        let (mut next, mut around) = (at + 1, cx.open.iter().rev());
        let mut outer = around.next();
        while let (Some(block), true) = (outer, self.is_plain_end(next)) {
            outer = around.next().or(Some(block));
            next += 1;
        }
        let begins = || {
            let (step, outer) = (self.steps.get(next)?, outer?);
            let name = (!matches!(step.kind, StepKind::End)).then(|| self.workflow.name(next))?;
            let path = outer.outer.path.child(name, At::Once);
            Some(replay.journal.has_begun(&path) || replay.journal.rounds_begun(&path) > 0)
        };
        replay.journal.is_past(&block, cx.branch()) || begins().unwrap_or_default()
    }

    /// Returns `true` if a step is the end of a sequence.
    fn is_plain_end(&self, at: usize) -> bool {
        let ends = |step: &Step<'_>| matches!(step.kind, StepKind::Sequence) && step.end == at;
        self.steps
            .get(at)
            .is_some_and(|step| matches!(step.kind, StepKind::End))
            && self.steps.iter().any(ends)
    }

    /// Ends the innermost block. Returns the exit that the block passes to the loops around it.
    pub(super) async fn close(
        &self,
        reason: Option<LoopEndReason>,
        cx: &mut WalkContext<'_>,
    ) -> Result<Option<Exit>> {
        let Some((at, rounds)) = cx.innermost() else {
            return Ok(None);
        };
        match reason {
            Some(reason) if rounds > 0 => {
                cx.go_to(At::Once);
                cx.set_outcome(|| LifecycleOutcome::LoopEnded {
                    rounds,
                    reason: reason.clone(),
                });
                cx.run
                    .progress
                    .end_loop(LoopEnd::new(cx.path().clone(), rounds, reason));
            }
            Some(_) => cx.set_outcome(|| LifecycleOutcome::Exited),
            None => {}
        }
        let node = self.watched_node(at, cx);
        if node.is_some() || cx.config().resumable {
            boxed(|| self.finish(at, node, cx)).await?;
        }
        self.leave(cx).await
    }

    /// Reports the end of a block.
    async fn finish(
        &self,
        at: usize,
        node: Option<LifecycleNode<'_>>,
        cx: &mut Context,
    ) -> Result<()> {
        self.announce_end(at, cx).await?;
        match node {
            Some(node) => node.end(cx).await.map_err(|error| error.at(cx.path())),
            None => Ok(()),
        }
    }

    /// Leaves the innermost block, which has ended. Returns the exit that the block passes to the
    /// loops around it.
    pub(super) async fn leave(&self, cx: &mut WalkContext<'_>) -> Result<Option<Exit>> {
        let own = match lifecycle::requested_flow(cx) {
            Flow::Continue => None,
            flow => {
                lifecycle::check_announced(None, &flow, cx).map_err(|error| error.at(cx.path()))?;
                Exit::new(
                    flow,
                    LoopEndReason::Escalated {
                        by: cx.path().clone(),
                    },
                )
            }
        };
        if let Some(watch) = cx.take_watch() {
            let (watch, outcome) = *watch;
            boxed(|| watch.end(outcome)).await;
        }
        let escalated = cx.leave_block().and_then(|block| block.escalated);
        Ok(own.or(escalated.map(|exit| *exit)))
    }
}
