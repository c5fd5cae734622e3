//! [`Exit`]: the jump to the step after a loop, and [`Walked`], the end of a walk.

use crate::Flow;
use crate::LoopEndReason;
use crate::runtime::run::Context;
use crate::{Name, Path};

/// The end of a walk over some steps: it ran through, or made an exit that none of the loops in it
/// takes.
pub(crate) enum Walked {
    Through,
    Exit(Exit),
}

impl Walked {
    pub(crate) fn into_exit(self) -> Option<Exit> {
        match self {
            Self::Through => None,
            Self::Exit(exit) => Some(exit),
        }
    }
}

/// An exit on its way to its loop, and its reason.
pub(crate) struct Exit {
    /// Name of the loop; `None` for the innermost loop.
    pub(crate) target: Option<Name>,
    pub(crate) reason: LoopEndReason,
    /// Whether a child of a parallel block has made the exit, and not an agent deeper inside.
    pub(crate) is_direct: bool,
}

impl Exit {
    /// Returns `true` if the exit is an escalate that ends all loops around it, as in ADK.
    pub(crate) fn ends_all_loops(&self, cx: &Context) -> bool {
        let escalated = matches!(self.reason, LoopEndReason::Escalated { .. });
        escalated && self.target.is_none() && cx.config().escalate_ends_all_loops
    }

    pub(crate) fn new(flow: Flow, reason: LoopEndReason) -> Option<Self> {
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
    pub(crate) fn from_turn((flow, by): (Flow, Path)) -> Option<Self> {
        Self::new(flow, LoopEndReason::Escalated { by })
    }

    /// Makes the exit of a `break`.
    pub(crate) fn from_break(target: Option<&str>) -> Self {
        Self {
            target: target.map(Name::shared),
            ..Self::innermost(LoopEndReason::Break)
        }
    }

    /// Makes the exit for an escalate that has ended its branch in the middle of the turn of the
    /// agent `by`.
    pub(crate) fn from_cut(by: Path) -> Self {
        Self::innermost(LoopEndReason::Escalated { by })
    }
}
