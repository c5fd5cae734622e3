//! `untrusted-action` and `lethal-trifecta`: text of strangers that may steer an action, and
//! private data that may leave.

use super::Check;
use crate::effects::Effects;
use crate::message::Message;
use crate::spec::{Spec, StepKind};
use crate::text::same;

/// Ends const evaluation when no part of a workflow reads or writes a session key that
/// `#[guards(...)]` names. A `faulty` workflow, which has other diagnostics, may lack the step.
#[track_caller]
pub const fn raise_guard(spec: &Spec<'_>, key: &str, faulty: bool) {
    if faulty {
        return;
    }
    let mut i = 0;
    while let Some(declared) = spec.declared_key(i) {
        if same(declared.name, key) {
            return;
        }
        i += 1;
    }
    each!(step in spec.steps => {
        if let StepKind::Agent { meta, .. } = step.kind {
            let mut all = Effects::of(meta, &step.renames);
            while let Some(effect) = all.next() {
                if same(effect.key, key) {
                    return;
                }
            }
        }
    });
    let fact = [
        "`guards` names `",
        key,
        "`, which no step reads or writes; help: remove it, or name the key as the steps do",
    ];
    Message::of(Check::KeyMissing, &fact).raise();
}
