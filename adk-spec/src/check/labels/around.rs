//! What a step sees from around it: keys of other branches, and of its own earlier executions.

use super::marks::Marks;
use super::state::{ENTRY, EXIT, Level, NOW};
use super::walk::LabelWalk;
use crate::hash::mixed;
use crate::spec::StepKind;

impl LabelWalk<'_, '_> {
    /// Adds what the other branches of a `parallel` write, at the start of a branch.
    pub(super) const fn read_branches(&mut self, parent: usize) {
        let place = self.branches(self.block(parent).at);
        if let Some((_, others)) = self.kept.next(place, 0) {
            self.states.at.around = self.states.at.around.or(others.marks);
        }
    }

    /// Returns the number of a `parallel`.
    const fn branches(&self, at: usize) -> u64 {
        mixed(self.states.at.id.rotate_left(7), at as u64 + 1)
    }

    /// Returns what an agent sees that gets the context.
    pub(super) const fn everything(&mut self) -> Marks {
        self.now.reads_all = true;
        self.states.everything(NOW).or(self.states.at.around)
    }

    /// Returns whether a run may execute what is here several times, with the keys of the earlier
    /// execution. An element of an `each` begins without keys.
    pub(super) const fn may_repeat(&self) -> bool {
        let mut depth = self.states.at.depth;
        while depth > 0 {
            depth -= 1;
            match self.block_step(depth) {
                None => return true,
                Some(step) => match step.kind {
                    StepKind::Loop { .. } | StepKind::Try(_) => return true,
                    StepKind::Each { .. } => return false,
                    _ => {}
                },
            }
        }
        self.states.at.blocks.repeats
    }

    /// Returns whether the current step is in a branch or an element. A call of an agent as a tool
    /// has a conversation of its own.
    pub(super) const fn is_in_branch(&self) -> bool {
        let mut depth = self.states.at.depth;
        while depth > 0 {
            depth -= 1;
            match self.block_step(depth) {
                None => return false,
                Some(step) => {
                    if let StepKind::Branch | StepKind::Each { .. } = step.kind {
                        return true;
                    }
                }
            }
        }
        self.states.at.blocks.is_in_branch
    }

    /// Ends the branches of a `parallel`.
    pub(super) const fn end_branches(&mut self, depth: usize) {
        let (entry, exit) = (Level::of_block(depth, ENTRY), Level::of_block(depth, EXIT));
        // The events of inner branches are not visible in the branch around them.
        if self.is_in_branch() {
            self.states.join_last(exit, entry);
        }
        if self.now.reads_all {
            let place = self.branches(self.block(depth).at);
            self.kept.add(place, "", self.states.written, true);
        }
    }
}
