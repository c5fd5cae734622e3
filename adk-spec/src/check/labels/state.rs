//! [`States`]: the marks of all keys and of the conversation, at several points of a workflow.
//!
//! Each nested workflow has a [`Level`] with its own keys. The states of a level are consecutive
//! parts of one slice, behind those of the level around it.

use super::marks::Marks;
use crate::hash::{hash, mixed};
use crate::spec::{KeySpec, Step};

/// The state at the current step.
pub(super) const NOW: usize = 0;
/// Everything that was ever written or said. A run may fail at any step, and leaves this to the
/// next run of its session.
pub(super) const EVER: usize = 1;
/// The state with which the last walk began.
pub(super) const START: usize = 2;
/// The states below exist once per open block.
const OWN: usize = 3;
/// The state at the start of a block, joined with the states with which it begins again.
pub(super) const ENTRY: usize = 0;
/// The state after a block, joined over all ways out.
pub(super) const EXIT: usize = 1;
/// The states in the middle of a block that may fail there, where they differ from its end.
pub(super) const LEFT: usize = 2;
const PER_BLOCK: usize = 3;

/// The conversation.
const HEARD: usize = 0;
/// The last words of the last speaker.
const LAST: usize = 1;
/// The last words before the last speaker spoke.
const BEFORE: usize = 2;
/// What nested workflows have left in keys of their own. Only an agent that sees everything reads
/// it.
const ASIDE: usize = 3;
const KEYS: usize = 4;

/// The largest number of `await` steps with a default whose answers are known at one point.
const ASKED: usize = 4;

/// The parts of a state that are not marks.
#[derive(Clone, Copy, Debug)]
pub(in crate::check) struct Head {
    /// The hash of the last speaker's name; 0 if it may be one of several.
    pub(super) speaker: u64,
    /// Whether no run arrives here.
    pub(super) dead: bool,
    /// The steps, counted from 1, of `await`s with a default whose answer and shown keys no step
    /// has written since. 0 is a free place.
    pub(super) asked: [u16; ASKED],
}

impl Head {
    pub(super) const NEW: Self = Self {
        speaker: 0,
        dead: false,
        asked: [0; ASKED],
    };

    const fn has_asked(&self, step: u16) -> bool {
        any!(known in &self.asked => *known == step)
    }

    pub(super) const fn has_questions(&self) -> bool {
        any!(step in &self.asked => *step != 0)
    }

    /// Keeps the questions that both have asked.
    pub(super) const fn keep_common(&mut self, other: &Self) {
        let mut i = 0;
        while i < ASKED {
            if !other.has_asked(self.asked[i]) {
                self.asked[i] = 0;
            }
            i += 1;
        }
    }

    pub(super) const fn ask(&mut self, step: usize) {
        let free = find!(i in 0, ASKED => self.asked[i] == 0);
        if let Some(free) = free {
            self.asked[free] = step as u16 + 1;
        }
    }
}

/// A key with a mark.
#[derive(Clone, Copy, Debug)]
pub(in crate::check) struct MarkedKey<'a> {
    pub(super) name: &'a str,
    hash: u64,
    /// Whether the key belongs to the session, so that later runs find its value.
    pub(super) lasts: bool,
}

impl MarkedKey<'_> {
    pub(super) const NONE: Self = Self {
        name: "",
        hash: 0,
        lasts: false,
    };
}

/// Indices into the slices of all levels.
#[derive(Clone, Copy, Debug)]
struct LevelPlaces {
    cells: usize,
    heads: usize,
    keys: usize,
    slots: usize,
    blocks: usize,
}

/// The blocks around a nested workflow.
#[derive(Clone, Copy, Debug)]
pub(super) struct OuterBlocks {
    /// Whether such a block is open around a nested workflow.
    pub(super) is_weak_around: bool,
    /// Whether a run may execute the level several times.
    pub(super) repeats: bool,
    /// Whether the level is inside a branch or an element, from where the events of inner branches
    /// are not visible.
    pub(super) is_in_branch: bool,
}

/// The checked workflow, or a workflow inside of it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Level<'a> {
    pub(super) steps: &'a [Step<'a>],
    /// The name of a nested workflow; empty for the checked one.
    pub(super) name: &'a str,
    /// The number of the level: a nested workflow has the same one in each execution.
    pub(super) id: u64,
    /// The outputs of a nested workflow, which are keys of the workflow around it.
    pub(super) outputs: &'a [KeySpec<'a>],
    /// What an agent that sees everything reads besides the level: the workflows around it, and
    /// what other branches write at the same time.
    pub(super) around: Marks,
    /// The first places of the level in the slices.
    first: LevelPlaces,
    /// The number of cells of a state.
    stride: usize,
    /// The number of keys.
    pub(super) count: usize,
    /// The number of slots minus 1.
    mask: usize,
    /// The number of open blocks.
    pub(super) depth: usize,
    /// The number of open blocks that may fail, or run several times at once. No write cleans a
    /// key there.
    pub(super) weak: usize,
    pub(super) blocks: OuterBlocks,
}

impl Level<'_> {
    /// The place before the checked workflow.
    pub(super) const OUTSIDE: Self = Self {
        steps: &[],
        name: "",
        id: 0,
        outputs: &[],
        around: Marks::NONE,
        first: LevelPlaces {
            cells: 0,
            heads: 0,
            keys: 0,
            slots: 0,
            blocks: 0,
        },
        stride: 0,
        count: 0,
        mask: 0,
        depth: 0,
        weak: 0,
        blocks: OuterBlocks {
            is_weak_around: false,
            repeats: false,
            is_in_branch: false,
        },
    };

    /// Returns the state of the block at a depth.
    pub(super) const fn of_block(depth: usize, state: usize) -> usize {
        OWN + PER_BLOCK * depth + state
    }

    /// Returns the index of the open block at a depth.
    pub(super) const fn block(&self, depth: usize) -> usize {
        self.first.blocks + depth
    }

    const fn states(&self) -> usize {
        if self.stride == 0 {
            0
        } else {
            OWN + PER_BLOCK * self.depth
        }
    }
}

/// The states of the current level and of those around it.
pub(super) struct States<'t, 'a> {
    cells: &'t mut [Marks],
    heads: &'t mut [Head],
    keys: &'t mut [MarkedKey<'a>],
    /// Indices of keys by hash, counted from 1; 0 marks a free slot.
    slots: &'t mut [u16],
    /// Whether a slice was too small.
    pub(super) is_full: bool,
    pub(super) at: Level<'a>,
    /// The marks of all writes since a block began.
    pub(super) written: Marks,
}

impl<'t, 'a> States<'t, 'a> {
    pub(super) const fn new(
        cells: &'t mut [Marks],
        heads: &'t mut [Head],
        keys: &'t mut [MarkedKey<'a>],
        slots: &'t mut [u16],
    ) -> Self {
        Self {
            cells,
            heads,
            keys,
            slots,
            is_full: false,
            at: Level::OUTSIDE,
            written: Marks::NONE,
        }
    }

    /// Enters a workflow that has at most `most` keys.
    pub(super) const fn enter(&mut self, steps: &'a [Step<'a>], name: &'a str, most: usize) {
        let around = self.at;
        let slots = (2 * most + 2).next_power_of_two();
        let level = Level {
            steps,
            name,
            id: mixed(around.id.rotate_left(1), hash(name)),
            outputs: &[],
            around: Marks::NONE,
            first: LevelPlaces {
                cells: around.first.cells + around.states() * around.stride,
                heads: around.first.heads + around.states(),
                // The level around may get keys while this level is read.
                keys: around.first.keys + around.stride.saturating_sub(KEYS),
                slots: if around.stride == 0 {
                    0
                } else {
                    around.first.slots + around.mask + 1
                },
                blocks: around.first.blocks + around.depth,
            },
            stride: KEYS + most,
            count: 0,
            mask: slots - 1,
            depth: 0,
            weak: 0,
            blocks: OuterBlocks {
                is_weak_around: around.weak > 0 || around.blocks.is_weak_around,
                repeats: false,
                is_in_branch: false,
            },
        };
        self.is_full = self.is_full
            || level.first.cells + OWN * level.stride > self.cells.len()
            || level.first.heads + OWN > self.heads.len()
            || level.first.keys + most > self.keys.len()
            || level.first.slots + slots > self.slots.len();
        if self.is_full {
            return;
        }
        self.at = level;
        let mut slot = level.first.slots;
        while slot < level.first.slots + slots {
            self.slots[slot] = 0;
            slot += 1;
        }
        self.clear(NOW);
        self.clear(EVER);
        self.clear(START);
    }

    /// Makes room for the states of one more open block. Returns whether there is room.
    pub(super) const fn grow(&mut self) -> bool {
        let Level {
            first: LevelPlaces { cells, heads, .. },
            stride,
            depth,
            ..
        } = self.at;
        let states = OWN + PER_BLOCK * (depth + 1);
        self.is_full = self.is_full
            || cells + states * stride > self.cells.len()
            || heads + states > self.heads.len();
        !self.is_full
    }

    const fn place(&self, state: usize) -> usize {
        self.at.first.cells + state * self.at.stride
    }

    pub(super) const fn head(&self, state: usize) -> Head {
        self.heads[self.at.first.heads + state]
    }

    /// Returns whether no run arrives at the current step.
    pub(super) const fn is_dead(&self) -> bool {
        self.heads[self.at.first.heads + NOW].dead
    }

    /// Returns the hash of the last speaker's name; 0 if it may be one of several.
    pub(super) const fn speaker(&self) -> u64 {
        self.heads[self.at.first.heads + NOW].speaker
    }

    pub(super) const fn head_mut(&mut self, state: usize) -> &mut Head {
        &mut self.heads[self.at.first.heads + state]
    }

    pub(super) const fn clear(&mut self, state: usize) {
        let (mut cell, end) = (self.place(state), self.place(state) + self.at.stride);
        while cell < end {
            self.cells[cell] = Marks::NONE;
            cell += 1;
        }
        *self.head_mut(state) = Head::NEW;
    }

    pub(super) const fn copy(&mut self, to: usize, from: usize) {
        let (target, source, len) = (self.place(to), self.place(from), self.at.stride);
        if target < source {
            let (low, high) = self.cells.split_at_mut(source);
            let room = low.split_at_mut(target).1.split_at_mut(len).0;
            room.copy_from_slice(high.split_at(len).0);
        } else if source < target {
            let (low, high) = self.cells.split_at_mut(target);
            let room = high.split_at_mut(len).0;
            room.copy_from_slice(low.split_at(source).1.split_at(len).0);
        }
        *self.head_mut(to) = self.head(from);
    }

    /// Adds a state to another one: each mark of both, and only what both know.
    pub(super) const fn join(&mut self, to: usize, from: usize) {
        if self.head(from).dead {
            return;
        }
        if self.head(to).dead {
            return self.copy(to, from);
        }
        self.join_cells(to, from, 0);
        let from = self.head(from);
        let head = self.head_mut(to);
        if head.speaker != from.speaker {
            head.speaker = 0;
        }
        head.keep_common(&from);
    }

    /// Adds only the marks of keys.
    pub(super) const fn join_keys(&mut self, to: usize, from: usize) {
        self.join_cells(to, from, ASIDE);
    }

    /// Adds only the last words.
    pub(super) const fn join_last(&mut self, to: usize, from: usize) {
        let (target, source) = (self.place(to), self.place(from));
        self.cells[target + LAST] = self.cells[target + LAST].or(self.cells[source + LAST]);
        self.cells[target + BEFORE] = self.cells[target + BEFORE].or(self.cells[source + BEFORE]);
        if self.head(to).speaker != self.head(from).speaker {
            self.head_mut(to).speaker = 0;
        }
    }

    const fn join_cells(&mut self, to: usize, from: usize, first: usize) {
        let (to, from, len) = (self.place(to), self.place(from), KEYS + self.at.count);
        let mut i = first;
        while i < len {
            let other = self.cells[from + i];
            if !other.is_none() {
                self.cells[to + i] = self.cells[to + i].or(other);
            }
            i += 1;
        }
    }

    /// Returns whether a state has nothing that another one lacks.
    pub(super) const fn is_within(&self, state: usize, other: usize) -> bool {
        let (one, all) = (self.head(state), self.head(other));
        if one.dead || all.dead {
            return one.dead;
        }
        (one.speaker == all.speaker || all.speaker == 0)
            && !any!(step in &all.asked => !one.has_asked(*step) && *step != 0)
            && self.are_cells_within(state, other, 0)
    }

    /// Returns whether the marks of keys in a state are also in another one.
    pub(super) const fn are_keys_within(&self, state: usize, other: usize) -> bool {
        self.are_cells_within(state, other, ASIDE)
    }

    const fn are_cells_within(&self, state: usize, other: usize, first: usize) -> bool {
        let (one, all, len) = (self.place(state), self.place(other), KEYS + self.at.count);
        let mut i = first;
        while i < len {
            if !self.cells[one + i].is_within(self.cells[all + i]) {
                return false;
            }
            i += 1;
        }
        true
    }

    /// Returns the marks of everything in a state.
    pub(super) const fn everything(&self, state: usize) -> Marks {
        let (place, len) = (self.place(state), KEYS + self.at.count);
        let (mut marks, mut i) = (Marks::NONE, 0);
        while i < len {
            marks = marks.or(self.cells[place + i]);
            i += 1;
        }
        marks
    }

    /// Returns the number of marks of keys.
    pub(super) const fn count_marks(&self) -> usize {
        let (place, len) = (self.place(NOW), KEYS + self.at.count);
        let (mut count, mut i) = (0, ASIDE);
        while i < len {
            let Marks { untrusted, private } = self.cells[place + i];
            count += (untrusted != 0) as usize + (private != 0) as usize;
            i += 1;
        }
        count
    }

    /// Returns what nested workflows have left in a state.
    pub(super) const fn aside(&self, state: usize) -> Marks {
        self.cells[self.place(state) + ASIDE]
    }

    pub(super) const fn add_aside(&mut self, marks: Marks) {
        let cell = self.place(NOW) + ASIDE;
        self.cells[cell] = self.cells[cell].or(marks);
    }

    pub(super) const fn heard(&self, state: usize) -> Marks {
        self.cells[self.place(state) + HEARD]
    }

    pub(super) const fn last(&self, state: usize) -> Marks {
        self.cells[self.place(state) + LAST]
    }

    pub(super) const fn before(&self, state: usize) -> Marks {
        self.cells[self.place(state) + BEFORE]
    }

    pub(super) const fn set_speech(&mut self, heard: Marks, last: Marks, before: Marks) {
        let place = self.place(NOW);
        self.cells[place + HEARD] = heard;
        self.cells[place + LAST] = last;
        self.cells[place + BEFORE] = before;
        let ever = place + self.at.stride + HEARD;
        self.cells[ever] = self.cells[ever].or(heard);
    }

    /// Adds to what was ever said.
    pub(super) const fn note_heard(&mut self, heard: Marks) {
        let ever = self.place(EVER) + HEARD;
        self.cells[ever] = self.cells[ever].or(heard);
    }

    /// Marks a state as one in which anything that was said may be the last words.
    pub(super) const fn unsettle(&mut self, state: usize) {
        let (place, heard) = (self.place(state), self.heard(state));
        self.cells[place + LAST] = self.cells[place + LAST].or(heard);
        self.cells[place + BEFORE] = self.cells[place + BEFORE].or(heard);
        self.head_mut(state).speaker = 0;
    }

    /// Returns the index of the key with a hash in a level.
    const fn lookup(&self, level: &Level<'_>, hash: u64) -> Result<usize, usize> {
        let mut slot = hash as usize & level.mask;
        loop {
            match self.slots[level.first.slots + slot] {
                0 => return Err(slot),
                key if self.keys[level.first.keys + key as usize - 1].hash == hash => {
                    return Ok(key as usize - 1);
                }
                _ => slot = (slot + 1) & level.mask,
            }
        }
    }

    /// Returns whether a key is known as one of the session.
    pub(super) const fn lasts(&self, name: &str) -> bool {
        match self.lookup(&self.at, hash(name)) {
            Ok(key) => self.keys[self.at.first.keys + key].lasts,
            Err(_) => false,
        }
    }

    pub(super) const fn read(&self, hash: u64) -> Marks {
        match self.lookup(&self.at, hash) {
            Ok(key) => self.cells[self.at.first.cells + KEYS + key],
            Err(_) => Marks::NONE,
        }
    }

    /// Returns the marks of a key in a state of a level around the current one.
    pub(super) const fn read_at(&self, level: &Level<'_>, hash: u64, state: usize) -> Marks {
        match self.lookup(level, hash) {
            Ok(key) => self.cells[level.first.cells + state * level.stride + KEYS + key],
            Err(_) => Marks::NONE,
        }
    }

    /// Returns a key of a level with its marks.
    pub(super) const fn key_at(
        &self,
        level: &Level<'a>,
        key: usize,
        state: usize,
    ) -> (MarkedKey<'a>, Marks) {
        let cell = level.first.cells + state * level.stride + KEYS + key;
        (self.keys[level.first.keys + key], self.cells[cell])
    }

    /// Returns the cell of a key in a state. Adds the key if it is new.
    const fn cell(&mut self, name: &'a str, hash: u64, lasts: bool) -> Option<usize> {
        let level = self.at;
        let key = match self.lookup(&level, hash) {
            Ok(key) => key,
            Err(_) if KEYS + level.count == level.stride => {
                self.is_full = true;
                return None;
            }
            Err(slot) => {
                self.keys[level.first.keys + level.count] = MarkedKey {
                    name,
                    hash,
                    lasts: false,
                };
                self.slots[level.first.slots + slot] = level.count as u16 + 1;
                self.at.count += 1;
                level.count
            }
        };
        let known = &mut self.keys[level.first.keys + key];
        known.lasts = known.lasts || lasts;
        Some(KEYS + key)
    }

    /// Writes a key. `sure` replaces the marks of its former value.
    pub(super) const fn write(&mut self, name: &'a str, marks: Marks, sure: bool, lasts: bool) {
        self.write_at(hash(name), name, marks, sure, lasts);
    }

    /// Writes a key with a known hash.
    pub(super) const fn write_at(
        &mut self,
        hash: u64,
        name: &'a str,
        marks: Marks,
        sure: bool,
        lasts: bool,
    ) {
        self.written = self.written.or(marks);
        // Most keys never have marks.
        if marks.is_none() && self.lookup(&self.at, hash).is_err() {
            return;
        }
        if let Some(cell) = self.cell(name, hash, lasts) {
            let now = self.place(NOW) + cell;
            let ever = now + self.at.stride;
            self.cells[now] = if sure {
                marks
            } else {
                self.cells[now].or(marks)
            };
            self.cells[ever] = self.cells[ever].or(marks);
        }
    }

    /// Adds marks that a key had before, such as in a failed execution of a nested workflow.
    pub(super) const fn note(&mut self, name: &'a str, marks: Marks, lasts: bool) {
        if marks.is_none() {
            return;
        }
        if let Some(cell) = self.cell(name, hash(name), lasts) {
            let ever = self.place(EVER) + cell;
            self.cells[ever] = self.cells[ever].or(marks);
        }
    }
}
