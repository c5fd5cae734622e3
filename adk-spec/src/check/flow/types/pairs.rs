//! Which types are compared by traits: pairs of them, each once.
//!
//! Const evaluation cannot compare types that have no number, and each comparison by traits costs rustc a million instructions,
//! whether it is needed or not. So a workflow has room for so many of them, and the walk says here which two types each one compares.
//! What is spelled alike in one module is one type, so that a pair is compared once however many steps have it.

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
    /// What they are called, as numbers.
    names: [u64; 2],
    /// Whose key it is and its place there, who says a type of it and the place of that, and the lists around the key.
    pub numbers: [usize; 5],
}

impl Pair {
    pub(in crate::check::flow) const EMPTY: Self = Self { names: [0; 2], numbers: [0; 5] };
}

/// Room for what is looked up by traits; none at run time, where types are compared by themselves.
pub(in crate::check::flow) struct TypeRequests<'t, 'a> {
    pub(in crate::check::flow) pairs: &'t mut [Pair],
    pub(in crate::check::flow) count: usize,
    /// How many more there should be, at most.
    pub(in crate::check::flow) lacking: usize,
    /// What came out, where it is known; nothing differs before.
    pub(in crate::check::flow) answers: &'t [bool],
    /// For each step, whose the key of its block is, its place there, and the lists around it; empty in a workflow without such
    /// blocks.
    pub(in crate::check::flow) blocks: &'t mut [[usize; 3]],
    /// The module of the workflow.
    pub(in crate::check::flow) module: Module<'a>,
}

/// What a step or an output says of a key.
pub(super) struct TypeClaim<'a> {
    pub(super) spec: KeySpec<'a>,
    pub(super) at: usize,
    /// Which key of the step it is; none of them is one of something below it.
    pub(super) slot: usize,
    /// The place of its type; 0 for none.
    pub(super) place: usize,
    /// The module of who says it, if it is not the step itself; empty where nobody knows it.
    pub(super) module: Option<Module<'a>>,
}

pub(super) enum Verdict {
    Agree,
    Differ,
    /// Nobody can tell.
    Unknown,
    /// There is no room for one more pair.
    Full,
}

impl Verdict {
    pub(super) const fn from_equal(agree: bool) -> Self {
        if agree { Self::Agree } else { Self::Differ }
    }

    /// Room for what is said of the room, where that is the reason.
    pub(super) const fn room(&self) -> Option<[usize; 2]> {
        if matches!(self, Self::Full) { Some([0; 2]) } else { None }
    }
}

impl<'a> Walk<'_, 'a> {
    /// Compares what is said of a key with the type of its writer.
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

    /// The same by what both are called, where types are not compared by traits.
    pub(super) const fn compare_names(&self, claim: &TypeClaim<'a>, writer: &Writer<'a>) -> Verdict {
        if cannot_agree(&claim.spec, writer) {
            return Verdict::Differ;
        }
        // Of what is written by hand nothing else is known.
        let known = is_none(claim.spec.number) && is_none(writer.spec.number);
        if !known {
            return Verdict::Agree;
        }
        self.spelled_claim(claim).compare(&self.spelled_key(writer), writer.depth)
    }

    /// The same with the elements of a list, or of lists in a list.
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
        // What is known of the layout is that of the list.
        (key.lists, key.layout) = (key.lists - taken, own.layout);
        own.compare(&key, 0)
    }

    /// One mistake, one message: the first key for which there was no room says how much room there should be.
    pub(in crate::check::flow) const fn record_room(&mut self) {
        let Some(TypeRequests { pairs, lacking, .. }) = &self.requests else { return };
        let (room, needed) = (pairs.len(), pairs.len() + *lacking);
        let mut i = 0;
        while i < self.found {
            if let DiagnosticKind::UnknownType { full: Some(full), .. } = &mut self.diagnostics[i].kind {
                *full = [room, needed];
            }
            i += 1;
        }
    }

    /// Whether a key for which there was no room is the first one.
    pub(super) const fn is_first_without_room(&self) -> bool {
        matches!(self.requests, Some(TypeRequests { lacking: 1, .. }))
    }

    /// The type of the key of a block is needed as itself.
    pub(super) const fn request_block_type(&mut self, at: usize, writer: &Writer<'_>) {
        if let Some(requests) = &mut self.requests
            && at < requests.blocks.len()
        {
            requests.blocks[at] = [writer.at + 1, READS + writer.spec.place as usize, writer.depth];
        }
    }

    /// The pair of these types, if there is room.
    const fn pair(&mut self, claim: &TypeClaim<'a>, writer: &Writer<'a>) -> Option<usize> {
        let place = READS + writer.spec.place as usize;
        let names = [
            mixed(self.spelled_key(writer).number(writer.at, place), writer.depth as u64),
            mixed(self.spelled_claim(claim).number(claim.at, claim.place), claim.spec.perhaps as u64),
        ];
        let claimant = self.number_of(claim.at);
        let Some(requests) = &mut self.requests else { return None };
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

    /// The number of a step or an output. Declared keys come between the two.
    const fn number_of(&self, at: usize) -> usize {
        if at < self.spec.steps.len() { at + 1 } else { at + self.spec.declared_count() + 1 }
    }

    const fn spelled_key(&self, writer: &Writer<'a>) -> SpelledType {
        SpelledType::from_key(&writer.spec, self.module_of(writer.at, writer.module))
    }

    const fn spelled_claim(&self, claim: &TypeClaim<'a>) -> SpelledType {
        SpelledType::from_key(&claim.spec, self.module_of(claim.at, claim.module))
    }

    /// The module in which a type is spelled.
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

/// What a type is called in its module.
struct SpelledType {
    /// Its number, or that of its name; 0 for what nothing is known of.
    name: u64,
    /// The lists around what has that name, as far as they are known to be those of the standard library.
    lists: usize,
    layout: u64,
}

/// Whether there is a `$crate` in it, which is another one in another crate.
const fn says_crate(name: &str) -> bool {
    any!(byte in name.as_bytes() => *byte == b'$')
}

impl SpelledType {
    const fn from_key(spec: &KeySpec<'_>, (path, origin): Module<'_>) -> Self {
        let (name, lists) = spelled_name(spec.ty, spec.perhaps, is_listed(spec.number));
        // What is called otherwise and is an `Option` says nothing of what is in it but that.
        let inside = spec.perhaps && !spec.opened && !is_option(spec.ty);
        let unknown = spec.number == UNKNOWN || path.is_empty() || says_crate(name);
        if spec.number > NONE || unknown {
            Self { name: if spec.number > NONE { spec.number } else { 0 }, lists: 0, layout: 0 }
        } else {
            let name = mixed(mixed(hash(path), origin), hash(name));
            Self { name: mixed(name, inside as u64), lists, layout: spec.layout }
        }
    }

    /// Compares it with the type of a key, with that many lists around it.
    const fn compare(&self, key: &Self, depth: usize) -> Verdict {
        if self.name == 0 || self.name != key.name {
            return Verdict::Unknown;
        }
        if self.lists != key.lists + depth {
            return Verdict::Differ;
        }
        // What is known of the layout of an element is not that of the list.
        if depth > 0 || self.layout == key.layout { Verdict::Agree } else { Verdict::Unknown }
    }

    /// One number for it; what nothing is known of is a type of its own.
    const fn number(&self, at: usize, place: usize) -> u64 {
        match self.name {
            0 => mixed(mixed(hash(""), at as u64), place as u64),
            name => mixed(mixed(name, self.lists as u64), self.layout),
        }
    }
}
