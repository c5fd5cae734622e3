//! What is said of a block whose key has no type that steers it.

use super::super::keys::Key;
use super::super::{Fault, Flaw, Part, describe};
use super::Row;
use crate::message::Message;
use crate::spec::{Spec, StepKind};
use crate::text::same;

/// What to say of a block whose key has another type than it needs.
///
/// A key with another fault is left out: one mistake gives one message.
pub(in crate::check::flow) const fn tell<'a>(
    m: &mut Message,
    spec: &Spec<'a>,
    keys: &[Key<'a>],
    row: &Row,
    at: usize,
    faults: &[Fault<'a>],
) {
    if let Key { name, writer: Some(writer), .. } = keys[row.reads[0] as usize] {
        let fault = Fault::new(at, Part::Key, name, Flaw::ReadAs { ty: "", writer });
        if !is_reported(faults, &fault) {
            m.line();
            describe::fault(m, spec, &fault);
        } else if matches!(spec.steps[at].kind, StepKind::Match { .. }) {
            m.push(", and write");
            describe::patterns(m, &writer);
        }
    }
}

/// Whether something is wrong with the key already, so that its type is not reported at a step. The type of one key may be
/// reported at several steps, and for each key of a step that is renamed to it.
pub(in crate::check::flow) const fn is_reported(faults: &[Fault<'_>], fault: &Fault<'_>) -> bool {
    any!(other in faults => {
        let elsewhere = other.at != fault.at || other.part.number() != fault.part.number();
        other.flaw.is_of_key() && same(other.key, fault.key) && !(other.flaw.is_of_types() && elsewhere)
    })
}
