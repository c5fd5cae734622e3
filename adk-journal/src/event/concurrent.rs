//! [`ConcurrentBlock`]: the block whose parts emitted events concurrently.

use super::Event;
use crate::{Path, RunId};

/// A block with concurrent parts, in one run.
#[derive(Clone, Debug)]
pub struct ConcurrentBlock {
    run: RunId,
    /// The node of the block in one of its parts.
    node: Path,
}

impl ConcurrentBlock {
    /// Returns the outermost block around an event.
    pub fn around(event: &Event) -> Option<Self> {
        // Only events of branches are in a concurrent block.
        event.branch.as_ref()?;
        let node = event
            .path
            .parts()
            .first()
            .map(|(node, _)| Path::clone(node))?;
        Some(Self {
            run: event.invocation_id,
            node,
        })
    }

    /// Returns true if an event belongs to the block.
    pub fn contains(&self, event: &Event) -> bool {
        event.branch.is_some()
            && event.invocation_id == self.run
            && event
                .path
                .parts()
                .first()
                .is_some_and(|(node, _)| node.is_beside(&self.node))
    }
}

/// Returns true if two consecutive events belong to one block, so that their order may be
/// accidental.
pub fn is_concurrent(one: &Event, other: &Event) -> bool {
    ConcurrentBlock::around(one).is_some_and(|block| block.contains(other))
}
