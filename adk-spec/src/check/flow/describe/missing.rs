//! `key-missing`, `key-maybe-missing`, `output-missing`.

use super::super::closest::Closest;
use super::super::effects::has_prefix;
use super::super::{Fault, Part, Reader};
use super::causes::{Cause, cause, first_value, remedy, to_take, why};
use super::known::Known;
use super::meant::{meant, renamed};
use super::{apart, below, common_loop, element, holds, listed, reads, same, unread, who, writes};
use crate::check::message::Message;
use crate::spec::{AgentKind, Spec, StepKind};

/// A key that is read and not certain.
pub(super) const fn unwritten(m: &mut Message, spec: &Spec<'_>, fault: &Fault<'_>, reader: Reader<'_>) {
    let (mut at, key) = (fault.at, fault.key);
    if let Reader::Until = reader {
        // It is read at the end of each round.
        at = spec.steps[at].end;
    }
    let (maybe, later) = writers(spec, at, key);
    if let Some(writer) = maybe {
        m.push("key-maybe-missing: ");
        subject(m, spec, fault, reader);
        m.push(", but ");
        let cause = cause(spec, at, writer, key);
        why(m, spec, writer, key, &cause);
        m.push("; help: ");
        if let Reader::Parameter { target: None } = reader
            && let Some(ty) = to_take(spec, fault.at, writer, key)
        {
            return m.all(&["read it as `", ty, "`, which may be absent"]);
        }
        remedy(m, spec, at, writer, key, &cause);
        return if_absent(m, spec, fault, reader);
    }
    m.push("key-missing: ");
    subject(m, spec, fault, reader);
    m.push(match reader {
        Reader::Until => ", but nothing in the loop or before it writes that key",
        _ => ", but nothing before it writes that key",
    });
    if let Some(writer) = later {
        m.push("; help: it is written later, by ");
        who(m, spec, writer);
        m.push(match reader {
            Reader::Until => ": put that into ",
            _ => ": run that before ",
        });
        who(m, spec, fault.at);
        return if_absent(m, spec, fault, reader);
    }
    if meant(m, spec, at, key) || renamed(m, spec, fault, reader) {
        return known(m, spec, at);
    }
    let near = nearest(spec, at, key);
    if let Some(item) = idle_item(spec, at, key, near) {
        m.all(&["; help: the element is called `", item, "` here, which nothing in the block reads"]);
        if spec.built {
            m.all(&[": call it `", key, "`"])
        } else {
            m.all(&[": write `each ", key, " in ...`"])
        }
    } else if !near.is_empty() {
        m.all(&["; help: did you mean `", near, "`?"]);
    } else if spec.built {
        m.all(&[
            "; help: say that the session holds it, `.state_key::<TYPE>(\"",
            key,
            "\")`, or give it a first value, `.initial_state(\"",
            key,
            "\", VALUE)`",
        ]);
        if_absent_or_text(m, spec, fault, reader);
    } else if let Some(silent) = silent(spec, at) {
        m.push("; help: if ");
        who(m, spec, silent);
        m.all(&[" writes it, say so on its `impl Agent`, `#[agent(writes(", key, ": TYPE))]`"]);
    } else if has_prefix(key) {
        m.all(&["; help: declare it, `state ", key, ": TYPE;`"]);
        if_absent(m, spec, fault, reader);
    } else {
        m.all(&["; help: declare it as an input, `", key, ": TYPE`, or as a `let`"]);
        if let (Reader::Parameter { target: None }, Part::Name) = (reader, fault.part) {
            m.all(&[", let it read another key by `(", key, " = KEY)` behind its name"]);
        }
        match fault.part {
            // It says that the key is there, so that it may not be absent everywhere.
            Part::Renaming(_) => m.push(", or as a `state` if the session holds it"),
            _ => if_absent_or_text(m, spec, fault, reader),
        }
    }
    known(m, spec, at);
}

/// An output that is not certain at the end.
pub(super) const fn output(m: &mut Message, spec: &Spec<'_>, fault: &Fault<'_>) {
    let key = fault.key;
    let end = spec.steps.len();
    let (maybe, _) = writers(spec, end, key);
    m.all(&["output-missing: output `", key, "` "]);
    let Some(writer) = maybe else {
        m.push("is written by nothing in this workflow");
        let near = nearest(spec, end, key);
        if meant(m, spec, end, key) {
            return known(m, spec, end);
        }
        if near.is_empty() {
            m.all(&["; help: let an agent write it, `-> ", key, ": TYPE`"]);
        } else {
            m.all(&["; help: did you mean `", near, "`?"]);
        }
        return known(m, spec, end);
    };
    m.push("is not written on every path to the end: ");
    let cause = cause(spec, end, writer, key);
    why(m, spec, writer, key, &cause);
    m.push("; help: ");
    if let Cause::Broken(..) = cause {
        return remedy(m, spec, end, writer, key, &cause);
    }
    if let Cause::Arm(_) = cause {
        m.push("write it in every arm, or ");
    }
    first_value(m, spec, key, spec.outputs[fault.at - end].ty);
}

/// The first step that may have written a key before, and the first that writes it too late. What could not be read counts
/// where nothing else is known to write the key.
const fn writers(spec: &Spec<'_>, at: usize, key: &str) -> (Option<usize>, Option<usize>) {
    let (mut maybe, mut later, mut unknown) = (None, None, None);
    // What belongs to an element, nothing outside of it writes, and no earlier round.
    let own = if at < spec.steps.len() { element(spec, at, key) } else { None };
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
            let before = (i < at && !apart(spec, i, at)) || again;
            if before && maybe.is_none() {
                maybe = Some(i);
            } else if !before && i > at && later.is_none() && !apart(spec, at, i) {
                later = Some(i);
            }
        } else if unknown.is_none() && reaches && i < at && unread(spec, i) && !apart(spec, i, at) {
            unknown = Some(i);
        }
        i += 1;
    }
    match (maybe, later) {
        (None, None) => (unknown, None),
        _ => (maybe, later),
    }
}

/// Who reads what.
const fn subject(m: &mut Message, spec: &Spec<'_>, fault: &Fault<'_>, reader: Reader<'_>) {
    let key = fault.key;
    match reader {
        Reader::Until => {
            m.push("`until` of ");
            who(m, spec, fault.at);
        }
        Reader::Prompt { target: Some(target), .. } | Reader::Parameter { target: Some(target) } => {
            below(m, spec, fault.at, target, false);
        }
        _ => who(m, spec, fault.at),
    }
    m.all(&[" reads `", key, "`"]);
    if let Reader::Prompt { source, .. } = reader
        && !source.is_empty()
    {
        m.all(&[" in its prompt `", source, "`"]);
    }
}

/// How to read a key that may be absent.
const fn if_absent(m: &mut Message, spec: &Spec<'_>, fault: &Fault<'_>, reader: Reader<'_>) {
    match reader {
        Reader::Prompt { .. } => m.all(&[", or read `{", fault.key, "?}` if it may be absent"]),
        Reader::Parameter { .. } => m.push(match spec.steps[fault.at].kind {
            StepKind::Agent { meta, .. } if matches!(meta.kind, AgentKind::Workflow) => {
                ", or give that input a default"
            }
            _ => ", or take an `Option` if it may be absent",
        }),
        _ => {}
    }
}

/// Adds how to write braces that are text. The backslash is escaped in a literal, but not in a file or in the question of an `await`.
const fn if_absent_or_text(m: &mut Message, spec: &Spec<'_>, fault: &Fault<'_>, reader: Reader<'_>) {
    if_absent(m, spec, fault, reader);
    let Reader::Prompt { source, .. } = reader else { return };
    let asks = matches!(spec.steps[fault.at].kind, StepKind::Agent { meta, .. } if matches!(meta.kind, AgentKind::Await));
    m.push(if source.is_empty() && !asks { ", or write `\\\\{" } else { ", or write `\\{" });
    m.all(&[fault.key, "}` if the braces are text"]);
}

/// The key of this workflow that is spelled most like it.
pub(in super::super) const fn nearest<'a>(spec: &Spec<'a>, at: usize, key: &'a str) -> &'a str {
    let mut closest = Closest::to(key);
    let mut each = Known::written(spec, at);
    while let Some(other) = each.next() {
        closest.show(other);
    }
    closest.found()
}

/// The element of the innermost `each` around a step, when nothing in that block reads it: then the key that a step in
/// it misses is most likely the element by another name, unless it is spelled like a key that is not the list.
const fn idle_item<'a>(spec: &Spec<'a>, at: usize, key: &str, near: &str) -> Option<&'a str> {
    let mut block = if at < spec.steps.len() && !has_prefix(key) { at } else { 0 };
    while block > 0 {
        block -= 1;
        if let StepKind::Each { item, list, .. } = spec.steps[block].kind
            && holds(spec, block, at)
        {
            let mut i = block + 1;
            while i < spec.steps[block].end {
                if reads(spec, i, item) || !(near.is_empty() || same(near, list)) {
                    return None;
                }
                i += 1;
            }
            return if item.is_empty() { None } else { Some(item) };
        }
    }
    None
}

/// An agent before a step that is written by hand and says of no key that it reads or writes it.
const fn silent(spec: &Spec<'_>, at: usize) -> Option<usize> {
    let mut i = if at < spec.steps.len() { at } else { 0 };
    while i > 0 {
        i -= 1;
        if let StepKind::Agent { meta, .. } = spec.steps[i].kind
            && matches!(meta.kind, AgentKind::Custom)
            && matches!((meta.reads, meta.writes), ([], []))
            && !meta.unknown
            && !apart(spec, i, at)
        {
            return Some(i);
        }
    }
    None
}

/// The keys that are there.
const fn known(m: &mut Message, spec: &Spec<'_>, at: usize) {
    let mut count = 0;
    let mut each = Known::up_to(spec, at, at);
    while let Some(key) = each.next() {
        if count == 0 {
            m.push(if m.ends_with(b'?') { " " } else { "; " });
            m.push(if at < spec.steps.len() {
                "keys written before it: "
            } else {
                "keys that are written: "
            });
        }
        listed(m, &mut count, key);
        if count > 12 {
            return;
        }
    }
}
