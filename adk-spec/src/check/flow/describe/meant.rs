//! What was written in the place of a key, and where a key is that nobody can see.

use super::super::effects::contains;
use super::super::{Fault, Part, Reader};
use super::{apart, same, who, writes_itself, written_as};
use crate::check::message::Message;
use crate::spec::{AgentKind, Renames, Spec, StepKind};

/// Another remedy for a key that nothing writes than to declare it; whether there is one.
pub(super) const fn meant(m: &mut Message, spec: &Spec<'_>, at: usize, key: &str) -> bool {
    if let Some((step, written)) = step_of_name(spec, key) {
        m.push("; help: ");
        who(m, spec, step);
        m.all(&[" writes `", written, "`: read that"]);
        return true;
    }
    if let Some((step, ty)) = shut_in(spec, at, key) {
        m.push("; help: ");
        who(m, spec, step);
        m.all(&[
            " writes it inside, where nobody else sees it: let it be an output of that workflow, `-> ",
            key,
            ": ",
        ]);
        m.all(&[if ty.is_empty() { "TYPE" } else { ty }, "`"]);
        return true;
    }
    false
}

/// The same for a key that an instance before that step calls otherwise; whether there is one.
pub(super) const fn renamed(m: &mut Message, spec: &Spec<'_>, fault: &Fault<'_>, reader: Reader<'_>) -> bool {
    let (mut i, key) = (fault.at, fault.key);
    while i > 0 {
        i -= 1;
        if let Some(other) = other_name(spec, i, key)
            && !apart(spec, i, fault.at)
        {
            m.push("; help: ");
            who(m, spec, i);
            m.all(&[" writes it as `", other, "`: "]);
            match (reader, fault.part) {
                (Reader::Parameter { target: None } | Reader::Prompt { target: None, .. }, Part::Name) => {
                    let reader = spec.steps[fault.at].name;
                    m.all(&["let `", reader, "` read that by `(", key, " = ", other, ")` behind its name"]);
                }
                _ => m.push("read that"),
            }
            return true;
        }
    }
    false
}

/// What a step calls a key that its agent writes, where that is another name.
const fn other_name<'a>(spec: &Spec<'a>, at: usize, key: &str) -> Option<&'a str> {
    let StepKind::Agent { meta, .. } = spec.steps[at].kind else { return None };
    let (mut i, writes) = (0, spec.steps[at].renames.writes);
    while i < writes.len() && i < meta.writes.len() {
        if same(meta.writes[i].name, key) {
            return Some(writes[i]);
        }
        i += 1;
    }
    None
}

/// A step that is called like the key, and what it writes.
const fn step_of_name<'a>(spec: &Spec<'a>, key: &str) -> Option<(usize, &'a str)> {
    let mut i = 0;
    while i < spec.steps.len() {
        let step = &spec.steps[i];
        if let StepKind::Agent { meta, .. } = step.kind
            && same(step.name, key)
            && !meta.writes.is_empty()
        {
            let written =
                if step.renames.writes.is_empty() { meta.writes[0].name } else { step.renames.writes[0] };
            return Some((i, written));
        }
        i += 1;
    }
    None
}

/// A workflow before that step in which the key is written, and which does not give it out, with the type of the key.
const fn shut_in<'a>(spec: &Spec<'a>, at: usize, key: &str) -> Option<(usize, &'a str)> {
    let mut i = 0;
    while i < at && i < spec.steps.len() {
        if let StepKind::Agent { meta, .. } = spec.steps[i].kind
            && matches!(meta.kind, AgentKind::Workflow)
            && !contains(meta.writes, key)
            && !apart(spec, i, at)
        {
            let inner = Spec::new("", "", meta.steps);
            let mut j = 0;
            while j < meta.steps.len() {
                if matches!(meta.steps[j].kind, StepKind::Agent { .. }) && writes_itself(&inner, j, key) {
                    return Some((i, written_as(&inner, j, key)));
                }
                j += 1;
            }
        }
        i += 1;
    }
    None
}

/// Whether what an instance calls otherwise is a key that its agent writes, whose other name stands behind `->`.
pub(in super::super) const fn is_written(spec: &Spec<'_>, at: usize, key: &str) -> bool {
    let StepKind::Agent { meta, .. } = spec.steps[at].kind else { return false };
    let mut i = 0;
    while i < meta.writes.len() {
        if same(meta.writes[i].name, key) {
            return matches!(spec.steps[at].renames, Renames { writes: [], .. });
        }
        i += 1;
    }
    false
}
