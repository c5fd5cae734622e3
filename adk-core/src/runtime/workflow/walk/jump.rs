//! The way of an exit: it closes the blocks between its step and its loop.

use super::context::WalkContext;
use crate::Result;
use crate::runtime::workflow::steps::{Exit, Steps};
use crate::spec::StepKind;

impl Steps<'_> {
    /// Returns `true` if a loop around the step before `at` takes the exit.
    pub(super) fn is_taken(&self, at: usize, exit: &Exit) -> bool {
        (0..at.min(self.steps.len()))
            .any(|block| self.steps[block].end >= at && self.takes(block, exit))
    }

    /// Closes blocks on the way of an exit. Returns the next step, and the exit that is left for
    /// the blocks around this walk.
    ///
    /// An exit is a jump to the step after its loop. Under `escalate_ends_all_loops` an escalate
    /// ends the loops directly around it; any other block runs to its end and then passes the
    /// escalate on.
    pub(super) async fn follow_exit(
        &self,
        exit: Exit,
        mut at: usize,
        cx: &mut WalkContext<'_>,
    ) -> Result<(usize, Option<Exit>)> {
        let mut next = Some(exit);
        while let Some(exit) = next.take() {
            if exit.ends_all_loops(cx) {
                match cx.open.last_mut() {
                    None => return Ok((at, Some(exit))),
                    Some(block) if !self.is_loop(block.at) => {
                        block.escalated.get_or_insert(Box::new(exit));
                    }
                    Some(block) => {
                        at = self.steps[block.at].end + 1;
                        self.close(Some(exit.reason.clone()), cx).await?;
                        next = Some(exit);
                    }
                }
                continue;
            }
            loop {
                let Some(block) = cx.open.last() else {
                    return Ok((usize::MAX, Some(exit)));
                };
                let (found, end) = (self.takes(block.at, &exit), self.steps[block.at].end);
                let own = self.close(Some(exit.reason.clone()), cx).await?;
                next = next.or(own);
                if found {
                    at = end + 1;
                    break;
                }
            }
        }
        Ok((at, None))
    }

    fn takes(&self, block: usize, exit: &Exit) -> bool {
        let step = &self.steps[block];
        let is_named = exit
            .target
            .as_ref()
            .is_none_or(|target| **target == *step.name);
        matches!(step.kind, StepKind::Loop { .. }) && is_named
    }
}
