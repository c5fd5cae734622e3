//! [`Pair`]: the types that the macro compares by traits, each pair once.
//!
//! Const evaluation cannot compare types without a number, and each comparison by traits costs
//! rustc a million instructions, used or not. A workflow therefore has a list of limited capacity,
//! and the walk records in it which two types each pair compares. Types with the same spelling in
//! one module are the same type, so a pair is compared once for any number of steps.

use super::super::DiagnosticKind;
use super::super::keys::Writer;
use super::super::walk::Walk;
use super::{KEPT, READS, agree, cannot_agree};
use crate::hash::{hash, mixed};
use crate::number::{NONE, UNKNOWN, is_listed, is_none};
use crate::spec::{KeySpec, Module, StepKind};
use crate::type_names::{is_option, spelled_name};

/// Two types that the macro compares.
#[derive(Clone, Copy, Debug)]
pub struct Pair {
    /// Hashes of the two spelled types.
    names: [u64; 2],
    /// Five indices: the step that writes the key, the type that it writes, the step or output that
    /// reads the key, the type that it expects, and the number of lists that `each` blocks put
    /// around the written type. A type is given by its index in the runtime's trait `typed::Typed`.
    pub numbers: [usize; 5],
}

impl Pair {
    pub(in crate::check::flow) const EMPTY: Self = Self {
        names: [0; 2],
        numbers: [0; 5],
    };
}

/// The types that are looked up by traits. A check at run time has no requests, because it compares
/// types by `TypeId`.
pub(in crate::check::flow) struct TypeRequests<'t, 'a> {
    pub(in crate::check::flow) pairs: &'t mut [Pair],
    pub(in crate::check::flow) count: usize,
    /// An upper bound of the number of pairs that did not fit into `pairs`.
    pub(in crate::check::flow) lacking: usize,
    /// The results of the comparisons, in the order of `pairs`, if they are known. Without results,
    /// all pairs count as equal.
    pub(in crate::check::flow) answers: &'t [bool],
    /// For each step that is a block with a key: the writer of the key, the place of the written
    /// type, and the number of lists around it. Empty in a workflow without such blocks.
    pub(in crate::check::flow) blocks: &'t mut [[usize; 3]],
    /// The module of the workflow.
    pub(in crate::check::flow) module: Module<'a>,
}

/// The type that a step or an output claims for a key.
pub(super) struct TypeClaim<'a> {
    pub(super) spec: KeySpec<'a>,
    pub(super) at: usize,
    /// The index among the keys that the step reads or writes; [`NOWHERE`](super::NOWHERE) for a
    /// key of an agent or tool that belongs to the step.
    pub(super) slot: usize,
    /// The place of the type in `typed::Typed`; 0 if the type cannot be looked up there.
    pub(super) place: usize,
    /// The module of the agent or tool that claims the type, if it is not the agent of the step.
    /// The path is empty if the module is unknown.
    pub(super) module: Option<Module<'a>>,
}

pub(super) enum Verdict {
    Agree,
    Differ,
    /// The types cannot be compared.
    Unknown,
    /// The list of pairs is full.
    Full,
}

impl Verdict {
    pub(super) const fn from_equal(agree: bool) -> Self {
        if agree { Self::Agree } else { Self::Differ }
    }

    /// Returns an array for the capacity and the needed capacity, if the list of pairs was full.
    /// [`Walk::record_room`] fills the array.
    pub(super) const fn room(&self) -> Option<[usize; 2]> {
        if matches!(self, Self::Full) {
            Some([0; 2])
        } else {
            None
        }
    }
}

impl<'a> Walk<'_, 'a> {
    /// Compares a claimed type with the type of the key's writer.
    pub(super) const fn compare(&mut self, claim: &TypeClaim<'a>, writer: &Writer<'a>) -> Verdict {
        if let Some(agree) = agree(&claim.spec, writer) {
            return Verdict::from_equal(agree);
        }
        let Some(requests) = &self.requests else {
            let later = claim.slot < KEPT && self.compares_later(&claim.spec, writer);
            return Verdict::from_equal(later || !cannot_agree(&claim.spec, writer));
        };
        let answers = requests.answers;
        if claim.place > 0 && self.has_place(writer) {
            return match self.pair(claim, writer) {
                Some(pair) => Verdict::from_equal(pair >= answers.len() || answers[pair]),
                None => Verdict::Full,
            };
        }
        if let Some(list) = self.list_around(writer) {
            return self.compare_item(claim, &list);
        }
        self.compare_names(claim, writer)
    }

    /// Compares two types by their spelling, if they are not compared by traits.
    pub(super) const fn compare_names(
        &self,
        claim: &TypeClaim<'a>,
        writer: &Writer<'a>,
    ) -> Verdict {
        if cannot_agree(&claim.spec, writer) {
            return Verdict::Differ;
        }
        // The type number of a key that is declared by hand is unknown, so only the spelling is
        // known.
        let known = is_none(claim.spec.number) && is_none(writer.spec.number);
        if !known {
            return Verdict::Agree;
        }
        self.spelled_claim(claim)
            .compare(&self.spelled_key(writer), writer.depth)
    }

    /// Compares a claimed type by its spelling with the element type of a list, or of nested lists.
    pub(super) const fn compare_elements(
        &self,
        claim: &TypeClaim<'a>,
        list: &Writer<'a>,
        taken: usize,
    ) -> Verdict {
        let mut key = self.spelled_key(list);
        if key.lists < taken {
            return Verdict::Unknown;
        }
        let own = self.spelled_claim(claim);
        // The layout of the list is known, but the layout of its element is not.
        (key.lists, key.layout) = (key.lists - taken, own.layout);
        own.compare(&key, 0)
    }

    /// Writes the capacity of the list of pairs and the needed capacity into the diagnostic of the
    /// first pair that did not fit. The other pairs have no diagnostic, because one mistake gives
    /// one message.
    pub(in crate::check::flow) const fn record_room(&mut self) {
        let Some(TypeRequests { pairs, lacking, .. }) = &self.requests else {
            return;
        };
        let (room, needed) = (pairs.len(), pairs.len() + *lacking);
        let mut i = 0;
        while i < self.found {
            if let DiagnosticKind::UnknownType {
                full: Some(full), ..
            } = &mut self.diagnostics[i].kind
            {
                *full = [room, needed];
            }
            i += 1;
        }
    }

    /// Returns whether the last pair was the first pair that did not fit into the list.
    pub(super) const fn is_first_without_room(&self) -> bool {
        matches!(self.requests, Some(TypeRequests { lacking: 1, .. }))
    }

    /// Requests the type of the key that steers a block.
    pub(super) const fn request_block_type(&mut self, at: usize, writer: &Writer<'_>) {
        if let Some(requests) = &mut self.requests
            && at < requests.blocks.len()
        {
            requests.blocks[at] = [
                writer.at + 1,
                READS + writer.spec.place as usize,
                writer.depth,
            ];
        }
    }

    /// Returns the index of a pair of types, or `None` if the pair is new and the list is full.
    const fn pair(&mut self, claim: &TypeClaim<'a>, writer: &Writer<'a>) -> Option<usize> {
        let place = READS + writer.spec.place as usize;
        let names = [
            mixed(
                self.spelled_key(writer).number(writer.at, place),
                writer.depth as u64,
            ),
            mixed(
                self.spelled_claim(claim).number(claim.at, claim.place),
                claim.spec.perhaps as u64,
            ),
        ];
        let claimant = self.number_of(claim.at);
        let Some(requests) = &mut self.requests else {
            return None;
        };
        let mut i = 0;
        while i < requests.count {
            let [key, claim] = requests.pairs[i].names;
            if key == names[0] && claim == names[1] {
                return Some(i);
            }
            i += 1;
        }
        if i == requests.pairs.len() {
            requests.lacking += 1;
            return None;
        }
        let numbers = [writer.at + 1, place, claimant, claim.place, writer.depth];
        requests.pairs[i] = Pair { names, numbers };
        requests.count = i + 1;
        Some(i)
    }

    /// Returns the number of a step or an output for the macro. The numbers of declared keys come
    /// after the steps and before the outputs.
    const fn number_of(&self, at: usize) -> usize {
        if at < self.spec.steps.len() {
            at + 1
        } else {
            at + self.spec.declared_count() + 1
        }
    }

    const fn spelled_key(&self, writer: &Writer<'a>) -> SpelledType {
        SpelledType::from_key(&writer.spec, self.module_of(writer.at, writer.module))
    }

    const fn spelled_claim(&self, claim: &TypeClaim<'a>) -> SpelledType {
        SpelledType::from_key(&claim.spec, self.module_of(claim.at, claim.module))
    }

    /// Returns the module in which a type is spelled.
    const fn module_of(&self, at: usize, module: Option<Module<'a>>) -> Module<'a> {
        match (module, &self.requests) {
            (Some(module), _) => module,
            (None, _) if at < self.spec.steps.len() => match self.spec.steps[at].kind {
                StepKind::Agent { meta, .. } => meta.module(),
                _ => ("", 0),
            },
            (None, Some(requests)) => requests.module,
            (None, None) => ("", 0),
        }
    }
}

/// A type by its spelling and module.
struct SpelledType {
    /// The number of the type, or the hash of its module and name; 0 if nothing is known of the
    /// type.
    name: u64,
    /// The number of `Vec`s around the name that are known to be the `Vec` of the standard library.
    lists: usize,
    layout: u64,
}

/// Returns whether a name contains `$crate`, which means a different crate in each crate.
const fn says_crate(name: &str) -> bool {
    any!(byte in name.as_bytes() => *byte == b'$')
}

impl SpelledType {
    const fn from_key(spec: &KeySpec<'_>, (path, origin): Module<'_>) -> Self {
        let (name, lists) = spelled_name(spec.ty, spec.perhaps, is_listed(spec.number));
        // With an alias of an `Option`, the spelling does not show the inner type.
        let inside = spec.perhaps && !spec.opened && !is_option(spec.ty);
        let unknown = spec.number == UNKNOWN || path.is_empty() || says_crate(name);
        if spec.number > NONE || unknown {
            Self {
                name: if spec.number > NONE { spec.number } else { 0 },
                lists: 0,
                layout: 0,
            }
        } else {
            let name = mixed(mixed(hash(path), origin), hash(name));
            Self {
                name: mixed(name, inside as u64),
                lists,
                layout: spec.layout,
            }
        }
    }

    /// Compares a claimed type with the type of a key's writer, which has `depth` lists around it.
    const fn compare(&self, key: &Self, depth: usize) -> Verdict {
        if self.name == 0 || self.name != key.name {
            return Verdict::Unknown;
        }
        if self.lists != key.lists + depth {
            return Verdict::Differ;
        }
        // With lists around it, the layout of the key's type is that of an element, so it is not
        // compared.
        if depth > 0 || self.layout == key.layout {
            Verdict::Agree
        } else {
            Verdict::Unknown
        }
    }

    /// Returns one number for the type. Each unknown type gets a different number, so that it
    /// equals only itself.
    const fn number(&self, at: usize, place: usize) -> u64 {
        match self.name {
            0 => mixed(mixed(hash(""), at as u64), place as u64),
            name => mixed(mixed(name, self.lists as u64), self.layout),
        }
    }
}
