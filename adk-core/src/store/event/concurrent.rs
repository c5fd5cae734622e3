//! [`ConcurrentBlock`]: the block whose parts said something at the same time.

use super::Event;
use crate::{Path, RunId};

/// A block whose parts run at the same time, in one run.
#[derive(Clone, Debug)]
pub(crate) struct ConcurrentBlock {
    run: RunId,
    /// The node of the block in one of its parts.
    node: Path,
}

impl ConcurrentBlock {
    /// The outermost one around an event.
    pub(crate) fn of(event: &Event) -> Option<Self> {
        // Only events of branches are in such a block.
        event.branch.as_ref()?;
        let node = event.path.parts().first().map(|(node, _)| Path::clone(node))?;
        Some(Self { run: event.invocation_id, node })
    }

    /// Whether an event belongs to it.
    pub(crate) fn holds(&self, event: &Event) -> bool {
        event.branch.is_some()
            && event.invocation_id == self.run
            && event.path.parts().first().is_some_and(|(node, _)| node.is_beside(&self.node))
    }
}

/// Whether two events that follow each other were said in one block, so that one may have come before the other by chance.
pub(crate) fn is_concurrent(one: &Event, other: &Event) -> bool {
    ConcurrentBlock::of(one).is_some_and(|block| block.holds(other))
}
