//! `key-missing`, `key-maybe-missing`, `output-missing`.

use super::super::{FlowDiagnostic, Reader, StepPart};
use super::causes::{MissingCause, cause, first_value, push_cause, remedy};
use super::known_keys::KnownKeys;
use super::{
    NameList, are_in_siblings, common_loop, element, holds, kind, push_below, push_clause,
    push_step, same, writes,
};
use crate::check::Check;
use crate::effects::contains;
use crate::message::Message;
use crate::nearest::Nearest;
use crate::spec::placeholder::key_of_part;
use crate::spec::{AgentKind, Spec, StepKind, has_prefix};
use crate::text::part;

/// Describes a part of a key between braces, which a prompt treats as text.
pub(super) const fn part_of_key(m: &mut Message, spec: &Spec<'_>, diagnostic: &FlowDiagnostic<'_>) {
    m.begin(Check::Syntax);
    push_step(m, spec, diagnostic.at);
    m.all(&[
        " says `{",
        diagnostic.key,
        "}`, which would be sent as text, since a placeholder names a whole key; help: write `{",
    ]);
    m.all(&[
        key_of_part(diagnostic.key),
        "}`, or let a function with `#[agent(writes = KEY)]` write that part and name its key, or \
         write `\\\\{",
    ]);
    m.all(&[diagnostic.key, "}` if the braces are text"]);
}

/// Describes a read of a key that is not certain to be written.
pub(super) const fn describe_unwritten(
    m: &mut Message,
    spec: &Spec<'_>,
    diagnostic: &FlowDiagnostic<'_>,
    reader: Reader<'_>,
) {
    let (mut at, key) = (diagnostic.at, diagnostic.key);
    if let Reader::Until = reader {
        // The key of `until` is read at the end of each round.
        at = spec.steps[at].end;
    }
    let (maybe, later) = writers(spec, at, key);
    if let Some(writer) = maybe {
        m.begin(Check::KeyMaybeMissing);
        subject(m, spec, diagnostic, reader);
        m.push(", but ");
        let cause = cause(spec, at, writer, key);
        push_cause(m, spec, writer, key, &cause);
        m.push("; help: ");
        remedy(m, spec, at, writer, key, &cause);
        return if_absent(m, spec, diagnostic, reader);
    }
    if contains(spec.states, key) {
        m.begin(Check::KeyMaybeMissing);
        subject(m, spec, diagnostic, reader);
        m.push(
            ", but the session need not hold that `state`; help: let a step before it write the \
             key",
        );
        return if_absent(m, spec, diagnostic, reader);
    }
    m.begin(Check::KeyMissing);
    subject(m, spec, diagnostic, reader);
    m.push(match reader {
        Reader::Until => ", but nothing in the loop or before it writes that key",
        _ => ", but nothing before it writes that key",
    });
    if let Some(writer) = later {
        m.push("; help: it is written later, by ");
        push_step(m, spec, writer);
        m.push(match reader {
            Reader::Until => ": put that into ",
            _ => ": run that before ",
        });
        push_step(m, spec, diagnostic.at);
        return if_absent(m, spec, diagnostic, reader);
    }
    if suggest_output(m, spec, key) {
        return push_known_keys(m, spec, at);
    }
    suggest_source(m, spec, diagnostic, reader, at);
    push_known_keys(m, spec, at);
}

/// Adds the remedy for a key that no step writes.
const fn suggest_source(
    m: &mut Message,
    spec: &Spec<'_>,
    diagnostic: &FlowDiagnostic<'_>,
    reader: Reader<'_>,
    at: usize,
) {
    let key = diagnostic.key;
    let near = nearest(spec, at, key);
    if !near.is_empty() {
        m.all(&["; help: did you mean `", near, "`?"]);
    } else if spec.built {
        m.all(&[
            "; help: declare that the session holds it, `.state_key::<TYPE>(\"",
            key,
        ]);
        m.all(&[
            "\")`, or give it a first value, `.initial_state(\"",
            key,
            "\", VALUE)`",
        ]);
        if_absent_or_text(m, spec, diagnostic, reader);
    } else if let Some(silent) = silent_agent(spec, at) {
        m.push("; help: if ");
        push_clause(
            m,
            spec,
            silent,
            &[" writes it, say so on its `impl Agent`, `#[agent(writes("],
        );
        m.all(&[key, ": TYPE))]`"]);
    } else if has_prefix(key) {
        m.all(&["; help: declare it, `state ", key, ": TYPE;`"]);
        if_absent(m, spec, diagnostic, reader);
    } else {
        suggest_input(m, spec, diagnostic, reader, at);
    }
}

/// Adds the remedy to declare a key as an input or a `let`.
const fn suggest_input(
    m: &mut Message,
    spec: &Spec<'_>,
    diagnostic: &FlowDiagnostic<'_>,
    reader: Reader<'_>,
    at: usize,
) {
    let key = diagnostic.key;
    m.all(&[
        "; help: declare it as an input, `",
        key,
        ": TYPE`, or as a `let`",
    ]);
    if let (Reader::Parameter(None), StepPart::Name) = (reader, diagnostic.part) {
        m.all(&[
            ", let it read another key by `(",
            key,
            " = KEY)` after its name",
        ]);
        if let Some(AgentKind::Function) = kind(spec, at) {
            m.push(", mark the parameter `#[resource]` if the program gives it");
        }
    }
    match diagnostic.part {
        // A renaming claims that the key exists, so an optional read is no remedy.
        StepPart::Renaming(_) => m.push(", or as a `state` if the session holds it"),
        _ => if_absent_or_text(m, spec, diagnostic, reader),
    }
}

/// Describes an output that is not certain to be written when the workflow ends.
pub(super) const fn output(m: &mut Message, spec: &Spec<'_>, diagnostic: &FlowDiagnostic<'_>) {
    let key = diagnostic.key;
    let end = spec.steps.len();
    let (maybe, _) = writers(spec, end, key);
    m.begin(Check::OutputMissing);
    m.all(&["output `", key, "` "]);
    let Some(writer) = maybe else {
        m.push("is written by nothing in this workflow");
        let near = nearest(spec, end, key);
        if suggest_output(m, spec, key) {
            return push_known_keys(m, spec, end);
        }
        if near.is_empty() {
            m.all(&["; help: let an agent write it, `-> ", key, ": TYPE`"]);
        } else {
            m.all(&["; help: did you mean `", near, "`?"]);
        }
        return push_known_keys(m, spec, end);
    };
    m.push("is not written on every path to the end: ");
    let cause = cause(spec, end, writer, key);
    push_cause(m, spec, writer, key, &cause);
    m.push("; help: ");
    if let MissingCause::Broken(..) = cause {
        return remedy(m, spec, end, writer, key, &cause);
    }
    if let MissingCause::Arm(_) = cause {
        remedy(m, spec, end, writer, key, &cause);
        m.push(", or ");
    }
    first_value(m, spec, key, spec.outputs[diagnostic.at - end].ty);
}

/// Adds the remedy for a key that has the name of a step: read the key that the step writes.
/// Returns whether such a step exists.
const fn suggest_output(m: &mut Message, spec: &Spec<'_>, key: &str) -> bool {
    let mut i = 0;
    while i < spec.steps.len() {
        let step = &spec.steps[i];
        if let StepKind::Agent { meta, .. } = step.kind
            && same(step.name, key)
            && !meta.writes.is_empty()
        {
            let written = if step.renames.writes.is_empty() {
                meta.writes[0].name
            } else {
                step.renames.writes[0]
            };
            m.push("; help: ");
            push_clause(m, spec, i, &[" writes `", written, "`: read that"]);
            return true;
        }
        i += 1;
    }
    false
}

/// Returns the first step that may have written a key before the step `at`, and the first step that
/// writes the key only after it.
const fn writers(spec: &Spec<'_>, at: usize, key: &str) -> (Option<usize>, Option<usize>) {
    let (mut maybe, mut later) = (None, None);
    // A key of an element is written only inside its `each`, and only in the same round.
    let own = if at < spec.steps.len() {
        element(spec, at, key)
    } else {
        None
    };
    let mut i = 0;
    while i < spec.steps.len() {
        let reaches = match own {
            Some(each) => holds(spec, each, i),
            None => true,
        };
        if reaches && writes(spec, i, key) {
            let again = match (common_loop(spec, i, at), own) {
                (Some(found), Some(each)) => holds(spec, each, found),
                (found, _) => found.is_some(),
            };
            let before = (i < at && !are_in_siblings(spec, i, at)) || again;
            if before && maybe.is_none() {
                maybe = Some(i);
            } else if !before && i > at && later.is_none() && !are_in_siblings(spec, at, i) {
                later = Some(i);
            }
        }
        i += 1;
    }
    (maybe, later)
}

/// Adds the reader and the key: agent `critic` reads `draft`.
const fn subject(
    m: &mut Message,
    spec: &Spec<'_>,
    diagnostic: &FlowDiagnostic<'_>,
    reader: Reader<'_>,
) {
    let key = diagnostic.key;
    match reader {
        Reader::Until => {
            m.push("`until` of ");
            push_step(m, spec, diagnostic.at);
        }
        Reader::Prompt {
            target: Some(target),
            ..
        }
        | Reader::Parameter(Some(target)) => {
            push_below(m, spec, diagnostic.at, target);
        }
        _ => push_step(m, spec, diagnostic.at),
    }
    m.all(&[" reads `", key, "`"]);
    if let Reader::Prompt { source, .. } = reader
        && !source.is_empty()
    {
        m.all(&[" in its prompt `", source, "`"]);
    }
}

/// Adds how to read a key that may be absent.
const fn if_absent(
    m: &mut Message,
    spec: &Spec<'_>,
    diagnostic: &FlowDiagnostic<'_>,
    reader: Reader<'_>,
) {
    match reader {
        Reader::Prompt { .. } => {
            m.all(&[", or read `{", diagnostic.key, "?}` if it may be absent"])
        }
        Reader::Parameter(_) => m.push(match kind(spec, diagnostic.at) {
            Some(AgentKind::Workflow) => ", or give that input a default",
            _ => ", or take an `Option` if it may be absent",
        }),
        _ => {}
    }
}

/// Adds how to read a key that may be absent, and how to write braces that are text. The backslash
/// is escaped in a literal, but not in a file or in the question of an `await`.
const fn if_absent_or_text(
    m: &mut Message,
    spec: &Spec<'_>,
    diagnostic: &FlowDiagnostic<'_>,
    reader: Reader<'_>,
) {
    if_absent(m, spec, diagnostic, reader);
    let Reader::Prompt { source, .. } = reader else {
        return;
    };
    let asks = matches!(kind(spec, diagnostic.at), Some(AgentKind::Await));
    m.push(if source.is_empty() && !asks {
        ", or write `\\\\{"
    } else {
        ", or write `\\{"
    });
    m.all(&[diagnostic.key, "}` if the braces are text"]);
}

/// Returns the key of this workflow with the most similar spelling.
const fn nearest<'a>(spec: &Spec<'a>, at: usize, key: &'a str) -> &'a str {
    let mut nearest = Nearest::to(key);
    let mut known = KnownKeys::up_to(spec, at, spec.steps.len());
    while let Some(other) = known.next() {
        nearest.show(other);
    }
    nearest.found()
}

/// Returns a handwritten agent before the step `at` that declares no keys at all.
const fn silent_agent(spec: &Spec<'_>, at: usize) -> Option<usize> {
    rfind!(i below if at < spec.steps.len() { at } else { 0 } => match spec.steps[i].kind {
        StepKind::Agent { meta, .. } if matches!(meta.kind, AgentKind::Custom) => {
            matches!((meta.reads, meta.writes), ([], [])) && !are_in_siblings(spec, i, at)
        }
        _ => false,
    })
}

const fn push_known_keys(m: &mut Message, spec: &Spec<'_>, at: usize) {
    let mut intro = if at < spec.steps.len() {
        "; keys written before it: "
    } else {
        "; keys that are written: "
    };
    if m.ends_with(b'?') {
        intro = part(intro, 1, intro.len());
    }
    let (mut keys, mut known) = (NameList::EMPTY, KnownKeys::up_to(spec, at, at));
    while let Some(key) = known.next() {
        keys.add(m, intro, key);
    }
}
