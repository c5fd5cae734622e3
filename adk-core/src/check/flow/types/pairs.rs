//! Which types are compared by traits: pairs of them, each once.
//!
//! Const evaluation cannot compare types that have no number, and each comparison by traits costs rustc a million instructions,
//! whether it is needed or not. So a workflow has room for so many of them, and the walk says here which two types each one compares.
//! What is spelled alike in one module is one type, so that a pair is compared once however many steps have it.

use super::super::keys::Writer;
use super::super::spelled::called;
use super::super::walk::Walk;
use super::{KEPT, READS, agree, cannot_agree};
use crate::check::text::part;
use crate::spec::hash::{hash, mixed};
use crate::spec::number::{NONE, UNKNOWN};
use crate::spec::{KeySpec, StepKind};

/// Two types that the macro compares.
#[doc(hidden)]
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
pub(in crate::check::flow) struct Asked<'t, 'a> {
    pub(in crate::check::flow) pairs: &'t mut [Pair],
    pub(in crate::check::flow) count: usize,
    /// What came out, where it is known; nothing differs before.
    pub(in crate::check::flow) answers: &'t [bool],
    /// For each step, whose the key of its block is, its place there, and the lists around it; empty in a workflow without such
    /// blocks.
    pub(in crate::check::flow) blocks: &'t mut [[usize; 3]],
    /// The module of the workflow.
    pub(in crate::check::flow) module: &'a str,
}

/// What a step or an output says of a key.
pub(super) struct Said<'a> {
    pub(super) spec: KeySpec<'a>,
    pub(super) at: usize,
    /// Which key of the step it is; none of them is one of something below it.
    pub(super) slot: usize,
    /// Where its type stands; 0 for nowhere.
    pub(super) place: usize,
    /// Who says it, if it is not the step itself.
    pub(super) definition: &'a str,
}

/// Whether a type is that of its key.
pub(super) enum Verdict {
    Agree,
    Differ,
    /// Nobody can tell; `full` says how many pairs there are, where there is no room for one more.
    Untold {
        full: Option<usize>,
    },
}

impl Verdict {
    const fn of(agree: bool) -> Self {
        if agree { Self::Agree } else { Self::Differ }
    }
}

impl<'a> Walk<'_, 'a> {
    /// Compares what is said of a key with the type of its writer.
    pub(super) const fn compare(&mut self, said: &Said<'a>, writer: &Writer<'a>) -> Verdict {
        if let Some(agree) = agree(&said.spec, writer) {
            return Verdict::of(agree);
        }
        let Some(asked) = &self.asked else {
            let later = said.slot < KEPT && self.compares_later(&said.spec, writer);
            return Verdict::of(later || !cannot_agree(&said.spec, writer));
        };
        let (answers, room) = (asked.answers, asked.pairs.len());
        if said.place > 0 && self.has_place(writer) {
            return match self.pair(said, writer) {
                Some(pair) => Verdict::of(pair >= answers.len() || answers[pair]),
                None => Verdict::Untold { full: Some(room) },
            };
        }
        if cannot_agree(&said.spec, writer) {
            return Verdict::Differ;
        }
        // Of what is written by hand nothing else is known.
        let known = said.spec.number == NONE && writer.spec.number == NONE;
        if !known || self.name_of_said(said) == self.name_of_key(writer) {
            return Verdict::Agree;
        }
        Verdict::Untold { full: None }
    }

    /// The type of the key of a block is needed as itself.
    pub(super) const fn asks_itself(&mut self, at: usize, writer: &Writer<'_>) {
        if let Some(asked) = &mut self.asked
            && at < asked.blocks.len()
        {
            asked.blocks[at] = [writer.at + 1, READS + writer.spec.place as usize, writer.depth];
        }
    }

    /// The pair of these types, if there is room.
    const fn pair(&mut self, said: &Said<'a>, writer: &Writer<'a>) -> Option<usize> {
        let names = [
            mixed(self.name_of_key(writer), writer.depth as u64),
            mixed(self.name_of_said(said), said.spec.perhaps as u64),
        ];
        let says = self.number_of(said.at);
        let Some(asked) = &mut self.asked else { return None };
        let mut i = 0;
        while i < asked.count {
            let [key, said] = asked.pairs[i].names;
            if key == names[0] && said == names[1] {
                return Some(i);
            }
            i += 1;
        }
        if i == asked.pairs.len() {
            return None;
        }
        let numbers = [writer.at + 1, READS + writer.spec.place as usize, says, said.place, writer.depth];
        asked.pairs[i] = Pair { names, numbers };
        asked.count = i + 1;
        Some(i)
    }

    /// The number of a step or an output, which stand behind the declared keys.
    const fn number_of(&self, at: usize) -> usize {
        let spec = &self.spec;
        let declared = spec.inputs.len() + spec.lets.len() + spec.states.len();
        if at < spec.steps.len() { at + 1 } else { at + declared + 1 }
    }

    const fn name_of_key(&self, writer: &Writer<'a>) -> u64 {
        self.name_of(&writer.spec, writer.at, writer.definition)
    }

    const fn name_of_said(&self, said: &Said<'a>) -> u64 {
        self.name_of(&said.spec, said.at, said.definition)
    }

    /// What a type is called: one type in one module. What nothing is known of is a type of its own.
    const fn name_of(&self, spec: &KeySpec<'a>, at: usize, definition: &'a str) -> u64 {
        if spec.number > NONE {
            return spec.number;
        }
        let module = self.module_of(at, definition);
        if spec.number == UNKNOWN || module.is_empty() {
            return mixed(spec.hash(), at as u64);
        }
        let (name, lists) = called(spec.ty, spec.perhaps);
        mixed(mixed(mixed(hash(module), hash(name)), lists as u64), spec.layout)
    }

    /// The module in which a type is spelled.
    const fn module_of(&self, at: usize, definition: &'a str) -> &'a str {
        if !definition.is_empty() {
            return module(definition);
        }
        if at < self.spec.steps.len() {
            return match self.spec.steps[at].kind {
                StepKind::Agent { meta, .. } => module(meta.definition),
                _ => "",
            };
        }
        match &self.asked {
            Some(asked) => asked.module,
            None => "",
        }
    }
}

/// The module of a definition: what stands before its name, and before that of the workflow in which it is declared.
const fn module(definition: &str) -> &str {
    let (bytes, mut end) = (definition.as_bytes(), definition.len());
    loop {
        let name = end;
        while end > 0 && bytes[end - 1] != b':' {
            end -= 1;
        }
        let is_module = name < definition.len() && (end == name || !bytes[end].is_ascii_uppercase());
        if is_module || end < 2 {
            return part(definition, 0, if is_module { name } else { 0 });
        }
        end -= 2;
    }
}

#[cfg(test)]
mod tests {
    use super::module;

    #[test]
    fn the_module_of_a_definition() {
        assert_eq!(module("shop::agents::critic"), "shop::agents");
        assert_eq!(module("shop::Loop"), "shop");
        assert_eq!(module("shop::Loop::critic"), "shop");
        assert_eq!(module("critic"), "");
        assert_eq!(module(""), "");
        assert_eq!(module("::"), "");
    }
}
