//! What is said of a block whose key has no type that steers it.

use super::super::keys::Key;
use super::super::{Fault, Flaw, Part, describe};
use super::Row;
use crate::check::message::Message;
use crate::check::text::same;
use crate::spec::Spec;

/// What to say of a block whose key has another type than it needs.
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
    if let Key { name, writer: Some(writer), .. } = keys[row.reads[0] as usize]
        && !is_told(faults, name, at)
    {
        m.line();
        let flaw = Flaw::ReadAs { ty: "", writer };
        describe::fault(m, spec, &Fault { at, part: Part::Key, key: name, flaw });
    }
}

/// Whether one of the faults is about that key, so that nothing is said of its type at a step. That its type is wrong at
/// another step is another fault.
pub(in crate::check::flow) const fn is_told(faults: &[Fault<'_>], key: &str, at: usize) -> bool {
    let mut i = 0;
    while i < faults.len() {
        let Fault { key: other, flaw, at: there, .. } = &faults[i];
        let of_types = flaw.is_of_types();
        if flaw.is_of_key() && same(other, key) && (!of_types || *there == at) {
            return true;
        }
        i += 1;
    }
    false
}
