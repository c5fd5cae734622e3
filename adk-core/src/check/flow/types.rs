//! `key-type`: one type per key.
//!
//! The type of a key is that of its first writer whose type is known. Most types have a number, which is compared here.
//! Where neither has one, the macro compares by traits: this module tells it which types, by the numbers that it gave to
//! the writers. What is not known, as of an `impl Agent` by hand, is compared as it was spelled, and by `TypeId` when
//! the workflow is built.

mod built;
mod tell;

pub(super) use self::built::faults;
pub(super) use self::tell::{is_told, tell};
use super::keys::{Key, NONE as NOWHERE, Writer};
use super::spelled::{differ, is_no_list};
use super::walk::Walk;
use super::{Flaw, Part};
use crate::spec::number::{NONE, Numbered, UNKNOWN, list_of, option_of};
use crate::spec::{KeySpec, Spec, StepKind};

/// How many keys that a function reads have a place where their types are compared by traits. Each place costs something in
/// every step.
#[doc(hidden)]
pub const FEW: usize = 3;
/// The same for a workflow.
#[doc(hidden)]
pub const READS: usize = 4;
/// The same for keys that it writes.
#[doc(hidden)]
pub const WRITES: usize = 4;
/// How many lists around a type are compared by traits.
const LISTS: usize = 8;
/// How many keys of a step are remembered, for messages and for the run time, which compares types by themselves.
const KEPT: usize = 16;

/// The keys whose types a step has to agree with, by their place in the table; 0 is none.
#[derive(Clone, Copy, Debug)]
pub(super) struct Row {
    reads: [u32; KEPT],
    writes: [u32; KEPT],
    /// That of its first write, where it is the first to write it and its type is the key's.
    pub(super) own: u32,
}

impl Row {
    pub(super) const EMPTY: Self = Self { reads: [0; KEPT], writes: [0; KEPT], own: 0 };
}

/// For each step and output, and each place of a key, which type that key has: its number among the types of the workflow, and
/// how many lists are around it. The macro reads them where it asks for types: whatever a constant does, rustc does
/// for each of its uses.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct Numbers<const ROWS: usize> {
    /// Of keys that are read.
    pub reads: [[usize; READS]; ROWS],
    /// The lists around those.
    pub read_lists: [[usize; READS]; ROWS],
    /// Of keys that are written.
    pub writes: [[usize; WRITES]; ROWS],
    /// The lists around those.
    pub written_lists: [[usize; WRITES]; ROWS],
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
    /// How many places each step and each declared key has for what it writes.
    pub(super) places: &'t [u8],
    pub(super) reads: &'t mut [[usize; READS]],
    pub(super) read_lists: &'t mut [[usize; READS]],
    pub(super) writes: &'t mut [[usize; WRITES]],
    pub(super) written_lists: &'t mut [[usize; WRITES]],
}

/// What `until` reads.
const FLAG: KeySpec<'static> =
    KeySpec::typed::<bool>("", 0, false, "bool", false, false, <bool as Numbered>::NUMBER, 0);

/// Whether what is said of a key fits the type of its writer, as far as numbers tell.
const fn agree(said: &KeySpec<'_>, writer: &Writer<'_>) -> Option<bool> {
    let (own, mut written) = (said.number, writer.spec.number);
    if own == UNKNOWN || written == UNKNOWN || own == NONE && written == NONE {
        return None;
    }
    let mut depth = writer.depth;
    while depth > 0 && written != NONE {
        (written, depth) = (list_of(written), depth - 1);
    }
    Some(own == written || said.perhaps && own != NONE && written == option_of(own))
}

/// The number of the type that a writer says: of a step, of a declared key, of a further key of a step. 0 stands for no
/// type.
const fn number(spec: &Spec<'_>, writer: &Writer<'_>) -> usize {
    match writer.spec.place {
        0 | 1 => writer.at + 1,
        // Further keys of steps stand behind all others.
        place => {
            let declared = spec.inputs.len() + spec.lets.len() + spec.states.len();
            spec.steps.len() + declared + writer.at * WRITES + place as usize
        }
    }
}

/// The same for types that nobody compares any more: whether they differ for certain.
const fn cannot_agree(said: &KeySpec<'_>, writer: &Writer<'_>) -> bool {
    let plain = writer.depth == 0 && !said.perhaps;
    differ(said.ty, writer.spec.ty, writer.depth) || plain && said.differs_in_layout(&writer.spec)
}

impl<'a> Walk<'_, 'a> {
    /// Whether the type of a written key is known.
    ///
    /// What tools and transfer targets write has no number in the macro, so any other writer goes before.
    pub(super) const fn is_typed(&self, writer: &Writer<'a>) -> bool {
        writer.slot != NOWHERE && (writer.spec.number != UNKNOWN || self.has_place(writer))
    }

    /// Whether the type of a written key can be looked up.
    const fn has_place(&self, writer: &Writer<'a>) -> bool {
        let Writer { spec: KeySpec { place, .. }, at, slot, depth } = writer;
        match &self.asked {
            Some(Asked { places, .. }) => {
                let own = *slot != NOWHERE && *depth <= LISTS;
                own && *place > 0 && *at < places.len() && *place <= places[*at]
            }
            None => writer.spec.is_typed(),
        }
    }

    /// Whether the type of a key that a step reads can be looked up.
    const fn is_looked_up(&self, at: usize, spec: &KeySpec<'a>) -> bool {
        match &self.asked {
            // Of what writes one key at most, a function, few are asked for.
            Some(Asked { places, .. }) => {
                let most = if at < places.len() && places[at] > 1 { READS } else { FEW };
                spec.place > 0 && spec.place as usize <= most
            }
            None => spec.is_typed(),
        }
    }

    /// A key whose type a step reads, at a place.
    const fn asks_read(&mut self, at: usize, place: usize, writer: &Writer<'a>) {
        if let Some(asked) = &mut self.asked {
            asked.reads[at][place] = number(&self.spec, writer);
            if writer.depth > 0 {
                asked.read_lists[at][place] = writer.depth;
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
        let Key { name, writer: Some(writer), .. } = &self.keys.all[key as usize] else { return };
        if spec.any {
            return;
        }
        let (name, writer) = (*name, *writer);
        let differs = match agree(spec, &writer) {
            Some(agree) => !agree,
            None if slot < KEPT && self.has_place(&writer) && self.is_looked_up(at, spec) => {
                self.rows[at].reads[slot] = key;
                return self.asks_read(at, (spec.place as usize).saturating_sub(1), &writer);
            }
            None => cannot_agree(spec, &writer),
        };
        if differs {
            self.mismatch(at, part, name, Flaw::ReadAs { ty: spec.ty, writer });
        }
    }

    /// The key of `until`, `match` or `each`: a `bool`, anything, a list.
    pub(super) const fn steers(&mut self, at: usize, key: u32) {
        let Key { name, writer: Some(writer), typed, .. } = self.keys.all[key as usize] else { return };
        let known = match self.spec.steps[at].kind {
            StepKind::Loop { .. } => agree(&FLAG, &writer),
            _ => None,
        };
        if known.is_none() && typed && self.asked.is_some() && self.has_place(&writer) {
            self.rows[at].reads[0] = key;
            return self.asks_read(at, 0, &writer);
        }
        let wrong = match self.spec.steps[at].kind {
            StepKind::Loop { .. } => match known {
                Some(agree) => !agree,
                None => differ("bool", writer.spec.ty, writer.depth),
            },
            StepKind::Each { .. } => is_no_list(writer.spec.ty, writer.depth),
            _ => false,
        };
        if wrong {
            self.mismatch(at, Part::Key, name, Flaw::ReadAs { ty: "", writer });
        }
    }

    /// An output, which is a read at the end.
    pub(super) const fn gives(&mut self, at: usize, key: u32, spec: &KeySpec<'a>) {
        self.reads_as(at, Part::Name, key, spec, 0);
    }

    /// A key that is written as some type.
    pub(super) const fn writes_as(&mut self, at: usize, key: usize, spec: &KeySpec<'a>, slot: usize) {
        let Key { name, writer: Some(writer), .. } = &self.keys.all[key] else { return };
        // Most keys have one writer.
        if writer.at == at && writer.slot == slot && slot != NOWHERE {
            return;
        }
        let (name, writer) = (*name, *writer);
        let own = Writer { spec: *spec, at, slot, depth: 0 };
        let differs = match agree(spec, &writer) {
            Some(agree) => !agree,
            None if slot < KEPT && self.has_place(&writer) && self.has_place(&own) => {
                self.rows[at].writes[slot] = key as u32;
                if let Some(asked) = &mut self.asked {
                    let place = spec.place as usize - 1;
                    asked.writes[at][place] = number(&self.spec, &writer);
                    if writer.depth > 0 {
                        asked.written_lists[at][place] = writer.depth;
                    }
                }
                return;
            }
            None => cannot_agree(spec, &writer),
        };
        if differs {
            self.mismatch(at, Part::Name, name, Flaw::WrittenAs { ty: spec.ty, writer });
        }
    }
}
