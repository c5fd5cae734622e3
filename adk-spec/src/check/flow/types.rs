//! `key-type`: one type per key.
//!
//! The type of a key is the type of its first writer whose type is known. Most types have a number,
//! and numbers are compared here. For types without a number, this module selects the pairs that
//! the macro compares by traits. Other types, such as those of an `impl Agent` by hand, are
//! compared by their spelling, and by `TypeId` when the workflow is built at run time.

mod blocks;
mod items;
mod pairs;
mod runtime;

pub(super) use self::blocks::{describe_block, is_reported};
pub use self::pairs::Pair;
pub(super) use self::pairs::TypeRequests;
use self::pairs::{TypeClaim, Verdict};
pub(super) use self::runtime::diagnostics;
use super::keys::{Key, NONE as NOWHERE, Writer};
use super::walk::Walk;
use super::{DiagnosticKind, StepPart};
use crate::__private::key;
pub use crate::number::{READS, WRITES};
use crate::number::{UNKNOWN, is_none, list_of, of_name, option_of};
use crate::spec::{KeySpec, Module, StepKind};
use crate::type_names::{differ, is_no_list};

/// The largest number of lists around a type for which traits can compare the type.
const LISTS: usize = 8;
/// The number of keys per step that are recorded for the comparison by `TypeId` at run time.
const KEPT: usize = 16;

/// The keys whose types must agree with the types at a step, as indices into the table of keys; 0
/// for no key.
#[derive(Clone, Copy, Debug)]
pub(super) struct TypeRow {
    reads: [u32; KEPT],
    writes: [u32; KEPT],
    /// The key of the step's first write, if the step is the first writer of the key and thus
    /// decides its type. For an `each`, the key of the list that it iterates over.
    pub(super) own: u32,
}

impl TypeRow {
    pub(super) const EMPTY: Self = Self {
        reads: [0; KEPT],
        writes: [0; KEPT],
        own: 0,
    };
}

/// The key spec of a read by `until`.
const FLAG: KeySpec<'static> = key::<bool>("", 0, false, "bool", false, false, of_name("bool"), 0);

/// Returns whether a claimed type fits the type of the key's writer; `None` if the type numbers do
/// not decide.
const fn agree(claim: &KeySpec<'_>, writer: &Writer<'_>) -> Option<bool> {
    let (own, mut written) = (claim.number, writer.spec.number);
    if own == UNKNOWN || written == UNKNOWN || is_none(own) && is_none(written) {
        return None;
    }
    let mut depth = writer.depth;
    while depth > 0 && !is_none(written) {
        (written, depth) = (list_of(written), depth - 1);
    }
    Some(own == written || claim.perhaps && !is_none(own) && written == option_of(own))
}

/// Returns whether two types certainly differ. They are types that are compared neither by number
/// nor by traits.
const fn cannot_agree(claim: &KeySpec<'_>, writer: &Writer<'_>) -> bool {
    let plain = writer.depth == 0 && !claim.perhaps;
    differ(claim.ty, writer.spec.ty, writer.depth) || plain && claim.differs_in_layout(&writer.spec)
}

impl<'a> Walk<'_, 'a> {
    /// Returns whether the type of a write is known, so that the writer may decide the type of the
    /// key.
    ///
    /// The types of writes by tools and transfer targets cannot be looked up, so any other writer
    /// decides.
    pub(super) const fn is_typed(&self, writer: &Writer<'a>) -> bool {
        writer.slot != NOWHERE && (writer.spec.number != UNKNOWN || self.has_place(writer))
    }

    /// Returns whether the type of a write can be looked up: by traits in const evaluation, by
    /// `TypeId` at run time.
    const fn has_place(&self, writer: &Writer<'a>) -> bool {
        match &self.requests {
            Some(_) => writer.slot != NOWHERE && writer.spec.place > 0 && writer.depth <= LISTS,
            None => writer.spec.is_typed(),
        }
    }

    /// Returns whether two types are compared by `TypeId` after the walk.
    const fn compares_later(&self, claim: &KeySpec<'_>, writer: &Writer<'a>) -> bool {
        self.requests.is_none()
            && claim.is_typed()
            && self.has_place(writer)
            && agree(claim, writer).is_none()
    }

    /// Checks the type of a read.
    pub(super) const fn check_read_type(
        &mut self,
        at: usize,
        part: StepPart,
        key: u32,
        spec: &KeySpec<'a>,
        slot: usize,
        module: Option<Module<'a>>,
    ) {
        let Key {
            name,
            writer: Some(writer),
            ..
        } = &self.keys.all[key as usize]
        else {
            return;
        };
        if spec.any {
            return;
        }
        let (name, writer) = (*name, *writer);
        if slot < KEPT && self.compares_later(spec, &writer) {
            self.rows[at].reads[slot] = key;
        }
        let place = if slot == NOWHERE {
            0
        } else {
            spec.place as usize
        };
        match self.compare(
            &TypeClaim {
                spec: *spec,
                at,
                slot,
                place,
                module,
            },
            &writer,
        ) {
            Verdict::Agree => {}
            Verdict::Differ => self.mismatch(
                at,
                part,
                name,
                DiagnosticKind::ReadAs {
                    ty: spec.ty,
                    writer,
                },
            ),
            doubt => {
                let kind = DiagnosticKind::UnknownType {
                    ty: spec.ty,
                    reads: true,
                    full: doubt.room(),
                    writer,
                };
                self.report_unknown_type(at, part, name, kind);
            }
        }
    }

    /// Checks the type of the key that steers a block: `until` needs a `bool`, `each` needs a list,
    /// and `match` accepts any type.
    pub(super) const fn check_steering_type(&mut self, at: usize, key: u32) {
        let Key {
            name,
            writer: Some(writer),
            typed,
            ..
        } = self.keys.all[key as usize]
        else {
            return;
        };
        let known = match self.spec.steps[at].kind {
            StepKind::Loop { .. } => agree(&FLAG, &writer),
            _ => None,
        };
        if known.is_none() && typed && self.requests.is_some() && self.has_place(&writer) {
            self.rows[at].reads[0] = key;
            return self.request_block_type(at, &writer);
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
            self.mismatch(
                at,
                StepPart::Key,
                name,
                DiagnosticKind::ReadAs { ty: "", writer },
            );
        }
    }

    /// Checks the type of an output, which is a read at the end.
    pub(super) const fn check_output_type(&mut self, at: usize, key: u32, spec: &KeySpec<'a>) {
        self.check_read_type(at, StepPart::Name, key, spec, 0, None);
    }

    /// Checks the type of a write.
    pub(super) const fn check_written_type(
        &mut self,
        at: usize,
        key: usize,
        spec: &KeySpec<'a>,
        slot: usize,
        module: Option<Module<'a>>,
    ) {
        let Key {
            name,
            writer: Some(writer),
            ..
        } = &self.keys.all[key]
        else {
            return;
        };
        // The step is the writer that decides the type. Most keys have one writer.
        if writer.at == at && writer.slot == slot && slot != NOWHERE {
            return;
        }
        let (name, writer) = (*name, *writer);
        if slot < KEPT && self.compares_later(spec, &writer) {
            self.rows[at].writes[slot] = key as u32;
        }
        let place = if slot == NOWHERE || spec.place == 0 {
            0
        } else {
            READS + spec.place as usize
        };
        match self.compare(
            &TypeClaim {
                spec: *spec,
                at,
                slot,
                place,
                module,
            },
            &writer,
        ) {
            Verdict::Agree => {}
            Verdict::Differ => self.mismatch(
                at,
                StepPart::Name,
                name,
                DiagnosticKind::WrittenAs {
                    ty: spec.ty,
                    writer,
                },
            ),
            doubt => {
                let kind = DiagnosticKind::UnknownType {
                    ty: spec.ty,
                    reads: false,
                    full: doubt.room(),
                    writer,
                };
                self.report_unknown_type(at, StepPart::Name, name, kind);
            }
        }
    }

    /// Reports types that cannot be compared. That the list of pairs is full is reported only once.
    const fn report_unknown_type(
        &mut self,
        at: usize,
        part: StepPart,
        name: &'a str,
        kind: DiagnosticKind<'a>,
    ) {
        if !matches!(kind, DiagnosticKind::UnknownType { full: Some(_), .. })
            || self.is_first_without_room()
        {
            self.mismatch(at, part, name, kind);
        }
    }
}
