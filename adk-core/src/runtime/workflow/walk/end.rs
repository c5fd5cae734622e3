//! The end of a block: another round of a loop, or out of it.

use super::{Exit, Open, Walk, boxed};
use crate::flow::Flow;
use crate::runtime::run::{Context, LifecycleOutcome, LoopEnd, LoopEndReason};
use crate::runtime::workflow::lifecycle::{self, Who};
use crate::runtime::workflow::reads;
use crate::spec::StepKind;
use crate::{At, Result};
use adk_spec::__private::Cost;

/// Where a walk goes on after the end of a block.
pub(super) enum Next {
    Step(usize),
    /// The next round of a loop, at its first step.
    Round(usize),
    /// The block has ended; a loop says why.
    Close(Option<LoopEndReason>),
}

impl Walk<'_> {
    /// At the end of a block: another round, or the step after it.
    pub(super) fn end(&self, at: usize, open: &mut [Open], cx: &mut Context) -> Result<Next> {
        let Some(block) = open.last_mut().filter(|block| self.steps[block.at].end == at) else {
            // The end of an arm: the other arms are passed by.
            return Ok(Next::Step(open.last().map_or(at + 1, |block| self.steps[block.at].end)));
        };
        let StepKind::Loop { max, until } = self.steps[block.at].kind else {
            return Ok(Next::Close(None));
        };
        if let Some(key) = until
            && reads::is_true(key, cx)?
        {
            return Ok(Next::Close(Some(LoopEndReason::Until)));
        }
        let max = self.workflow.max(block.at).or(max);
        let next = block.round.saturating_add(1);
        // A round that has begun under a higher `max` counts.
        let has_begun = || cx.run.has_begun(&cx.path().with(At::Round(next)));
        if max.is_some_and(|max| block.round >= max) && !has_begun() {
            return Ok(Next::Close(Some(LoopEndReason::Max)));
        }
        block.round = next;
        cx.go_to(At::Round(next));
        cx.count(Cost::Rounds, 1, || cx.run.has_begun(cx.path()))?;
        Ok(Next::Round(block.at + 1))
    }

    /// Ends the innermost block; the exit that comes out of it, for the loops around.
    pub(super) async fn close(
        &self,
        reason: Option<LoopEndReason>,
        open: &mut Vec<Open>,
        cx: &mut Context,
    ) -> Result<Option<Exit>> {
        let Some(block) = open.last_mut() else { return Ok(None) };
        match reason {
            Some(reason) if block.round > 0 => {
                cx.go_to(At::Once);
                let rounds = block.round;
                block.ends(|| LifecycleOutcome::LoopEnded { rounds, reason: reason.clone() });
                cx.run.end_loop(LoopEnd { path: cx.path().clone(), rounds, reason });
            }
            Some(_) => block.ends(|| LifecycleOutcome::Exited),
            None => {}
        }
        let at = block.at;
        let who = self.watched(at, cx);
        if who.is_some() || cx.config().resumable {
            boxed(|| self.finish(at, who, cx)).await?;
        }
        self.leave(open, cx).await
    }

    /// Tells that a block has ended.
    async fn finish(&self, at: usize, who: Option<Who<'_>>, cx: &mut Context) -> Result<()> {
        self.ended(at, cx).await?;
        match who {
            Some(who) => who.end(cx).await.map_err(|error| error.at(cx.path())),
            None => Ok(()),
        }
    }

    /// Leaves the innermost block, which has ended; the exit that comes out of it.
    pub(super) async fn leave(&self, open: &mut Vec<Open>, cx: &mut Context) -> Result<Option<Exit>> {
        let own = match lifecycle::asked(cx) {
            Flow::Continue => None,
            flow => {
                lifecycle::announced(None, &flow, cx).map_err(|error| error.at(cx.path()))?;
                Exit::new(flow, LoopEndReason::Escalated { by: cx.path().clone() })
            }
        };
        let Some(block) = open.pop() else { return Ok(own) };
        if let Some(watch) = block.watch {
            let (watch, outcome) = *watch;
            boxed(|| watch.end(outcome)).await;
        }
        self.go_back(block.at, block.outer, block.meter, cx);
        Ok(own.or(block.escalated.map(|exit| *exit)))
    }
}
