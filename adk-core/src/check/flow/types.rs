//! `key-type`: one type per key.
//!
//! The type of a key is that of its first writer whose type can be looked up. Const evaluation cannot compare two
//! `TypeId`, so the macro compares types by traits: this module tells it which two, by number, and [`Row::read`] is
//! asked in the arguments of a type. What has no type there, an `impl Agent` by hand, is compared as it was
//! spelled, and by `TypeId` when the workflow is built.

use super::super::message::Message;
use super::effects::{Act, Effects};
use super::keys::{Key, Writer};
use super::spelled::{self, differ, is_no_list};
use super::walk::Walk;
use super::{Fault, Flaw, Part, describe};
use crate::check::text::same;
use crate::spec::{KeySpec, Spec, StepKind};

/// How many keys that a function reads are compared by type; more are compared as they were spelled. Clippy asks for no
/// more parameters, and each costs something in every step.
#[doc(hidden)]
pub const FEW: usize = 7;
/// The same for a workflow.
#[doc(hidden)]
pub const READS: usize = 16;
/// The same for keys that it writes.
#[doc(hidden)]
pub const WRITES: usize = 8;
/// How many lists around a type are compared by type.
const LISTS: usize = 8;

/// The keys whose types a step has to agree with, by their place in the table; 0 is none.
#[derive(Clone, Copy, Debug)]
pub(super) struct Row {
    reads: [u32; READS],
    writes: [u32; WRITES],
}

impl Row {
    pub(super) const EMPTY: Self = Self { reads: [0; READS], writes: [0; WRITES] };
}

/// For each step and output, which types those keys have: their numbers among the types of the workflow, and how many
/// lists are around each. The macro reads them where it asks for types: whatever a constant does, rustc does for each of its
/// uses.
#[derive(Clone, Copy, Debug)]
pub(super) struct Numbers<const ROWS: usize> {
    pub(super) reads: [[usize; READS]; ROWS],
    pub(super) read_lists: [[usize; READS]; ROWS],
    pub(super) writes: [[usize; WRITES]; ROWS],
    pub(super) written_lists: [[usize; WRITES]; ROWS],
}

impl<const ROWS: usize> Numbers<ROWS> {
    pub(super) const EMPTY: Self = Self {
        reads: [[0; READS]; ROWS],
        read_lists: [[0; READS]; ROWS],
        writes: [[0; WRITES]; ROWS],
        written_lists: [[0; WRITES]; ROWS],
    };
}

/// Room for them; none at run time, where types are compared by themselves.
pub(super) struct Asked<'t> {
    /// How many of the keys that each writer writes have a type which the macro can look up.
    pub(super) typed: &'t [u8],
    pub(super) reads: &'t mut [[usize; READS]],
    pub(super) read_lists: &'t mut [[usize; READS]],
    pub(super) writes: &'t mut [[usize; WRITES]],
    pub(super) written_lists: &'t mut [[usize; WRITES]],
}

/// The number of the type that a writer says: of a step, of a declared key, of a further key of a step. 0 stands for no
/// type.
const fn number(spec: &Spec<'_>, writer: &Writer<'_>) -> usize {
    match writer.slot {
        0 => writer.at + 1,
        slot => further(spec, writer.at, slot),
    }
}

/// The number of the type of a further key that a step writes.
const fn further(spec: &Spec<'_>, at: usize, slot: usize) -> usize {
    1 + spec.steps.len() + spec.inputs.len() + spec.lets.len() + spec.states.len() + at * WRITES + slot
}

impl<'a> Walk<'_, 'a> {
    /// Whether the type of a written key can be looked up.
    pub(super) const fn is_typed(&self, writer: &Writer<'a>) -> bool {
        match &self.asked {
            Some(Asked { typed, .. }) => writer.at < typed.len() && writer.slot < typed[writer.at] as usize,
            None => writer.spec.is_typed(),
        }
    }

    /// Whether the type of a key that a step reads can be looked up.
    const fn is_looked_up(&self, at: usize, spec: &KeySpec<'a>, slot: usize) -> bool {
        match &self.asked {
            // Of what writes one key at most, a function, few are asked for.
            Some(Asked { typed, .. }) => at < typed.len() && typed[at] > (slot >= FEW) as u8,
            None => spec.is_typed(),
        }
    }

    /// A key whose type a step reads.
    const fn asks_read(&mut self, at: usize, slot: usize, key: u32, writer: &Writer<'a>) {
        self.rows[at].reads[slot] = key;
        if let Some(asked) = &mut self.asked {
            asked.reads[at][slot] = number(&self.spec, writer);
            if writer.depth > 0 {
                asked.read_lists[at][slot] = writer.depth;
            }
        }
    }

    /// A key that is read as some type.
    pub(super) const fn reads_as(
        &mut self,
        at: usize,
        part: Part,
        key: u32,
        spec: &KeySpec<'a>,
        slot: usize,
    ) {
        let Key { name, writer: Some(writer), typed, .. } = self.keys.all[key as usize] else { return };
        if spec.any {
            return;
        }
        let typed = typed && writer.depth <= LISTS;
        if slot < READS && typed && self.is_looked_up(at, spec, slot) {
            return self.asks_read(at, slot, key, &writer);
        }
        if differ(spec.ty, writer.spec.ty, writer.depth) {
            self.fault(at, part, name, Flaw::ReadAs { ty: spec.ty, writer });
        }
    }

    /// The key of `until`, `match` or `each`: a `bool`, anything, a list.
    pub(super) const fn steers(&mut self, at: usize, key: u32) {
        let Key { name, writer: Some(writer), typed, .. } = self.keys.all[key as usize] else { return };
        if typed && writer.depth <= LISTS && self.asked.is_some() {
            return self.asks_read(at, 0, key, &writer);
        }
        let wrong = match self.spec.steps[at].kind {
            StepKind::Loop { .. } => differ("bool", writer.spec.ty, writer.depth),
            StepKind::Each { .. } => is_no_list(writer.spec.ty, writer.depth),
            _ => false,
        };
        if wrong {
            self.fault(at, Part::Key, name, Flaw::ReadAs { ty: "", writer });
        }
    }

    /// An output, which is a read at the end.
    pub(super) const fn gives(&mut self, at: usize, key: u32, spec: &KeySpec<'a>) {
        let Key { name, writer: Some(writer), typed, .. } = self.keys.all[key as usize] else { return };
        if spec.any {
            return;
        }
        if typed && writer.depth <= LISTS && (self.asked.is_some() || spec.is_typed()) {
            self.asks_read(at, 0, key, &writer);
        } else if differ(spec.ty, writer.spec.ty, writer.depth) {
            self.fault(at, Part::Name, name, Flaw::ReadAs { ty: spec.ty, writer });
        }
    }

    /// A key that is written as some type.
    pub(super) const fn writes_as(&mut self, at: usize, key: usize, spec: &KeySpec<'a>, slot: usize) {
        let Key { name, writer: Some(writer), typed, .. } = self.keys.all[key] else { return };
        let own = Writer { spec: *spec, at, slot, depth: 0 };
        if slot < WRITES && typed && writer.depth <= LISTS && self.is_typed(&own) {
            self.rows[at].writes[slot] = key as u32;
            if let Some(asked) = &mut self.asked {
                asked.writes[at][slot] = number(&self.spec, &writer);
                if writer.depth > 0 {
                    asked.written_lists[at][slot] = writer.depth;
                }
            }
            return;
        }
        if differ(spec.ty, writer.spec.ty, writer.depth) {
            self.fault(at, Part::Name, name, Flaw::WrittenAs { ty: spec.ty, writer });
        }
    }
}

/// What to say of a step whose types do not agree with those of its keys.
///
/// A key of which something else is wrong is left out: one mistake gives one message.
pub(super) const fn tell<'a>(
    m: &mut Message,
    spec: &Spec<'a>,
    keys: &[Key<'a>],
    row: &Row,
    at: usize,
    faults: &[Fault<'a>],
) {
    if at >= spec.steps.len() || !matches!(spec.steps[at].kind, StepKind::Agent { .. }) {
        if let Key { name, writer: Some(writer), .. } = keys[row.reads[0] as usize]
            && !is_told(faults, name)
        {
            let ty = if at < spec.steps.len() { "" } else { spec.outputs[at - spec.steps.len()].ty };
            m.line();
            describe::fault(
                m,
                spec,
                &Fault { at, part: Part::Key, key: name, flaw: Flaw::ReadAs { ty, writer } },
            );
        }
        return;
    }
    // Which of several keys does not fit is not known: those whose types are spelled in another way; when there are none,
    // those that another definition writes; when there are none, all of them.
    let mut told = disagreements(m, spec, keys, row, at, faults, Doubt::Spelling);
    if told == 0 {
        told = disagreements(m, spec, keys, row, at, faults, Doubt::Definition);
    }
    if told == 0 {
        disagreements(m, spec, keys, row, at, faults, Doubt::All);
    }
}

/// Which keys may be those that do not fit.
#[derive(Clone, Copy)]
enum Doubt {
    Spelling,
    Definition,
    All,
}

const fn disagreements<'a>(
    m: &mut Message,
    spec: &Spec<'a>,
    keys: &[Key<'a>],
    row: &Row,
    at: usize,
    faults: &[Fault<'a>],
    doubt: Doubt,
) -> usize {
    let StepKind::Agent { meta, .. } = spec.steps[at].kind else { return 0 };
    let mut told = 0;
    let mut all = Effects::of(meta, spec.steps[at].renames);
    while let Some(effect) = all.next() {
        let (key, ty, reads) = match effect.act {
            Act::Read { spec, slot, target: None, .. } if slot < READS => (row.reads[slot], spec.ty, true),
            Act::Write { spec, slot, .. } if slot < WRITES => (row.writes[slot], spec.ty, false),
            _ => continue,
        };
        let Key { name, writer: Some(writer), .. } = keys[key as usize] else { continue };
        let own = !reads && writer.at == at;
        let says = match doubt {
            Doubt::Spelling => !alike(ty, &writer),
            Doubt::Definition => reads || !is_of(spec, writer.at, meta.definition),
            Doubt::All => true,
        };
        if says && !own && is_told(faults, name) {
            told += 1;
        } else if says && !own {
            let flaw = if reads { Flaw::ReadAs { ty, writer } } else { Flaw::WrittenAs { ty, writer } };
            m.line();
            describe::fault(m, spec, &Fault { at, part: Part::Name, key: name, flaw });
            told += 1;
        }
    }
    told
}

/// Whether one of the faults is about that key.
pub(super) const fn is_told(faults: &[Fault<'_>], key: &str) -> bool {
    let mut i = 0;
    while i < faults.len() {
        if faults[i].flaw.is_of_key() && same(faults[i].key, key) {
            return true;
        }
        i += 1;
    }
    false
}

/// Whether a step places that definition.
const fn is_of(spec: &Spec<'_>, at: usize, definition: &str) -> bool {
    at < spec.steps.len()
        && matches!(spec.steps[at].kind, StepKind::Agent { meta, .. } if same(meta.definition, definition))
}

/// Whether two types are spelled alike; the item of an `each` is not spelled.
const fn alike(ty: &str, writer: &Writer<'_>) -> bool {
    writer.spec.ty.is_empty() || spelled::alike(ty, writer.spec.ty, writer.depth)
}

/// Types at run time, where they can be compared by themselves.
pub(super) fn faults<'a>(spec: &Spec<'a>, keys: &[Key<'a>], rows: &[Row]) -> Vec<Fault<'a>> {
    let mut faults = Vec::new();
    for (at, (step, row)) in spec.steps.iter().zip(rows).enumerate() {
        let StepKind::Agent { meta, .. } = step.kind else { continue };
        let mut all = Effects::of(meta, step.renames);
        while let Some(effect) = all.next() {
            let (key, own, reads) = match effect.act {
                Act::Read { spec, slot, target: None, .. } if slot < READS => (row.reads[slot], spec, true),
                Act::Write { spec, slot, .. } if slot < WRITES => (row.writes[slot], spec, false),
                _ => continue,
            };
            let Key { name, writer: Some(writer), .. } = keys[key as usize] else { continue };
            let inside = reads && own.optional && spelled::is_option(writer.spec.ty);
            let differs = match (own.type_id(), writer.spec.type_id()) {
                (Some(own), Some(written)) if writer.depth == 0 && !inside => own != written,
                _ => differ(own.ty, writer.spec.ty, writer.depth),
            };
            if differs {
                let ty = own.ty;
                let flaw = if reads { Flaw::ReadAs { ty, writer } } else { Flaw::WrittenAs { ty, writer } };
                faults.push(Fault { at, part: Part::Name, key: name, flaw });
            }
        }
    }
    let outputs = spec.outputs.iter().zip(rows.iter().skip(spec.steps.len()));
    for (i, (output, row)) in outputs.enumerate() {
        let Key { name, writer: Some(writer), .. } = keys[row.reads[0] as usize] else { continue };
        let differs = match (output.type_id(), writer.spec.type_id()) {
            (Some(own), Some(written)) if writer.depth == 0 => own != written && !output.any,
            _ => !output.any && differ(output.ty, writer.spec.ty, writer.depth),
        };
        if differs {
            let flaw = Flaw::ReadAs { ty: output.ty, writer };
            faults.push(Fault { at: spec.steps.len() + i, part: Part::Name, key: name, flaw });
        }
    }
    faults
}
