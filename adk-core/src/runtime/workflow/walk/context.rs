//! [`WalkContext`]: the context of a walk, and the blocks that the walk has entered.

use crate::runtime::run::{Context, ContextPart, Frame, LifecycleReporter, Meter};
use crate::runtime::workflow::steps::Exit;
use crate::spec::Budget;
use crate::{At, LifecycleOutcome, Result};
use adk_spec::__private::Cost;
use std::mem;
use std::ops::{Deref, DerefMut};
use std::sync::Arc;

/// The context of a walk. It is inside the innermost block that the walk has entered and not left.
/// Its drop leaves all blocks, also if the future of the walk is dropped before its end.
pub(super) struct WalkContext<'c> {
    cx: &'c mut Context,
    /// The blocks that the walk has entered and not left, innermost last.
    pub(super) open: Vec<EnteredBlock>,
}

/// A block that the walk has entered and not left.
pub(super) struct EnteredBlock {
    pub(super) at: usize,
    /// The frame of the context from before the block was entered.
    pub(super) outer: Frame,
    /// The meter from before the block was entered.
    meter: Option<Arc<Meter>>,
    /// The round of a loop; 0 for other blocks.
    round: u32,
    /// Number of rounds in the journal, once it was looked up.
    begun: Option<u32>,
    /// An exit that waits until the block has run to its end
    /// (`RunConfig::escalate_ends_all_loops`).
    pub(super) escalated: Option<Box<Exit>>,
    /// The reporter of lifecycle events for the end of the block, and the outcome to report. Set
    /// only if the block is observed.
    pub(super) watch: Option<BlockWatch>,
}

/// The reporter of the lifecycle events of a block, and the outcome for the last one.
type BlockWatch = Box<(Box<LifecycleReporter>, LifecycleOutcome)>;

impl EnteredBlock {
    /// Moves the context out of the block.
    fn restore(&mut self, cx: &mut Context) {
        Frame::restore(cx, &mut self.outer);
        ContextPart::restore(cx, &mut self.meter);
    }
}

impl<'c> WalkContext<'c> {
    /// Makes the context of a walk that has entered no block.
    pub(super) fn new(cx: &'c mut Context) -> Self {
        Self {
            cx,
            open: Vec::new(),
        }
    }

    /// Enters a block, whose frame is `inner`.
    pub(super) fn enter_block(&mut self, at: usize, inner: Frame, budget: Option<Budget>) {
        let outer = mem::replace(&mut self.cx.frame, inner);
        let inner = self.cx.meter_of_budget(budget);
        let meter = mem::replace(&mut self.cx.around.meter, inner);
        self.open.push(EnteredBlock {
            at,
            outer,
            meter,
            round: 0,
            begun: None,
            escalated: None,
            watch: None,
        });
    }

    /// Leaves the innermost block, and returns it.
    pub(super) fn leave_block(&mut self) -> Option<EnteredBlock> {
        let mut block = self.open.pop()?;
        block.restore(self.cx);
        Some(block)
    }

    /// Begins a round of the innermost block, which is a loop.
    ///
    /// # Errors
    /// When the round exceeds an enclosing limit.
    #[inline]
    pub(super) fn begin_round(&mut self, round: u32) -> Result<()> {
        if let Some(block) = self.open.last_mut() {
            block.round = round;
        }
        self.cx.go_to(At::Round(round));
        let cx = &*self.cx;
        cx.count(Cost::Rounds, 1, || cx.run.kind.has_begun(cx.path()))
    }

    /// Returns the number of rounds of the innermost block in the journal; `None` if the run is not
    /// resumed.
    #[inline]
    pub(super) fn rounds_begun(&mut self) -> Option<u32> {
        let replay = self.cx.run.kind.replay()?;
        let block = self.open.last_mut()?;
        let path = self.cx.path();
        Some(
            *block
                .begun
                .get_or_insert_with(|| replay.journal.rounds_begun(&path.with(At::Once))),
        )
    }

    /// Sets the outcome of the innermost block for its last lifecycle event.
    pub(super) fn set_outcome(&mut self, outcome: impl FnOnce() -> LifecycleOutcome) {
        let block = self.open.last_mut();
        if let Some(watch) = block.and_then(|block| block.watch.as_mut()) {
            watch.1 = outcome();
        }
    }

    /// Takes the reporter of the innermost block.
    pub(super) fn take_watch(&mut self) -> Option<BlockWatch> {
        self.open.last_mut()?.watch.take()
    }

    /// Returns the innermost block, with the round of a loop.
    pub(super) fn innermost(&self) -> Option<(usize, u32)> {
        self.open.last().map(|block| (block.at, block.round))
    }
}

impl Deref for WalkContext<'_> {
    type Target = Context;

    fn deref(&self) -> &Context {
        self.cx
    }
}

impl DerefMut for WalkContext<'_> {
    fn deref_mut(&mut self) -> &mut Context {
        self.cx
    }
}

impl Drop for WalkContext<'_> {
    fn drop(&mut self) {
        for block in self.open.iter_mut().rev() {
            block.restore(self.cx);
        }
    }
}
