//! [`Block`]: blocks and their sets of keys, which are the keys that are certain after a block or
//! at an exit.

use super::super::keys::{Key, KeyName, NEVER, NONE};
use super::super::{DiagnosticKind, FlowDiagnostic, Reader, StepPart};
use super::Walk;
use crate::spec::StepKind;
use crate::text::same;

/// The set of the keys that are certain at the current step.
pub(super) const SURE: usize = 0;
/// The set of the keys that are certain at an exit, on the way to the loop that it ends.
const OUT: usize = 1;
/// The number of sets that belong to no block. The sets below exist once per open block.
const OWN: usize = 2;

/// The set of the keys that are certain at the start of a block.
const ENTRY: usize = 0;
/// The set of the keys that are certain after a block. For a loop, match or `try`, it is the
/// intersection over all ways out. For a parallel, it is the union over the branches, or the
/// intersection if the first branch wins.
const AFTER: usize = 1;
/// Four sets for a parallel: the keys that finished branches wrote and read, and the keys that the
/// open branch writes and reads.
pub(super) const WROTE: usize = 2;
pub(super) const READ: usize = 3;
pub(super) const WRITING: usize = 4;
pub(super) const READING: usize = 5;
const PER_BLOCK: usize = 6;

/// Returns the index of a set of the block at a depth.
pub(super) const fn set_of(depth: usize, set: usize) -> usize {
    OWN + PER_BLOCK * depth + set
}

/// Returns the number of sets that a walk needs.
pub(in crate::check::flow) const fn sets(depth: usize) -> usize {
    OWN + PER_BLOCK * depth
}

/// A block around the current step.
#[derive(Clone, Copy, Debug)]
pub(in crate::check::flow) struct Block {
    pub(super) kind: BlockKind,
    pub(super) at: usize,
    /// Whether anything ends the block, if it is a loop.
    pub(super) ends: bool,
}

impl Block {
    pub(in crate::check::flow) const EMPTY: Self = Self {
        kind: BlockKind::Sequence,
        at: NONE,
        ends: false,
    };
}

#[derive(Clone, Copy, Debug)]
pub(super) enum BlockKind {
    Sequence,
    Parallel {
        /// Whether the first branch wins.
        first: bool,
    },
    /// A branch of a parallel, or an arm of a match.
    Branch,
    Match,
    Loop,
    Each,
    Try,
    Else,
}

impl<'a> Walk<'_, 'a> {
    /// Applies an exit to the innermost loop, or to the loop with a name.
    pub(super) const fn exit(&mut self, at: usize, target: Option<&'a str>) {
        self.sets.copy(OUT, SURE);
        // A `break` that no run reaches ends no loop.
        let ends = !self.sets.has(SURE, NEVER);
        let mut d = self.depth;
        while d > 0 {
            d -= 1;
            match self.blocks[d].kind {
                BlockKind::Loop => {
                    self.blocks[d].ends = self.blocks[d].ends || ends;
                    let takes = match target {
                        None => true,
                        Some(name) => same(self.spec.steps[self.blocks[d].at].name, name),
                    };
                    if takes {
                        self.sets.meet(set_of(d, AFTER), OUT);
                        return;
                    }
                }
                // An exit leaves the `each` before its lists are written, so only the keys from
                // before the `each` are certain.
                BlockKind::Each => self.sets.meet(OUT, set_of(d, ENTRY)),
                _ => {}
            }
        }
        let key = match target {
            Some(name) => name,
            None => "",
        };
        // A step gets only one diagnostic about an exit outside of a loop. An agent and its
        // transfer targets may have the same exits, and an agent that ends a loop by name may also
        // end any loop. The diagnostic names the loop if any exit names one.
        let mut i = 0;
        while i < self.found {
            let known = &mut self.diagnostics[i];
            if known.at == at
                && matches!(known.kind, DiagnosticKind::ExitOutside)
                && (known.key.is_empty() || same(known.key, key))
            {
                known.key = key;
                return;
            }
            i += 1;
        }
        self.push(FlowDiagnostic::new(
            at,
            StepPart::Name,
            key,
            DiagnosticKind::ExitOutside,
        ));
    }

    pub(super) const fn open(&mut self, at: usize, kind: BlockKind) {
        let d = self.depth;
        self.blocks[d] = Block {
            kind,
            at,
            ends: false,
        };
        self.sets.copy(set_of(d, ENTRY), SURE);
        match kind {
            BlockKind::Match | BlockKind::Loop | BlockKind::Try => {
                self.sets.fill(set_of(d, AFTER), true)
            }
            BlockKind::Parallel { first } => {
                self.parallels += 1;
                self.sets.copy(set_of(d, AFTER), SURE);
                if first {
                    self.sets.fill(set_of(d, AFTER), true);
                }
                let mut set = WROTE;
                while set <= READING {
                    self.sets.fill(set_of(d, set), false);
                    set += 1;
                }
            }
            _ => {}
        }
        self.depth += 1;
    }

    /// Opens the `else` of a `try`. The `try` may have failed at any point, also in earlier
    /// attempts, so only the keys from before the `try` are certain.
    pub(super) const fn open_else(&mut self, at: usize) {
        if self.depth > 0 {
            let d = self.depth - 1;
            self.sets.meet(set_of(d, AFTER), SURE);
            self.sets.copy(SURE, set_of(d, ENTRY));
        }
        self.open(at, BlockKind::Else);
        let error = self.keys.enter_else(at);
        self.sets.add(SURE, error);
    }

    pub(super) const fn close(&mut self) {
        // A list of steps that was made by hand may close more blocks than it opens.
        if self.depth == 0 {
            return;
        }
        let d = self.depth - 1;
        let Block { kind, at, ends } = self.blocks[d];
        if let StepKind::Loop { max, until } = self.spec.steps[at].kind {
            if let Some(key) = until {
                let read = self.read(at, StepPart::Key, &KeyName::new(key), false, Reader::Until);
                self.check_steering_type(at, read);
            }
            if max.is_some() || until.is_some() {
                self.sets.meet(set_of(d, AFTER), SURE);
            }
            // The step after an endless loop counts as reached, so that the loops around it are not
            // reported as endless too.
            if !ends && !self.sets.has(set_of(d, ENTRY), NEVER) {
                self.sets.remove(set_of(d, AFTER), NEVER);
                self.push(FlowDiagnostic::new(
                    at,
                    StepPart::Name,
                    "",
                    DiagnosticKind::Endless,
                ));
            }
        }
        self.depth = d;
        match kind {
            BlockKind::Sequence => {}
            BlockKind::Branch => self.close_branch(),
            BlockKind::Parallel { .. } => {
                self.parallels -= 1;
                self.sets.copy(SURE, set_of(d, AFTER));
            }
            BlockKind::Try => {
                self.sets.meet(set_of(d, AFTER), SURE);
                self.sets.copy(SURE, set_of(d, AFTER));
            }
            BlockKind::Else => self.keys.leave(),
            BlockKind::Match | BlockKind::Loop => self.sets.copy(SURE, set_of(d, AFTER)),
            BlockKind::Each => {
                let StepKind::Each { item, .. } = self.spec.steps[at].kind else {
                    return;
                };
                let mut key = self.keys.written_key(&KeyName::new(item), false);
                self.keys.leave();
                // The list may be empty, so no key inside is certain. The lists of the written keys
                // are certain.
                self.sets.copy(SURE, set_of(d, ENTRY));
                while key != NONE {
                    let Key { list, next, .. } = self.keys.all[key];
                    if list != NONE {
                        self.write_key(at, list, true);
                    }
                    key = next;
                }
            }
        }
        // A callback may have answered in place of the block, or any branch may have failed.
        if self.spec.steps[at].skippable || self.spec.steps[at].skips_branches() {
            self.sets.meet(SURE, set_of(d, ENTRY));
        }
    }

    pub(super) const fn close_branch(&mut self) {
        if self.depth == 0 {
            return;
        }
        let parent = self.depth - 1;
        if let BlockKind::Parallel { first } = self.blocks[parent].kind {
            if first {
                self.sets.meet(set_of(parent, AFTER), SURE);
            } else {
                self.sets.join(set_of(parent, AFTER), SURE);
            }
            self.sets
                .join(set_of(parent, WROTE), set_of(parent, WRITING));
            self.sets
                .join(set_of(parent, READ), set_of(parent, READING));
            self.sets.fill(set_of(parent, WRITING), false);
            self.sets.fill(set_of(parent, READING), false);
        } else {
            self.sets.meet(set_of(parent, AFTER), SURE);
        }
        self.sets.copy(SURE, set_of(parent, ENTRY));
    }
}
