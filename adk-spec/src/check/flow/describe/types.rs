//! `key-type`.

use super::super::keys::Writer;
use super::super::spelled::{alike, is_option};
use super::super::{Fault, Part};
use super::named::{options, owned};
use super::{below, holds, reader_below, same, who, writer_below, writes, written_as};
use crate::check::message::Message;
use crate::spec::{AgentKind, Spec, StepKind};

/// Read as another type than it is written.
pub(super) const fn read(m: &mut Message, spec: &Spec<'_>, fault: &Fault<'_>, ty: &str, writer: &Writer<'_>) {
    let key = fault.key;
    m.push("key-type: ");
    if fault.at >= spec.steps.len() {
        m.all(&["output `", key, "` is declared as `", ty, "`, but "]);
        written_by(m, spec, key, writer);
        return help(m, whole(ty, writer), writer, "declare it", "");
    }
    match spec.steps[fault.at].kind {
        StepKind::Loop { .. } => {
            m.push("`until` of ");
            who(m, spec, fault.at);
            m.all(&[" needs a `bool`, but `", key, "` is none: "]);
            written_by(m, spec, key, writer);
            m.push("; help: name a key that holds a `bool`");
        }
        StepKind::Each { .. } => {
            who(m, spec, fault.at);
            m.push(" needs a list, such as a `Vec`, but ");
            written_by(m, spec, key, writer);
            m.push("; help: name a key that holds a list");
        }
        _ => {
            who_reads(m, spec, fault, ty);
            m.all(&[" as `", ty, "`, "]);
            further(m, fault);
            m.push("but ");
            written_by(m, spec, key, writer);
            let ty = if is_workflow(spec, fault.at) { whole(ty, writer) } else { ty };
            if is_outvoted(fault, ty, writer) {
                return everywhere(m, ty, writer);
            }
            help(m, ty, writer, "read it", ", or read another key");
        }
    }
}

/// Written as another type than before.
pub(super) const fn written(
    m: &mut Message,
    spec: &Spec<'_>,
    fault: &Fault<'_>,
    ty: &str,
    writer: &Writer<'_>,
) {
    m.push("key-type: ");
    who_writes(m, spec, fault.at, fault.key, ty);
    m.all(&[" writes `", fault.key, "` as `", ty, "`, "]);
    further(m, fault);
    m.push("but ");
    written_by(m, spec, fault.key, writer);
    if is_outvoted(fault, whole(ty, writer), writer) {
        return everywhere(m, ty, writer);
    }
    help(m, whole(ty, writer), writer, "a key has one type: write it", ", or write another key");
}

/// Read or written as a type that cannot be compared with the one that is written.
pub(super) const fn untold(
    m: &mut Message,
    spec: &Spec<'_>,
    fault: &Fault<'_>,
    (ty, reads): (&str, bool),
    full: Option<[usize; 2]>,
    writer: &Writer<'_>,
) {
    let key = fault.key;
    m.push("key-type: ");
    if fault.at >= spec.steps.len() {
        m.all(&["output `", key, "` is declared"]);
    } else if reads {
        who_reads(m, spec, fault, ty);
    } else {
        who_writes(m, spec, fault.at, key, ty);
        m.all(&[" writes `", key, "`"]);
    }
    m.all(&[" as `", ty, "`, "]);
    further(m, fault);
    m.push("and ");
    written_by(m, spec, key, writer);
    m.push(": whether that is one type is not known, since neither has `#[data]`");
    if let Some([room, _]) = full {
        m.push(", and this workflow compares ");
        m.number(room as i128);
        m.push(if room == 1 { " pair" } else { " pairs" });
        m.push(" of such types at most");
    }
    m.push("; help: put `#[data]` on it, or on a type of your own around it");
    if let Some([_, needed]) = full {
        m.push(", or `#[type_pairs(");
        m.number(needed as i128);
        m.push(")]` on the workflow");
    }
}

/// How many further places say the same.
const fn further(m: &mut Message, fault: &Fault<'_>) {
    if fault.further > 0 {
        m.push("as ");
        m.number(fault.further as i128);
        m.push(match (fault.mixed, fault.further) {
            (true, 1) => " further place has it, ",
            (true, _) => " further places have it, ",
            (false, 1) => " further step does, ",
            (false, _) => " further steps do, ",
        });
    }
}

/// Whether a step is a workflow, whose inputs are declared and no parameters that may be absent.
const fn is_workflow(spec: &Spec<'_>, at: usize) -> bool {
    matches!(spec.steps[at].kind, StepKind::Agent { meta, .. } if matches!(meta.kind, AgentKind::Workflow))
}

/// What is declared or written as an `Option` is one, other than what is read: then its name is not that of what is in it.
const fn whole<'t>(ty: &'t str, writer: &Writer<'_>) -> &'t str {
    if options(ty) == options(writer.spec.ty) { ty } else { "" }
}

/// Whether a parameter takes as many `Option`s as there are: one around it says that the key may be absent.
const fn is_as_deep(ty: &str, writer: &Writer<'_>) -> bool {
    let (read, written) = (options(ty), options(writer.spec.ty));
    read == written || is_option(ty) && read == written + 1
}

/// The step, or what it has below it, and what it reads; for which of its own keys, where several are renamed to one.
const fn who_reads(m: &mut Message, spec: &Spec<'_>, fault: &Fault<'_>, ty: &str) {
    match (reader_below(spec, fault.at, fault.key, ty), fault.part) {
        (Some(name), Part::Name) => below(m, spec, fault.at, name, false),
        _ => who(m, spec, fault.at),
    }
    m.all(&[" reads `", fault.key, "`"]);
    let Part::Renaming(renaming) = fault.part else { return };
    let (reads, mut i) = (spec.steps[fault.at].renames.reads, 0);
    while i < reads.len() {
        if i != renaming && same(reads[i].1, fault.key) {
            return m.all(&[" for its `", reads[renaming].0, "`"]);
        }
        i += 1;
    }
}

/// The step, or what it has below it.
const fn who_writes(m: &mut Message, spec: &Spec<'_>, at: usize, key: &str, ty: &str) {
    match writer_below(spec, at, key, ty) {
        Some(name) => below(m, spec, at, name, true),
        None => who(m, spec, at),
    }
}

/// Whether both types have one name.
const fn is_called_so(ty: &str, writer: &Writer<'_>) -> bool {
    !ty.is_empty() && alike(ty, writer.spec.ty, writer.depth) && is_as_deep(ty, writer)
}

/// Whether several places agree against the first writer, so that it may be the one that is wrong.
const fn is_outvoted(fault: &Fault<'_>, ty: &str, writer: &Writer<'_>) -> bool {
    fault.further > 0 && options(ty) == 0 && !writer.spec.ty.is_empty() && !is_called_so(ty, writer)
}

/// What to do there.
const fn everywhere(m: &mut Message, ty: &str, writer: &Writer<'_>) {
    m.push("; help: a key has one type: take ");
    quoted(m, writer);
    m.push(" in all these places, or `");
    owned(m, ty);
    m.push("`");
}

/// What to do: take the type of the key, or another key.
const fn help(m: &mut Message, ty: &str, writer: &Writer<'_>, take: &str, or: &str) {
    if is_called_so(ty, writer) {
        // Of an alias only the type says that it is an `Option`, of which a function writes what is in it.
        return m.push(if writer.spec.optional && same(ty, writer.spec.ty) {
            ", which is another type of the same name, or the `Option` around what is written; help: use the type that is written in both places"
        } else { ", which is another type of the same name; help: use one of the two in both places" });
    }
    m.all(&["; help: ", take, " as "]);
    match (writer.spec.ty.is_empty(), writer.depth) {
        (true, _) => m.push("that type"),
        (false, 0) => {
            m.push("`");
            owned(m, writer.spec.ty);
            m.push("`");
        }
        (false, _) => quoted(m, writer),
    }
    m.push(or);
}

const fn written_by(m: &mut Message, spec: &Spec<'_>, key: &str, writer: &Writer<'_>) {
    if writer.at >= spec.steps.len() {
        let declared = writer.at - spec.steps.len();
        m.push(if spec.built {
            if declared < spec.lets.len() {
                "`.initial_state` gives it as "
            } else {
                "`.state_key` declares it as "
            }
        } else if declared < spec.inputs.len() {
            "the input is declared as "
        } else if declared < spec.inputs.len() + spec.lets.len() {
            "the `let` declares it as "
        } else {
            "the `state` declares it as "
        });
    } else if let StepKind::Each { list, .. } = spec.steps[writer.at].kind {
        m.all(&["it is an element of `", list, "`"]);
        let ty = list_type(spec, writer.at, list);
        if !ty.is_empty() {
            m.all(&[", a `", ty, "`"]);
        }
        return;
    } else {
        who_writes(m, spec, writer.at, key, writer.spec.ty);
        m.push(if writer.depth == 0 {
            " writes it as "
        } else {
            " writes it in an `each`, so that it is a "
        });
    }
    quoted(m, writer);
}

/// The type of a key.
const fn quoted(m: &mut Message, writer: &Writer<'_>) {
    m.push("`");
    let mut i = 0;
    while i < writer.depth {
        m.push("Vec<");
        i += 1;
    }
    m.push(writer.spec.ty);
    i = 0;
    while i < writer.depth {
        m.push(">");
        i += 1;
    }
    m.push("`");
}

/// The type of the list of an `each`, where it is written down as such.
const fn list_type<'a>(spec: &Spec<'a>, each: usize, list: &str) -> &'a str {
    let mut i = 0;
    while i < spec.inputs.len() {
        if same(spec.inputs[i].name, list) {
            return spec.inputs[i].ty;
        }
        i += 1;
    }
    i = 0;
    while i < each {
        match spec.steps[i].kind {
            // What is written in there is a list of that type behind it.
            StepKind::Each { .. } if !holds(spec, i, each) => i = spec.steps[i].end,
            _ if writes(spec, i, list) => return written_as(spec, i, list),
            _ => {}
        }
        i += 1;
    }
    ""
}

/// Written inside an `each`, where it becomes a list, and outside of one.
pub(super) const fn mixed(m: &mut Message, spec: &Spec<'_>, fault: &Fault<'_>) {
    m.push("key-type: ");
    who(m, spec, fault.at);
    m.all(&[
        " writes `",
        fault.key,
        "`, which is written inside of an `each`, where it becomes a list, and outside of one; help: write another \
         key in one of the two places",
    ]);
}
