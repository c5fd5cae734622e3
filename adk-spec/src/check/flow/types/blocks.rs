//! The message about a block whose key has a type that cannot steer it.

use super::super::keys::Key;
use super::super::{DiagnosticKind, FlowDiagnostic, StepPart, describe};
use super::TypeRow;
use crate::message::Message;
use crate::spec::{Spec, StepKind};
use crate::text::same;

/// Adds the message about a block whose key has another type than the block needs.
///
/// Adds nothing if the key already has a diagnostic, because one mistake gives one message.
pub(in crate::check::flow) const fn describe_block<'a>(
    m: &mut Message,
    spec: &Spec<'a>,
    keys: &[Key<'a>],
    row: &TypeRow,
    at: usize,
    diagnostics: &[FlowDiagnostic<'a>],
) {
    if let Key {
        name,
        writer: Some(writer),
        ..
    } = keys[row.reads[0] as usize]
    {
        let diagnostic = FlowDiagnostic::new(
            at,
            StepPart::Key,
            name,
            DiagnosticKind::ReadAs { ty: "", writer },
        );
        if !is_reported(diagnostics, &diagnostic) {
            m.line();
            describe::diagnostic(m, spec, &diagnostic);
        } else if matches!(spec.steps[at].kind, StepKind::Match { .. }) {
            m.push(", and write");
            describe::patterns(m, &writer);
        }
    }
}

/// Returns whether the key of a diagnostic already has another diagnostic. A wrong type may be
/// reported at several steps, and in one step for each key that is renamed to the key.
pub(in crate::check::flow) const fn is_reported(
    diagnostics: &[FlowDiagnostic<'_>],
    diagnostic: &FlowDiagnostic<'_>,
) -> bool {
    any!(other in diagnostics => {
        let elsewhere =
            other.at != diagnostic.at || other.part.number() != diagnostic.part.number();
        other.kind.is_of_key()
            && same(other.key, diagnostic.key)
            && !(other.kind.is_of_types() && elsewhere)
    })
}
