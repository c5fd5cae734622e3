//! [`LabelWalk`]: the flow of marks through the steps of a workflow, and of the workflows inside
//! it.
//!
//! Paths join, and blocks that repeat are walked until no mark is new. The walk of a whole workflow
//! is repeated too: a later run of the session begins with what earlier runs have left.

use super::arms::excludes;
use super::findings::Finding;
use super::kept::{Kept, KeptKey};
use super::marks::{Cause, Causes, How, Marks};
use super::notes::{Note, Notes};
use super::state::{ENTRY, EVER, EXIT, Head, LEFT, Level, MarkedKey, NOW, START, States};
use crate::check::flow::count;
use crate::effects::{Effects, contains};
use crate::hash::hash;
use crate::spec::{ERROR_KEY, Guards, OnError, Spec, Step, StepKind, has_prefix};
use crate::text::{same, starts_with};

/// The largest number of workflows and agents as tools around each other.
pub(super) const DEEPEST: usize = 16;

/// The slices that a walk fills.
pub(super) struct Room<'t, 'a> {
    pub(super) cells: &'t mut [Marks],
    pub(super) heads: &'t mut [Head],
    pub(super) keys: &'t mut [MarkedKey<'a>],
    pub(super) kept: &'t mut [KeptKey<'a>],
    pub(super) key_slots: &'t mut [u16],
    pub(super) blocks: &'t mut [MarkedBlock],
    pub(super) causes: &'t mut [Cause<'a>],
    pub(super) cause_slots: &'t mut [u16],
    pub(super) findings: &'t mut [Finding<'a>],
    /// Empty in const evaluation.
    pub(super) notes: &'t mut [Note<'a>],
}

/// An open block.
#[derive(Clone, Copy, Debug)]
pub(in crate::check) struct MarkedBlock {
    pub(super) at: usize,
    /// Whether the block is a `try` with an `else`.
    has_else: bool,
    /// What errors before the block may quote.
    errors: Marks,
    /// What was written before the block.
    written: Marks,
    /// What an agent before the block reads of other branches.
    around: Marks,
}

impl MarkedBlock {
    /// The call of an agent that is a tool. Nothing inside leaves a block around it.
    const CALL: usize = usize::MAX;
    pub(super) const NONE: Self = Self {
        at: Self::CALL,
        has_else: false,
        errors: Marks::NONE,
        written: Marks::NONE,
        around: Marks::NONE,
    };
}

pub(super) struct LabelWalk<'t, 'a> {
    pub(super) states: States<'t, 'a>,
    blocks: &'t mut [MarkedBlock],
    pub(super) causes: Causes<'t, 'a>,
    pub(super) kept: Kept<'t, 'a>,
    pub(super) findings: &'t mut [Finding<'a>],
    pub(super) found: usize,
    pub(super) notes: Notes<'t, 'a>,
    pub(super) guards: Guards<'a>,
    /// Whether the workflow, or the one inside it that is walked, has guards.
    pub(super) is_guarded: bool,
    /// Whether builders made the workflow: their keys are those of the session, and the check of
    /// concurrent accesses may be off.
    is_built: bool,
    pub(super) earlier: EarlierRuns,
    pub(super) now: Progress,
}

/// Where a walk is, and what it has met.
#[derive(Clone, Copy)]
pub(super) struct Progress {
    /// What errors may quote since a block began: what the steps have seen.
    pub(super) errors: Marks,
    /// Whether an `await` with a default was walked.
    pub(super) has_asked: bool,
    /// Whether an agent that sees everything was walked.
    pub(super) reads_all: bool,
    /// Whether an agent was walked that reads a key which may be absent.
    pub(super) reads_absent: bool,
    /// The number of walked steps.
    #[cfg(test)]
    pub(super) walked: usize,
    /// The current step of the checked workflow.
    pub(super) root: usize,
    /// The number of nested workflows and agents as tools around the current step.
    pub(super) nested: usize,
    pub(super) is_too_deep: bool,
}

/// The runs of the session, or of the user, before the walked one.
pub(super) struct EarlierRuns {
    /// Whether there are any.
    pub(super) exist: bool,
    /// The marks of what they may have left as artifacts of the user.
    pub(super) shelf: Marks,
    /// Whether anything reads artifacts of the user.
    pub(super) reads_shelf: bool,
}

/// Why the walk could not see everything.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::check) enum Limit {
    None,
    /// A slice was too small.
    Room,
    Depth,
}

/// Walks a workflow. The walk ends early at a [`Limit`].
pub(super) const fn walk<'t, 'a>(spec: &Spec<'a>, room: Room<'t, 'a>) -> LabelWalk<'t, 'a> {
    let guards = match spec.guards {
        Some(guards) => *guards,
        None => Guards::NONE,
    };
    let mut walk = LabelWalk {
        states: States::new(room.cells, room.heads, room.keys, room.key_slots),
        blocks: room.blocks,
        causes: Causes::new(room.causes, room.cause_slots),
        kept: Kept::new(room.kept),
        findings: room.findings,
        found: 0,
        notes: Notes::new(room.notes),
        guards,
        is_guarded: spec.guards.is_some(),
        is_built: spec.built,
        earlier: EarlierRuns {
            exist: false,
            shelf: Marks::NONE,
            reads_shelf: false,
        },
        now: Progress {
            errors: Marks::NONE,
            has_asked: false,
            reads_all: false,
            reads_absent: false,
            #[cfg(test)]
            walked: 0,
            root: 0,
            nested: 0,
            is_too_deep: false,
        },
    };
    let guarded = guards.untrusted.len() + guards.private.len();
    let most = count(spec.steps) + spec.declared_count() + guarded;
    walk.states.enter(spec.steps, "", most);
    loop {
        walk.begin(spec);
        if walk.is_over() {
            return walk;
        }
        let is_new = !walk.states.is_within(NOW, START)
            || walk.earlier.reads_shelf && !walk.states.heard(EVER).is_within(walk.earlier.shelf);
        if walk.earlier.exist && !is_new {
            return walk;
        }
        walk.earlier.shelf = walk.states.heard(EVER);
        walk.states.copy(START, NOW);
        walk.steps();
        while walk.kept.has_grown && !walk.is_over() {
            walk.kept.has_grown = false;
            walk.states.copy(NOW, START);
            walk.steps();
        }
        walk.earlier.exist = true;
    }
}

impl<'a> LabelWalk<'_, 'a> {
    /// Returns the limit at which the walk ended.
    pub(super) const fn limit(&self) -> Limit {
        if self.now.is_too_deep {
            Limit::Depth
        } else if self.is_full() {
            Limit::Room
        } else {
            Limit::None
        }
    }

    pub(super) const fn is_over(&self) -> bool {
        self.now.is_too_deep
            || self.states.is_full
            || self.causes.is_full
            || self.kept.is_full
            || self.notes.is_full
    }

    const fn is_full(&self) -> bool {
        self.states.is_full || self.causes.is_full || self.kept.is_full || self.notes.is_full
    }

    /// Sets the state in which a run begins.
    const fn begin(&mut self, spec: &Spec<'a>) {
        if self.is_over() {
            return;
        }
        self.states.clear(NOW);
        let (mut untrusted, mut private) = (false, false);
        let message = request_input(spec);
        each!(key in self.guards.untrusted => {
            untrusted = untrusted || same(key, "user") || same(key, message);
        });
        each!(key in self.guards.private => { private = private || same(key, message) });
        // The only input is the message of the run if it is a text.
        if untrusted {
            self.guard(spec, message, true);
        }
        self.guard_keys(spec, self.guards.untrusted, true);
        self.guard_keys(spec, self.guards.private, false);
        let mut said = Marks::NONE;
        if untrusted {
            said = said.or(self.causes.guard("user", true));
        }
        if private {
            said = said.or(self.causes.guard("user", false));
        }
        let ever = if self.guards.fresh {
            Marks::NONE
        } else {
            self.states.heard(EVER)
        };
        // The message is the last word, also if it is empty.
        self.states.set_speech(said.or(ever), said, ever);
        self.states.head_mut(NOW).speaker = hash("user");
        let (level, mut i) = (self.states.at, 0);
        while i < level.count {
            let (key, marks) = self.states.key_at(&level, i, EVER);
            if self.is_left(spec, &key) {
                self.states.write(key.name, marks, false, false);
            }
            i += 1;
        }
    }

    /// Returns whether a run begins with the value of a key that an earlier run wrote.
    const fn is_left(&self, spec: &Spec<'_>, key: &MarkedKey<'_>) -> bool {
        if has_prefix(key.name) {
            return if self.guards.fresh {
                starts_with(key.name, "user:") || starts_with(key.name, "app:")
            } else {
                !starts_with(key.name, "temp:") || key.lasts || self.is_built
            };
        }
        !self.guards.fresh
            && (key.lasts
                || self.is_built
                || any!(state in spec.states => same(state.name, key.name)))
    }

    /// Marks the keys that guards name.
    pub(super) const fn guard_keys(
        &mut self,
        spec: &Spec<'a>,
        keys: &'a [&'a str],
        is_untrusted: bool,
    ) {
        each!(key in keys => { self.guard(spec, key, is_untrusted) });
    }

    const fn guard(&mut self, spec: &Spec<'a>, key: &'a str, is_untrusted: bool) {
        if key.is_empty() {
            return;
        }
        let mut i = 0;
        while let Some(declared) = spec.declared_key(i) {
            if is_untrusted && declared.is_closed() && same(declared.name, key) {
                return;
            }
            i += 1;
        }
        let marks = self.causes.guard(key, is_untrusted);
        self.states.write(key, marks, false, false);
    }

    /// Walks the steps of the current level.
    pub(super) const fn steps(&mut self) {
        let (mut at, end) = (0, self.states.at.steps.len());
        while at < end && !self.is_over() {
            if self.now.nested == 0 {
                self.now.root = at;
            }
            at = self.step(at);
        }
    }

    const fn is_dead(&self) -> bool {
        self.states.is_dead()
    }

    pub(super) const fn block(&self, depth: usize) -> MarkedBlock {
        self.blocks[self.states.at.block(depth)]
    }

    /// Returns the step of the block at a depth; `None` for the call of an agent as a tool.
    pub(super) const fn block_step(&self, depth: usize) -> Option<&'a Step<'a>> {
        match self.block(depth).at {
            MarkedBlock::CALL => None,
            at => Some(&self.states.at.steps[at]),
        }
    }

    /// Walks one step. Returns the next one.
    const fn step(&mut self, at: usize) -> usize {
        #[cfg(test)]
        {
            self.now.walked += 1;
        }
        let step = &self.states.at.steps[at];
        match step.kind {
            StepKind::Agent { meta, .. } => {
                if !self.is_dead() {
                    self.agent(at, meta, &step.renames);
                }
            }
            StepKind::Break { target } => {
                self.leave(target);
                self.states.head_mut(NOW).dead = true;
            }
            StepKind::Branch | StepKind::Arm { .. } if self.states.at.depth > 0 => {
                let parent = self.states.at.depth - 1;
                self.states.copy(NOW, Level::of_block(parent, ENTRY));
                self.open(at);
                self.read_branches(parent);
                if let StepKind::Arm { pattern } = step.kind
                    && let Some(block) = self.block_step(parent)
                    && let StepKind::Match { key } = block.kind
                {
                    self.take_arm(key, pattern);
                }
            }
            StepKind::Else if self.states.at.depth > 0 => return self.fail(at),
            StepKind::End => return self.close(at),
            StepKind::Each { item, list, .. } => {
                let marks = self.states.read(hash(list));
                self.now.errors = self.now.errors.or(marks);
                self.open(at);
                self.states.write(item, marks, false, false);
            }
            _ => self.open(at),
        }
        at + 1
    }

    const fn open(&mut self, at: usize) {
        let depth = self.states.at.depth;
        if !self.push(at) {
            return;
        }
        if at != MarkedBlock::CALL && is_weak(&self.states.at.steps[at]) {
            self.states.at.weak += 1;
        }
        self.states.copy(Level::of_block(depth, ENTRY), NOW);
        self.states.head_mut(Level::of_block(depth, EXIT)).dead = true;
        self.states.head_mut(Level::of_block(depth, LEFT)).dead = true;
    }

    /// Makes room for one more block.
    const fn push(&mut self, at: usize) -> bool {
        let block = self.states.at.block(self.states.at.depth);
        if block == self.blocks.len() {
            self.states.is_full = true;
        }
        if self.states.is_full || !self.states.grow() {
            return false;
        }
        self.blocks[block] = MarkedBlock {
            at,
            has_else: false,
            errors: self.now.errors,
            written: self.states.written,
            around: self.states.at.around,
        };
        (self.now.errors, self.states.written) = (Marks::NONE, Marks::NONE);
        self.states.at.depth += 1;
        true
    }

    /// Removes the innermost block.
    const fn pop(&mut self) {
        let depth = self.states.at.depth - 1;
        let block = self.block(depth);
        self.now.errors = block.errors.or(self.now.errors);
        self.states.written = block.written.or(self.states.written);
        self.states.at.around = block.around;
        self.states.at.depth = depth;
    }

    /// Opens the call of an agent that is a tool.
    pub(super) const fn open_call(&mut self) {
        self.open(MarkedBlock::CALL);
    }

    /// Ends the call of an agent that is a tool: the model may call it any number of times.
    pub(super) const fn close_call(&mut self) {
        if self.is_over() {
            return;
        }
        let (depth, inside) = (self.states.at.depth - 1, self.states.head(NOW));
        self.states.join_keys(Level::of_block(depth, ENTRY), NOW);
        self.states.copy(NOW, Level::of_block(depth, ENTRY));
        self.states.head_mut(NOW).keep_common(&inside);
        self.pop();
    }

    /// Adds the current state to the ways out of a loop: the innermost, or the one with a name.
    pub(super) const fn leave(&mut self, target: Option<&str>) {
        let mut depth = self.states.at.depth;
        while depth > 0 {
            depth -= 1;
            let Some(step) = self.block_step(depth) else {
                return;
            };
            if is_weak(step) {
                self.states.join(Level::of_block(depth, LEFT), NOW);
            }
            let is_named = match target {
                Some(name) => same(name, step.name),
                None => true,
            };
            if is_named && let StepKind::Loop { .. } = step.kind {
                return self.states.join(Level::of_block(depth, EXIT), NOW);
            }
        }
    }

    /// Keeps the current state as one in which a block around may fail.
    const fn keep_partial(&mut self) {
        let mut depth = self.states.at.depth;
        while depth > 0 {
            depth -= 1;
            match self.block_step(depth) {
                Some(step) if is_weak(step) => {
                    self.states.join(Level::of_block(depth, LEFT), NOW);
                }
                Some(_) => {}
                None => return,
            }
        }
    }

    /// Cleans a key that a person has seen.
    pub(super) const fn clean(&mut self, key: &'a str) {
        // A block around a nested workflow does not see the value before.
        if self.is_weak_around(key, self.states.lasts(key)) {
            return;
        }
        if self.states.at.weak > 0 {
            self.keep_partial();
        }
        self.states.write(key, Marks::NONE, true, false);
    }

    /// Writes a key. A `sure` write replaces the former value.
    pub(super) const fn write(&mut self, key: &'a str, marks: Marks, sure: bool, lasts: bool) {
        self.write_at(hash(key), key, marks, sure, lasts);
    }

    /// Writes a key with a known hash.
    pub(super) const fn write_at(
        &mut self,
        hash: u64,
        key: &'a str,
        marks: Marks,
        sure: bool,
        lasts: bool,
    ) {
        let is_sure = sure && self.states.at.weak == 0 && !self.is_weak_around(key, lasts);
        if self.now.has_asked {
            self.forget_questions(key);
        }
        self.states.write_at(hash, key, marks, is_sure, lasts);
    }

    /// Returns whether a key belongs to a workflow around this one, in which a block is open that
    /// may fail or run several times at once.
    const fn is_weak_around(&self, key: &str, lasts: bool) -> bool {
        let level = &self.states.at;
        level.blocks.is_weak_around && (lasts || has_prefix(key) || contains(level.outputs, key))
    }

    /// Returns whether an `await` with a default has asked about a key.
    pub(super) const fn has_asked_about(&self, key: &str) -> bool {
        let asked = self.states.head(NOW).asked;
        any!(step in &asked => *step != 0 && self.concerns(*step as usize - 1, key))
    }

    /// Ends the effect of questions that show a key, or whose answer it is.
    pub(super) const fn forget_questions(&mut self, key: &str) {
        let mut i = 0;
        while i < self.states.head(NOW).asked.len() {
            let step = self.states.head(NOW).asked[i];
            if step != 0 && self.concerns(step as usize - 1, key) {
                self.states.head_mut(NOW).asked[i] = 0;
            }
            i += 1;
        }
    }

    /// Returns whether an `await` shows a key or writes it.
    const fn concerns(&self, step: usize, key: &str) -> bool {
        let StepKind::Agent { meta, .. } = self.states.at.steps[step].kind else {
            return false;
        };
        let mut all = Effects::of(meta, &self.states.at.steps[step].renames);
        while let Some(effect) = all.next() {
            if same(effect.key, key) {
                return true;
            }
        }
        false
    }

    /// Begins an arm. If the arm excludes the default of an `await`, a person has chosen it.
    const fn take_arm(&mut self, key: &str, pattern: &str) {
        let asked = self.states.head(NOW).asked;
        each!(step in &asked => {
            if *step != 0
                && let StepKind::Agent { meta, .. } =
                    self.states.at.steps[*step as usize - 1].kind
                && let [answer] = meta.writes
                && same(answer.name, key)
                && excludes(pattern, meta.default)
            {
                self.show(meta);
            }
        });
    }

    /// Handles the last attempt of a `try`, and begins its `else`.
    const fn fail(&mut self, at: usize) -> usize {
        let depth = self.states.at.depth - 1;
        let (entry, exit, left) = (
            Level::of_block(depth, ENTRY),
            Level::of_block(depth, EXIT),
            Level::of_block(depth, LEFT),
        );
        self.states.join(exit, NOW);
        self.states.join(left, NOW);
        self.states.unsettle(left);
        let is_new = !self.states.is_within(left, entry);
        self.states.join(entry, left);
        self.states.copy(NOW, entry);
        let block = self.states.at.block(depth);
        if is_new {
            return self.blocks[block].at + 1;
        }
        self.blocks[block].has_else = true;
        let error = self.states.everything(NOW).or(self.now.errors);
        let error = self.causes.extend(error, How::Error, "", ERROR_KEY);
        self.open(at);
        self.states.write(ERROR_KEY, error, false, false);
        at + 1
    }

    const fn close(&mut self, end: usize) -> usize {
        if self.states.at.depth == 0 {
            return end + 1;
        }
        let depth = self.states.at.depth - 1;
        let MarkedBlock { at, has_else, .. } = self.block(depth);
        let Some(step) = self.block_step(depth) else {
            return end + 1;
        };
        let (entry, exit, left) = (
            Level::of_block(depth, ENTRY),
            Level::of_block(depth, EXIT),
            Level::of_block(depth, LEFT),
        );
        let skips = matches!(step.on_error, OnError::Skip);
        let repeats = matches!(
            step.kind,
            StepKind::Loop { .. } | StepKind::Each { .. } | StepKind::Try(_)
        );
        if repeats && !has_else && self.repeat(depth, step) {
            return at + 1;
        }
        match step.kind {
            StepKind::Branch | StepKind::Arm { .. } | StepKind::Else => {
                self.pop();
                if depth > 0 {
                    self.states.join(Level::of_block(depth - 1, EXIT), NOW);
                }
                return end + 1;
            }
            StepKind::Parallel { first, .. } => {
                if self.is_built && !self.states.are_keys_within(exit, entry) {
                    self.states.join_keys(entry, exit);
                    return at + 1;
                }
                if skips {
                    self.states.join(exit, entry);
                    self.states.join(exit, left);
                }
                if first || skips {
                    self.states.unsettle(exit);
                }
                self.end_branches(depth);
            }
            _ => {}
        }
        if !matches!(step.kind, StepKind::Sequence) {
            self.states.copy(NOW, exit);
        }
        if step.skippable {
            self.states.join(NOW, entry);
        }
        self.states.at.weak -= is_weak(step) as usize;
        self.pop();
        end + 1
    }

    /// Ends a round of a loop, the elements of an `each` or an attempt of a `try`. Returns whether
    /// the block begins again, with marks that its beginning lacks.
    const fn repeat(&mut self, depth: usize, step: &'a Step<'a>) -> bool {
        let (entry, exit, left) = (
            Level::of_block(depth, ENTRY),
            Level::of_block(depth, EXIT),
            Level::of_block(depth, LEFT),
        );
        let skips = matches!(step.on_error, OnError::Skip);
        // A loop without an end is left only by its exits.
        if !matches!(
            step.kind,
            StepKind::Loop {
                max: None,
                until: None
            }
        ) {
            self.states.join(exit, NOW);
        }
        if matches!(step.kind, StepKind::Try(_)) || skips {
            self.states.join(left, NOW);
            self.states.unsettle(left);
        } else {
            self.states.copy(left, NOW);
        }
        if !self.states.is_within(left, entry) {
            self.states.join(entry, left);
            self.states.copy(NOW, entry);
            if let StepKind::Each { item, list, .. } = step.kind {
                let marks = self.states.read(hash(list));
                self.states.write(item, marks, false, false);
            }
            return true;
        }
        if matches!(step.kind, StepKind::Each { .. }) {
            // The list may be empty, and elements may fail.
            self.states.join(exit, entry);
            if skips {
                self.states.unsettle(exit);
            }
        }
        false
    }
}

/// Returns the only input of a workflow if it is a text: the message of the run.
pub(crate) const fn request_input<'a>(spec: &Spec<'a>) -> &'a str {
    match spec.inputs {
        [input] if same(input.ty, "String") => input.name,
        _ => "",
    }
}

/// Returns whether no write inside a block cleans a key after it: the steps inside may fail, or run
/// several times at once.
const fn is_weak(step: &Step<'_>) -> bool {
    match step.kind {
        StepKind::Each { .. } | StepKind::Try(_) => true,
        StepKind::Parallel { first, .. } => first || matches!(step.on_error, OnError::Skip),
        _ => false,
    }
}
