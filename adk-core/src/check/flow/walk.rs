//! Definite assignment over the flat list of steps (DESIGN, section 6, the rules of the flow).

use super::closest::distance;
use super::effects::{Act, DEEPEST, Effects, has_prefix, may_exit};
use super::keys::{EVERY, Each, Key, Keys, NEVER, NONE, Writer};
use super::sets::Sets;
use super::{Fault, Flaw, Part, Reader, Row};
use crate::check::text::same;
use crate::spec::{AgentKind, AgentMeta, Renames, Spec, StepKind};

/// What is certain at the place of the walk.
const SURE: usize = 0;
/// What is certain at an exit, on its way to its loop.
const OUT: usize = 1;
/// Sets that are no block's.
const OWN: usize = 2;

/// The sets of a block.
const ENTRY: usize = 0;
/// Loop, match: the meet of the ways out. Parallel: the union of the branches.
const AFTER: usize = 1;
/// Parallel: what finished branches wrote and read, and what the open one does.
const WROTE: usize = 2;
const READ: usize = 3;
const WRITING: usize = 4;
const READING: usize = 5;
const PER_BLOCK: usize = 6;

/// A set of the block at that depth.
const fn set_of(depth: usize, set: usize) -> usize {
    OWN + PER_BLOCK * depth + set
}

/// How many sets a walk needs.
pub(super) const fn sets(depth: usize) -> usize {
    OWN + PER_BLOCK * depth
}

/// A block around the place of the walk.
#[derive(Clone, Copy, Debug)]
pub(super) struct Block {
    kind: Kind,
    at: usize,
    /// A loop that something ends.
    ends: bool,
}

impl Block {
    pub(super) const EMPTY: Self = Self { kind: Kind::Sequence, at: NONE, ends: false };
}

#[derive(Clone, Copy, Debug)]
enum Kind {
    Sequence,
    Parallel,
    /// Of a parallel or of a match.
    Branch,
    Match,
    Loop,
    Each,
}

/// Room for a walk, as large as [`super::sizes`] says.
pub(super) struct Room<'t, 'a> {
    pub(super) keys: &'t mut [Key<'a>],
    pub(super) slots: &'t mut [usize],
    pub(super) eaches: &'t mut [Each],
    pub(super) bits: &'t mut [u64],
    pub(super) blocks: &'t mut [Block],
    pub(super) faults: &'t mut [Fault<'a>],
    pub(super) rows: &'t mut [Row],
    /// How many keys of each step have a type that const evaluation can look up; `None` at run time, where types are
    /// compared by themselves.
    pub(super) typed: Option<&'t [u8]>,
}

pub(super) struct Walk<'t, 'a> {
    pub(super) spec: Spec<'a>,
    pub(super) keys: Keys<'t, 'a>,
    sets: Sets<'t>,
    blocks: &'t mut [Block],
    depth: usize,
    /// How many of the blocks are parallel.
    parallels: usize,
    faults: &'t mut [Fault<'a>],
    found: usize,
    lost: bool,
    pub(super) rows: &'t mut [Row],
    pub(super) typed: Option<&'t [u8]>,
}

/// Looks at a whole workflow; how many faults there are, and whether there was no room for more.
pub(super) const fn walk<'a>(spec: &Spec<'a>, room: Room<'_, 'a>) -> (usize, bool) {
    let words = super::words(room.keys.len());
    let mut walk = Walk {
        spec: *spec,
        keys: Keys::new(room.keys, room.slots, room.eaches),
        sets: Sets::new(room.bits, words),
        blocks: room.blocks,
        depth: 0,
        parallels: 0,
        faults: room.faults,
        found: 0,
        lost: false,
        rows: room.rows,
        typed: room.typed,
    };
    walk.register();
    let mut at = 0;
    while at < spec.steps.len() {
        walk.step(at);
        at += 1;
    }
    walk.outputs();
    (walk.found, walk.lost)
}

impl<'a> Walk<'_, 'a> {
    /// Fills the table of keys.
    const fn register(&mut self) {
        let steps = self.spec.steps;
        let mut at = steps.len();
        let mut i = 0;
        while i < self.spec.inputs.len() {
            self.keys.declare(self.spec.inputs[i].key(), at);
            (i, at) = (i + 1, at + 1);
        }
        i = 0;
        while i < self.spec.lets.len() {
            self.keys.declare(self.spec.lets[i], at);
            (i, at) = (i + 1, at + 1);
        }
        i = 0;
        while i < self.spec.states.len() {
            self.keys.declare(self.spec.states[i], at);
            (i, at) = (i + 1, at + 1);
        }
        // They are there from the start.
        let mut key = NEVER + 1;
        while key < self.keys.len() {
            self.sets.add(SURE, key);
            key += 1;
        }
        at = 0;
        while at < steps.len() {
            match steps[at].kind {
                StepKind::Agent { meta, .. } => self.register_agent(meta, at),
                StepKind::Each { item, .. } => {
                    self.keys.enter(at, item);
                }
                StepKind::End if self.keys.ends(steps, at) => self.keys.leave(),
                _ => {}
            }
            at += 1;
        }
    }

    const fn register_agent(&mut self, meta: &'a AgentMeta<'a>, at: usize) {
        let mut all = Effects::writes(meta, self.spec.steps[at].renames);
        while let Some(effect) = all.next() {
            let writer = match effect.act {
                Act::Write { spec, slot, .. } => Writer { spec, at, slot, depth: 0 },
                Act::May(spec) => Writer { spec, at, slot: NONE, depth: 0 },
                Act::Prompt { .. } | Act::Read { .. } => continue,
            };
            let typed = self.is_typed(&writer);
            if self.keys.write(effect.key, Some(writer), typed, false) {
                self.fault(at, Part::Name, effect.key, Flaw::Mixed);
            }
        }
        self.register_session(meta, self.spec.steps[at].renames, None);
    }

    /// Each output has to be certain at the end.
    const fn outputs(&mut self) {
        let mut i = 0;
        while i < self.spec.outputs.len() {
            let (at, name) = (self.spec.steps.len() + i, self.spec.outputs[i].name);
            match self.keys.resolve(name) {
                Some(key) => {
                    self.gives(at, key as u32, &self.spec.outputs[i]);
                    if !self.sets.has(SURE, key) && !self.spec.partial {
                        self.fault(at, Part::Name, name, Flaw::NoOutput);
                    }
                }
                None if !self.sets.has(SURE, EVERY) && !self.spec.partial => {
                    self.fault(at, Part::Name, name, Flaw::NoOutput);
                }
                None => {}
            }
            i += 1;
        }
    }

    /// Adds a fault of a key: one message per key.
    pub(super) const fn fault(&mut self, at: usize, part: Part, key: &'a str, flaw: Flaw<'a>) {
        let mut i = 0;
        while i < self.found && i < self.faults.len() {
            if same(self.faults[i].key, key) && self.faults[i].flaw.is_of_key() {
                return;
            }
            i += 1;
        }
        self.push(Fault { at, part, key, flaw });
    }

    /// Adds a fault; what there is no room for is left out.
    const fn push(&mut self, fault: Fault<'a>) {
        if self.found < self.faults.len() {
            self.faults[self.found] = fault;
            self.found += 1;
        } else {
            self.lost = true;
        }
    }

    const fn step(&mut self, at: usize) {
        let step = &self.spec.steps[at];
        match step.kind {
            StepKind::Agent { meta, .. } => self.agent(at, meta, step.renames),
            StepKind::Sequence => self.open(at, Kind::Sequence),
            StepKind::Parallel { .. } => self.open(at, Kind::Parallel),
            StepKind::Branch | StepKind::Arm { .. } => self.open(at, Kind::Branch),
            StepKind::Loop { max, until } => {
                self.open(at, Kind::Loop);
                self.blocks[self.depth - 1].ends = max.is_some() || until.is_some();
            }
            StepKind::Match { key } => {
                let read = self.read(at, Part::Key, key, false, Reader::Match);
                self.steers(at, read);
                self.open(at, Kind::Match);
            }
            StepKind::Each { item, list, .. } => {
                let read = self.read(at, Part::Key, list, false, Reader::Each);
                self.steers(at, read);
                self.open(at, Kind::Each);
                let item = self.keys.enter(at, item);
                self.sets.add(SURE, item);
                if read == 0 {
                    // Nothing is known of the type of its elements.
                    self.keys.all[item].typed = false;
                }
            }
            StepKind::Break { target } => {
                self.exit(at, target);
                self.sets.fill(SURE, true);
            }
            StepKind::End => self.close(),
        }
    }

    const fn agent(&mut self, at: usize, meta: &'a AgentMeta<'a>, renames: Renames<'a>) {
        if meta.unknown {
            self.sets.fill(SURE, true);
            self.sets.remove(SURE, NEVER);
            let mut d = 0;
            while d < self.depth {
                self.blocks[d].ends = true;
                d += 1;
            }
            return;
        }
        let mut used = 0_u64;
        let mut all = Effects::of(meta, renames);
        while let Some(effect) = all.next() {
            let (optional, reader, renamed) = match effect.act {
                Act::Prompt { optional, source, renamed, target } => {
                    (optional, Reader::Prompt { source, target }, renamed)
                }
                Act::Read { spec, renamed, target, .. } => {
                    (spec.optional, Reader::Parameter { target }, renamed)
                }
                Act::Write { .. } | Act::May(_) => continue,
            };
            let part = match renamed {
                Some(i) => {
                    used |= 1 << (i % 64);
                    Part::Renaming(i)
                }
                None => Part::Name,
            };
            let key = self.read(at, part, effect.key, optional, reader);
            if let Act::Read { spec, slot, target, .. } = effect.act {
                // The types of a transfer target are not looked up.
                let slot = if target.is_some() { NONE } else { slot };
                self.reads_as(at, part, key, &spec, slot);
            }
        }
        self.renamings(at, meta, renames, used);
        if matches!(meta.kind, AgentKind::Workflow) {
            self.same_inside(at, meta, renames);
            self.session(at, meta, renames, None);
        }
        if may_exit(meta, DEEPEST) {
            self.exit(at, None);
        }
        self.exits(at, meta, DEEPEST);
        let mut all = Effects::writes(meta, renames);
        while let Some(effect) = all.next() {
            match effect.act {
                Act::Write { spec, slot, sure } => {
                    let key = self.write(at, effect.key, sure, false);
                    self.writes_as(at, key, &spec, slot);
                }
                Act::May(spec) => {
                    let key = self.write(at, effect.key, false, false);
                    self.writes_as(at, key, &spec, NONE);
                }
                Act::Prompt { .. } | Act::Read { .. } => {}
            }
        }
    }

    /// The loops that an agent or one of its transfer targets may end by name.
    const fn exits(&mut self, at: usize, meta: &AgentMeta<'a>, deepest: usize) {
        let mut i = 0;
        while i < meta.exits.len() {
            self.exit(at, Some(meta.exits[i]));
            i += 1;
        }
        i = 0;
        while deepest > 0 && i < meta.transfer.len() {
            self.exits(at, meta.transfer[i], deepest - 1);
            i += 1;
        }
    }

    /// A renaming of a key that the agent does not have.
    const fn renamings(&mut self, at: usize, meta: &AgentMeta<'a>, renames: Renames<'a>, used: u64) {
        let mut i = 0;
        while i < renames.reads.len() {
            if used >> (i % 64) & 1 == 0 {
                let key = renames.reads[i].0;
                let fault = Fault { at, part: Part::Renamed(i), key, flaw: Flaw::NoSuchRead };
                match self.meant(at, key) {
                    Some(missing) => self.faults[missing] = fault,
                    None => self.push(fault),
                }
            }
            i += 1;
        }
        if !renames.writes.is_empty() && renames.writes.len() != meta.writes.len() {
            let key = renames.writes[0];
            self.push(Fault { at, part: Part::Output, key, flaw: Flaw::OtherWrites });
            // Which keys it writes is not known, so that nothing is said of those that are missing.
            self.sets.fill(SURE, true);
        }
        let (mut i, mut j) = (0, 1);
        while j < renames.writes.len() {
            if same(renames.writes[i], renames.writes[j]) {
                let key = renames.writes[i];
                return self.push(Fault { at, part: Part::Output, key, flaw: Flaw::SameWrites });
            }
            (i, j) = if i + 1 < j { (i + 1, j) } else { (0, j + 1) };
        }
    }

    /// The key that a step misses because its renaming is spelled wrong: one mistake, one message.
    const fn meant(&self, at: usize, renamed: &str) -> Option<usize> {
        let mut i = self.found;
        while i > 0 && self.faults[i - 1].at == at {
            i -= 1;
            let Fault { key, part, flaw, .. } = self.faults[i];
            let is_missing = matches!(flaw, Flaw::Unwritten { .. }) && matches!(part, Part::Name);
            if is_missing && distance(renamed, key).is_some() {
                return Some(i);
            }
        }
        None
    }

    /// Whether nothing runs at the same time.
    pub(super) const fn is_alone(&self) -> bool {
        self.parallels == 0 && !self.keys.in_each()
    }

    /// A read; the key, 0 for none that is written anywhere.
    const fn read(
        &mut self,
        at: usize,
        part: Part,
        name: &'a str,
        optional: bool,
        reader: Reader<'a>,
    ) -> u32 {
        let Some(key) = self.keys.resolve(name) else {
            if !optional && !self.sets.has(SURE, EVERY) {
                self.unwritten(at, part, name, reader);
            }
            return 0;
        };
        if !self.read_key(at, part, name, key, reader) && !optional && !self.sets.has(SURE, key) {
            self.unwritten(at, part, name, reader);
        }
        key as u32
    }

    /// Whether it is a race.
    pub(super) const fn read_key(
        &mut self,
        at: usize,
        part: Part,
        name: &'a str,
        key: usize,
        reader: Reader<'a>,
    ) -> bool {
        let mut d = if self.parallels == 0 { 0 } else { self.depth };
        while d > 0 {
            d -= 1;
            if matches!(self.blocks[d].kind, Kind::Parallel) {
                if self.sets.has(set_of(d, WROTE), key) {
                    let flaw = Flaw::Race { parallel: self.blocks[d].at, writes: false, reader };
                    self.fault(at, part, name, flaw);
                    return true;
                }
                self.sets.add(set_of(d, READING), key);
            }
        }
        false
    }

    const fn unwritten(&mut self, at: usize, part: Part, name: &'a str, reader: Reader<'a>) {
        // A read that a sibling writes is a race; it is reported at the one that comes later.
        if !self.spec.partial && !super::describe::sibling_writes(&self.spec, at, name) {
            self.fault(at, part, name, Flaw::Unwritten { reader });
        }
    }

    pub(super) const fn write(&mut self, at: usize, name: &'a str, sure: bool, session: bool) -> usize {
        let session = session || has_prefix(name);
        let key = self.keys.own(name, session);
        if session && self.keys.in_each() {
            self.fault(at, Part::Name, name, Flaw::EachRace);
        }
        self.write_key(at, key, sure);
        key
    }

    const fn write_key(&mut self, at: usize, key: usize, sure: bool) {
        if key == EVERY {
            return;
        }
        let name = self.keys.all[key].name;
        let mut d = if self.parallels == 0 { 0 } else { self.depth };
        while d > 0 {
            d -= 1;
            if matches!(self.blocks[d].kind, Kind::Parallel) {
                if self.sets.has(set_of(d, WROTE), key) || self.sets.has(set_of(d, READ), key) {
                    let flaw =
                        Flaw::Race { parallel: self.blocks[d].at, writes: true, reader: Reader::Inside };
                    self.fault(at, Part::Name, name, flaw);
                }
                self.sets.add(set_of(d, WRITING), key);
            }
        }
        if sure {
            self.sets.add(SURE, key);
        }
    }

    /// The end of a loop from inside: to the innermost one, or to that of a name.
    const fn exit(&mut self, at: usize, target: Option<&'a str>) {
        self.sets.copy(OUT, SURE);
        // What never runs ends nothing.
        let ends = !self.sets.has(SURE, NEVER);
        let mut d = self.depth;
        while d > 0 {
            d -= 1;
            match self.blocks[d].kind {
                Kind::Loop => {
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
                // The lists of an `each` that is broken off do not come to be.
                Kind::Each => self.sets.meet(OUT, set_of(d, ENTRY)),
                _ => {}
            }
        }
        let key = match target {
            Some(name) => name,
            None => "",
        };
        // An agent and its transfer targets may have the same exits.
        let mut i = 0;
        while i < self.found && i < self.faults.len() {
            let told = &self.faults[i];
            if told.at == at && matches!(told.flaw, Flaw::ExitOutside) && same(told.key, key) {
                return;
            }
            i += 1;
        }
        self.push(Fault { at, part: Part::Name, key, flaw: Flaw::ExitOutside });
    }

    const fn open(&mut self, at: usize, kind: Kind) {
        let d = self.depth;
        self.blocks[d] = Block { kind, at, ends: false };
        self.sets.copy(set_of(d, ENTRY), SURE);
        match kind {
            Kind::Match | Kind::Loop => self.sets.fill(set_of(d, AFTER), true),
            Kind::Parallel => {
                self.parallels += 1;
                self.sets.copy(set_of(d, AFTER), SURE);
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

    const fn close(&mut self) {
        // A list of steps that was made by hand may close more than it opens.
        if self.depth == 0 {
            return;
        }
        let d = self.depth - 1;
        let Block { kind, at, ends } = self.blocks[d];
        if let StepKind::Loop { max, until } = self.spec.steps[at].kind {
            if let Some(key) = until {
                let read = self.read(at, Part::Key, key, false, Reader::Until);
                self.steers(at, read);
            }
            if max.is_some() || until.is_some() {
                self.sets.meet(set_of(d, AFTER), SURE);
            }
            // It is told once, and not of the loops around it: what stands behind it counts as reached.
            if !ends && !self.sets.has(set_of(d, ENTRY), NEVER) {
                self.sets.remove(set_of(d, AFTER), NEVER);
                self.push(Fault { at, part: Part::Name, key: "", flaw: Flaw::Endless });
            }
        }
        self.depth = d;
        match kind {
            Kind::Sequence => {}
            Kind::Branch => self.close_branch(),
            Kind::Parallel => {
                self.parallels -= 1;
                self.sets.copy(SURE, set_of(d, AFTER));
            }
            Kind::Match | Kind::Loop => self.sets.copy(SURE, set_of(d, AFTER)),
            Kind::Each => {
                let StepKind::Each { item, .. } = self.spec.steps[at].kind else { return };
                let mut key = self.keys.own(item, false);
                self.keys.leave();
                // The list may be empty, so that nothing inside is certain; the lists of what is written are.
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
    }

    const fn close_branch(&mut self) {
        if self.depth == 0 {
            return;
        }
        let parent = self.depth - 1;
        if matches!(self.blocks[parent].kind, Kind::Parallel) {
            self.sets.join(set_of(parent, AFTER), SURE);
            self.sets.join(set_of(parent, WROTE), set_of(parent, WRITING));
            self.sets.join(set_of(parent, READ), set_of(parent, READING));
            self.sets.fill(set_of(parent, WRITING), false);
            self.sets.fill(set_of(parent, READING), false);
        } else {
            self.sets.meet(set_of(parent, AFTER), SURE);
        }
        self.sets.copy(SURE, set_of(parent, ENTRY));
    }
}
