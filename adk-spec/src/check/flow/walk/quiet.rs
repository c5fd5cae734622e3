//! Faults that follow from others, of which nothing is said.

use super::super::spelled::is_list;
use super::super::{Fault, Flaw, Written, describe};
use super::Walk;
use crate::check::text::{part, same, starts_with};
use crate::spec::{AgentMeta, Spec, StepKind};

impl<'a> Walk<'_, 'a> {
    /// Whether a key that nothing writes may be the one that a refused write was meant for: each such write is the reason for
    /// one of them. One that is spelled like a key that is written is misspelt.
    pub(super) const fn is_meant(&self, at: usize, key: &'a str) -> bool {
        if self.spec.all {
            return false;
        }
        let (mut writes, mut keys, mut i) = (0, 0, 0);
        while i < at && i < self.spec.steps.len() {
            // What its item is called is not known: the list may be spelled like it.
            if let StepKind::Each { item, .. } = self.spec.steps[i].kind {
                writes += (item.is_empty() && self.spec.steps[i].end > at) as usize;
            }
            i += 1;
        }
        if writes + self.spec.displaced == 0 {
            let near = describe::nearest(&self.spec, at, key);
            if !near.is_empty() && !self.is_of_the_second(key, near) {
                return false;
            }
        }
        (writes, i) = (writes + self.spec.displaced, 0);
        while i < self.found {
            writes += self.faults[i].flaw.is_of_a_write() as usize;
            keys += matches!(self.faults[i].flaw, Flaw::Quiet { meant: true }) as usize;
            i += 1;
        }
        writes > keys
    }

    /// Whether it is told that two steps write a key at the same time, and this one is called like it with something before or behind
    /// that, as `criticism_2`: it was to be that of the second.
    const fn is_of_the_second(&self, key: &str, near: &str) -> bool {
        let more = key.len().saturating_sub(near.len());
        if more == 0 || !starts_with(key, near) && !same(part(key, more, key.len()), near) {
            return false;
        }
        let mut i = 0;
        while i < self.found {
            let Fault { key: told, flaw, .. } = self.faults[i];
            if matches!(flaw, Flaw::QuietRace | Flaw::Race { writes: true, .. }) && same(told, near) {
                return true;
            }
            i += 1;
        }
        false
    }

    /// Whether it is told of another key that the first of these steps stands before the second: that is why this one is missing
    /// as well.
    pub(super) const fn is_out_of_order(&self, first: usize, second: usize) -> bool {
        let mut i = 0;
        while i < self.found && !self.spec.all {
            if let Flaw::Unwritten { written: Written::Behind(a, b), .. } = self.faults[i].flaw
                && a == first
                && b == second
            {
                return true;
            }
            i += 1;
        }
        false
    }

    /// Whether the other step of a race is one of the same name: of these it is told that they are two.
    pub(super) const fn is_twin(&self, at: usize, key: &str, parallel: usize) -> bool {
        if self.spec.all {
            return false;
        }
        match describe::sibling(&self.spec, parallel, at, key, true) {
            Some(other) => {
                !self.spec.steps[at].name.is_empty()
                    && same(self.spec.steps[at].name, self.spec.steps[other].name)
            }
            None => false,
        }
    }

    /// Whether it is told of another instance of this agent that this key of it, which is renamed, is none: the agent was to
    /// read it.
    pub(super) const fn is_told_of(&self, meta: &AgentMeta<'_>, key: &str) -> bool {
        let mut i = 0;
        while i < self.found && !self.spec.all {
            let Fault { at, key: told, flaw, .. } = self.faults[i];
            if matches!(flaw, Flaw::NoSuchRead { .. })
                && same(told, key)
                && let StepKind::Agent { meta: other, .. } = self.spec.steps[at].kind
                && same(other.name, meta.name)
            {
                return true;
            }
            i += 1;
        }
        false
    }

    /// Whether it is told of a step that it calls this key otherwise in the wrong place.
    pub(super) const fn is_misnamed(&self, at: usize, key: &str) -> bool {
        let mut i = 0;
        while i < self.found && !self.spec.all {
            let Fault { at: step, key: told, flaw, .. } = self.faults[i];
            if step == at && matches!(flaw, Flaw::NoSuchRead { .. }) && same(told, key) {
                return true;
            }
            i += 1;
        }
        false
    }

    /// Whether an agent may end a loop only since something among its tools is none.
    pub(super) const fn is_by_none(&self, at: usize) -> bool {
        match self.spec.steps[at].kind {
            StepKind::Agent { meta, .. } => !self.spec.all && describe::is_by_none(meta),
            _ => false,
        }
    }

    /// Whether it is told of a loop that nothing ends that this step was to end it.
    pub(super) const fn is_of_endless(&self, at: usize) -> bool {
        let mut i = 0;
        while i < self.found && !self.spec.all {
            if let Fault { at: endless, flaw: Flaw::Endless, .. } = self.faults[i]
                && let Some(exit) = describe::exit_behind(&self.spec, endless)
                && exit == at
            {
                return true;
            }
            i += 1;
        }
        false
    }

    /// Where a key is written that is read at a step.
    pub(super) const fn written(&self, at: usize, writer: Option<usize>) -> Written {
        let Some(writer) = writer else { return Written::Nowhere };
        match in_order(&self.spec, at, writer) {
            Some((first, second)) => Written::Behind(first, second),
            None => Written::Perhaps,
        }
    }

    /// Whether the type of a key is told to be wrong where it steers a block, and what this fault says of it is what the block
    /// needs; or the other way round.
    pub(super) const fn is_steered(&self, fault: &Fault<'_>) -> bool {
        !self.spec.all && is_steered(&self.spec, self.faults.split_at(self.found).0, fault)
    }
}

/// The same among these faults.
pub(in crate::check::flow) const fn is_steered(
    spec: &Spec<'_>,
    mut faults: &[Fault<'_>],
    fault: &Fault<'_>,
) -> bool {
    while let [told, rest @ ..] = faults {
        if same(told.key, fault.key) && (steers_as(spec, told, fault) || steers_as(spec, fault, told)) {
            return true;
        }
        if gathers(told, fault) {
            return true;
        }
        faults = rest;
    }
    false
}

/// Whether the first says that a step reads a list, of which it stands in the `each` that makes it, and the second that what this
/// step writes is one: it was to stand behind the `each`.
const fn gathers(told: &Fault<'_>, fault: &Fault<'_>) -> bool {
    let (Flaw::ReadAs { ty, writer: element }, Flaw::ReadAs { writer, .. } | Flaw::WrittenAs { writer, .. }) =
        (told.flaw, fault.flaw)
    else {
        return false;
    };
    told.at == writer.at && writer.depth > 0 && element.depth == 0 && is_list(ty)
}

/// Whether the first says that the key of a block has no type that steers it, and the second says it has one that does.
const fn steers_as(spec: &Spec<'_>, block: &Fault<'_>, other: &Fault<'_>) -> bool {
    let (Flaw::ReadAs { ty: wanted, .. }, Flaw::ReadAs { ty, .. } | Flaw::WrittenAs { ty, .. }) =
        (block.flaw, other.flaw)
    else {
        return false;
    };
    if !wanted.is_empty() || ty.is_empty() || block.at >= spec.steps.len() {
        return false;
    }
    match spec.steps[block.at].kind {
        StepKind::Loop { .. } => same(ty, "bool"),
        StepKind::Each { .. } => is_list(ty),
        _ => false,
    }
}

/// The steps of one block in which a step stands and, behind it, a later one.
const fn in_order(spec: &Spec<'_>, at: usize, later: usize) -> Option<(usize, usize)> {
    if later <= at || later >= spec.steps.len() {
        return None;
    }
    let (mut i, mut first) = (0, None);
    while i <= later {
        let last = match spec.steps[i].kind {
            StepKind::Agent { .. } | StepKind::Break { .. } | StepKind::End => i,
            _ => spec.steps[i].end,
        };
        match first {
            Some(first) if later <= last => return Some((first, i)),
            None if at <= last && later <= last => {
                i += 1;
                continue;
            }
            None if at <= last => first = Some(i),
            _ => {}
        }
        i = last + 1;
    }
    None
}
