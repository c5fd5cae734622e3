//! What is said of a block whose key has no type that steers it.

use super::super::keys::Key;
use super::super::walk::is_steered;
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
    if let Key { name, writer: Some(writer), .. } = keys[row.reads[0] as usize] {
        let fault = Fault::new(at, Part::Key, name, Flaw::ReadAs { ty: "", writer });
        if !is_told(faults, &fault) && !is_steered(spec, faults, &fault) {
            m.line();
            describe::fault(m, spec, &fault);
        }
    }
}

/// Whether one of the faults is about the same key, so that nothing is said of its type at a step. That its type is wrong at
/// another step is another fault, and so it is where another key of the same step is renamed to it.
pub(in crate::check::flow) const fn is_told(faults: &[Fault<'_>], fault: &Fault<'_>) -> bool {
    let mut i = 0;
    while i < faults.len() {
        let other = &faults[i];
        let both_read = other.flaw.is_of_reading() && fault.flaw.is_of_reading();
        let elsewhere = other.at != fault.at || both_read && other.part.number() != fault.part.number();
        let apart = other.flaw.is_of_types() && elsewhere;
        if other.flaw.is_of_key() && same(other.key, fault.key) && !apart {
            return true;
        }
        i += 1;
    }
    false
}
