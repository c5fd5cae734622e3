//! [`Exit`]: the jump to the step after a loop, which closes the blocks on its way.

use super::{EnteredBlock, Walk};
use crate::Flow;
use crate::LoopEndReason;
use crate::runtime::run::Context;
use crate::spec::StepKind;
use crate::{Name, Path, Result};

/// The end of a walk over some steps: it ran through, or made an exit that none of the loops in it
/// takes.
pub(in crate::runtime::workflow) enum Walked {
    Through,
    Exit(Exit),
}

impl Walked {
    pub(super) fn into_exit(self) -> Option<Exit> {
        match self {
            Self::Through => None,
            Self::Exit(exit) => Some(exit),
        }
    }
}

/// An exit on its way to its loop, and its reason.
pub(in crate::runtime::workflow) struct Exit {
    /// Name of the loop; `None` for the innermost loop.
    pub(in crate::runtime::workflow) target: Option<Name>,
    pub(in crate::runtime::workflow) reason: LoopEndReason,
    /// Whether a child of a parallel block has made the exit, and not an agent deeper inside.
    pub(in crate::runtime::workflow) is_direct: bool,
}

impl Exit {
    /// Returns `true` if the exit is an escalate that ends all loops around it, as in ADK.
    pub(in crate::runtime::workflow) fn ends_all_loops(&self, cx: &Context) -> bool {
        let escalated = matches!(self.reason, LoopEndReason::Escalated { .. });
        escalated && self.target.is_none() && cx.config().escalate_ends_all_loops
    }

    pub(super) fn new(flow: Flow, reason: LoopEndReason) -> Option<Self> {
        let exit = Self::innermost(reason);
        match flow {
            Flow::Continue => None,
            Flow::Exit => Some(exit),
            Flow::ExitTo(name) => Some(Self {
                target: Some(name),
                ..exit
            }),
        }
    }

    fn innermost(reason: LoopEndReason) -> Self {
        Self {
            target: None,
            reason,
            is_direct: false,
        }
    }

    /// Makes the exit of a turn that has ended with this flow.
    pub(super) fn from_turn((flow, by): (Flow, Path)) -> Option<Self> {
        Self::new(flow, LoopEndReason::Escalated { by })
    }

    /// Makes the exit of a `break`.
    pub(super) fn from_break(target: Option<&str>) -> Self {
        Self {
            target: target.map(Name::shared),
            ..Self::innermost(LoopEndReason::Break)
        }
    }

    /// Makes the exit for an escalate that has ended its branch in the middle of the turn of the
    /// agent `by`.
    pub(in crate::runtime::workflow) fn from_cut(by: Path) -> Self {
        Self::innermost(LoopEndReason::Escalated { by })
    }
}

impl Walk<'_> {
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
        open: &mut Vec<EnteredBlock>,
        cx: &mut Context,
    ) -> Result<(usize, Option<Exit>)> {
        let mut next = Some(exit);
        while let Some(exit) = next.take() {
            if exit.ends_all_loops(cx) {
                match open.last_mut() {
                    None => return Ok((at, Some(exit))),
                    Some(block) if !self.is_loop(block.at) => {
                        block.escalated.get_or_insert(Box::new(exit));
                    }
                    Some(block) => {
                        at = self.steps[block.at].end + 1;
                        self.close(Some(exit.reason.clone()), open, cx).await?;
                        next = Some(exit);
                    }
                }
                continue;
            }
            loop {
                let Some(block) = open.last() else {
                    return Ok((usize::MAX, Some(exit)));
                };
                let (found, end) = (self.takes(block.at, &exit), self.steps[block.at].end);
                let own = self.close(Some(exit.reason.clone()), open, cx).await?;
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
