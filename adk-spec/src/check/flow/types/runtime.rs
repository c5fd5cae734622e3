//! The comparison of types at run time, by `TypeId`.

use super::super::keys::{Key, Writer};
use super::super::{DiagnosticKind, FlowDiagnostic, StepPart};
use super::{KEPT, TypeRow};
use crate::effects::{Act, Effects};
use crate::spec::{KeySpec, Spec, StepKind};
use crate::type_names::{differ, is_option};

/// Returns the diagnostics of types in a tree that is built at run time.
pub(in crate::check::flow) fn diagnostics<'a>(
    spec: &Spec<'a>,
    keys: &[Key<'a>],
    rows: &[TypeRow],
) -> Vec<FlowDiagnostic<'a>> {
    let mut diagnostics: Vec<FlowDiagnostic<'a>> = Vec::new();
    for (at, (step, row)) in spec.steps.iter().zip(rows).enumerate() {
        let StepKind::Agent { meta, .. } = step.kind else {
            continue;
        };
        let mut all = Effects::of(meta, &step.renames);
        while let Some(effect) = all.next() {
            let (key, own, reads, part) = match effect.act {
                Act::Read {
                    spec,
                    slot,
                    renamed,
                    target: None,
                } if slot < KEPT => (
                    row.reads[slot],
                    spec,
                    true,
                    renamed.map_or(StepPart::Name, StepPart::Renaming),
                ),
                Act::Write { spec, slot, .. } if slot < KEPT => {
                    (row.writes[slot], spec, false, StepPart::Name)
                }
                _ => continue,
            };
            let Key {
                name,
                writer: Some(writer),
                ..
            } = keys[key as usize]
            else {
                continue;
            };
            let differs = differs(
                &own,
                &writer,
                reads && own.optional && is_option(writer.spec.ty),
            );
            if differs {
                let ty = own.ty;
                let kind = if reads {
                    DiagnosticKind::ReadAs { ty, writer }
                } else {
                    DiagnosticKind::WrittenAs { ty, writer }
                };
                diagnostics.push(FlowDiagnostic::new(at, part, name, kind));
            }
        }
    }
    let outputs = spec.outputs.iter().zip(rows.iter().skip(spec.steps.len()));
    for (i, (output, row)) in outputs.enumerate() {
        let Key {
            name,
            writer: Some(writer),
            ..
        } = keys[row.reads[0] as usize]
        else {
            continue;
        };
        if !output.any && differs(output, &writer, false) {
            let kind = DiagnosticKind::ReadAs {
                ty: output.ty,
                writer,
            };
            diagnostics.push(FlowDiagnostic::new(
                spec.steps.len() + i,
                StepPart::Name,
                name,
                kind,
            ));
        }
    }
    diagnostics
}

/// Returns whether two types differ by their `TypeId`s. Types are compared only if both are known
/// and the written type has no lists around it. Types inside an `Option` are compared by name.
fn differs(own: &KeySpec<'_>, writer: &Writer<'_>, inside: bool) -> bool {
    match (own.type_id(), writer.spec.type_id()) {
        (Some(own), Some(written)) if writer.depth == 0 && !inside => own != written,
        _ => differ(own.ty, writer.spec.ty, writer.depth),
    }
}
