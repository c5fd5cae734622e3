//! What is said of a step whose types do not agree with those of its keys, as far as is known which of them it is.

use super::super::effects::{Act, Effects};
use super::super::keys::{Key, Writer};
use super::super::{Fault, Flaw, Part, describe, spelled};
use super::{KEPT, Row};
use crate::check::message::Message;
use crate::check::text::same;
use crate::spec::{Spec, StepKind};

/// What to say of a step whose types do not agree with those of its keys.
///
/// A key of which something else is wrong is left out: one mistake gives one message.
pub(in crate::check::flow) const fn tell<'a>(
    m: &mut Message,
    spec: &Spec<'a>,
    keys: &[Key<'a>],
    row: &Row,
    at: usize,
    faults: &[Fault<'a>],
) {
    if at >= spec.steps.len() || !matches!(spec.steps[at].kind, StepKind::Agent { .. }) {
        if let Key { name, writer: Some(writer), .. } = keys[row.reads[0] as usize]
            && !is_told(faults, name, at)
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
    // those with another path; then those that another definition writes; when there are none, all of them.
    let mut told = disagreements(m, spec, keys, row, at, faults, Doubt::Spelling);
    if told == 0 {
        told = disagreements(m, spec, keys, row, at, faults, Doubt::Path);
    }
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
    Path,
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
            Act::Read { spec, slot, target: None, .. } if slot < KEPT => (row.reads[slot], spec.ty, true),
            Act::Write { spec, slot, .. } if slot < KEPT => (row.writes[slot], spec.ty, false),
            _ => continue,
        };
        let Key { name, writer: Some(writer), .. } = keys[key as usize] else { continue };
        let own = !reads && writer.at == at;
        let says = match doubt {
            Doubt::Spelling => !alike(ty, &writer),
            Doubt::Path => !spelled::identical(ty, writer.spec.ty),
            Doubt::Definition => reads || !is_of(spec, writer.at, meta.definition),
            Doubt::All => true,
        };
        if says && !own && is_told(faults, name, at) {
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

/// Whether one of the faults is about that key, so that nothing is said of its type at a step. That its type is wrong at
/// another step is another fault.
pub(in crate::check::flow) const fn is_told(faults: &[Fault<'_>], key: &str, at: usize) -> bool {
    let mut i = 0;
    while i < faults.len() {
        let Fault { key: other, flaw, at: there, .. } = &faults[i];
        let of_types = matches!(flaw, Flaw::ReadAs { .. } | Flaw::WrittenAs { .. });
        if flaw.is_of_key() && same(other, key) && (!of_types || *there == at) {
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
