//! `key-type`.

use super::super::keys::Writer;
use super::super::{FlowDiagnostic, StepPart};
use super::{
    holds, kind, push_below, push_clause, push_step, reader_below, same, writer_below, writes,
    written_type,
};
use crate::check::Check;
use crate::message::Message;
use crate::spec::{AgentKind, Spec, StepKind};
use crate::text::{part, starts_with};
use crate::type_names::{have_same_spelling, is_option};

/// Describes a read of a key as another type than the type of its writer.
pub(super) const fn describe_read(
    m: &mut Message,
    spec: &Spec<'_>,
    diagnostic: &FlowDiagnostic<'_>,
    ty: &str,
    writer: &Writer<'_>,
) {
    let key = diagnostic.key;
    m.begin(Check::KeyType);
    if diagnostic.at >= spec.steps.len() {
        return describe_output(m, spec, key, ty, writer);
    }
    match spec.steps[diagnostic.at].kind {
        StepKind::Loop { .. } => {
            m.push("`until` of ");
            push_clause(
                m,
                spec,
                diagnostic.at,
                &[" needs a `bool`, but `", key, "` is not a `bool`: "],
            );
            push_writer(m, spec, key, writer);
            m.push("; help: name a key that holds a `bool`");
        }
        StepKind::Each { .. } => {
            push_clause(
                m,
                spec,
                diagnostic.at,
                &[" needs a list, such as a `Vec`, but "],
            );
            push_writer(m, spec, key, writer);
            m.push("; help: name a key that holds a list");
        }
        StepKind::Match { .. } => {
            push_clause(
                m,
                spec,
                diagnostic.at,
                &[" takes `", key, "` as an `Option`, but "],
            );
            push_writer(m, spec, key, writer);
            m.push("; help: write");
            patterns(m, writer);
        }
        _ if ty.is_empty() => {
            push_clause(
                m,
                spec,
                diagnostic.at,
                &[" shows `", key, "` to its model, but "],
            );
            push_writer(m, spec, key, writer);
            m.all(&[
                "; help: no model sees a secret: let a tool take it, by `#[key] ",
                key,
                "`",
            ]);
        }
        _ => {
            push_reader(m, spec, diagnostic, ty);
            m.all(&[" as `", ty, "`, but "]);
            push_writer(m, spec, key, writer);
            // An input is a declaration, and not a parameter that may be absent.
            let is_workflow = matches!(kind(spec, diagnostic.at), Some(AgentKind::Workflow));
            let ty = if is_workflow {
                declared_type(ty, writer)
            } else {
                ty
            };
            help(m, ty, writer, "read it", ", or read another key");
        }
    }
}

/// Describes an output that is declared as another type than the written one.
const fn describe_output(
    m: &mut Message,
    spec: &Spec<'_>,
    key: &str,
    ty: &str,
    writer: &Writer<'_>,
) {
    m.all(&["output `", key, "` is declared as `", ty, "`, but "]);
    push_writer(m, spec, key, writer);
    help(m, declared_type(ty, writer), writer, "declare it", "");
    if writer.spec.optional && is_option(ty) && !is_option(writer.spec.ty) && !spec.built {
        m.all(&[
            ", or, if it may be nothing, add `let ",
            key,
            ": ",
            ty,
            " = None;` and return `Option<",
            ty,
            ">`",
        ]);
    }
}

/// Adds the patterns for the arms of a `match` whose patterns are those of an `Option`.
pub(in super::super) const fn patterns(m: &mut Message, writer: &Writer<'_>) {
    m.push(" patterns of ");
    if writer.spec.ty.is_empty() {
        m.push("its type");
    } else {
        push_type(m, writer);
    }
    m.push(" in place of `Some` and `None`");
}

/// Describes a write of a key as another type than the type of its first writer.
pub(super) const fn describe_written(
    m: &mut Message,
    spec: &Spec<'_>,
    diagnostic: &FlowDiagnostic<'_>,
    ty: &str,
    writer: &Writer<'_>,
) {
    m.begin(Check::KeyType);
    push_writing_agent(m, spec, diagnostic.at, diagnostic.key, ty);
    m.all(&[" writes `", diagnostic.key, "` as `", ty, "`, but "]);
    push_writer(m, spec, diagnostic.key, writer);
    help(
        m,
        declared_type(ty, writer),
        writer,
        "a key has one type: write it",
        ", or write another key",
    );
}

/// Describes a read or write whose type cannot be compared with the type of the key's writer.
pub(super) const fn describe_unknown(
    m: &mut Message,
    spec: &Spec<'_>,
    diagnostic: &FlowDiagnostic<'_>,
    (ty, reads): (&str, bool),
    full: Option<[usize; 2]>,
    writer: &Writer<'_>,
) {
    let key = diagnostic.key;
    m.begin(Check::KeyType);
    if diagnostic.at >= spec.steps.len() {
        m.all(&["output `", key, "` is declared"]);
    } else if reads {
        push_reader(m, spec, diagnostic, ty);
    } else {
        push_writing_agent(m, spec, diagnostic.at, key, ty);
        m.all(&[" writes `", key, "`"]);
    }
    m.all(&[" as `", ty, "`, and "]);
    push_writer(m, spec, key, writer);
    m.push(": it is not known whether both are one type, since neither has `#[data]`");
    if let Some([room, _]) = full {
        m.push(", and this workflow compares ");
        m.number(room as i128);
        m.push(if room == 1 { " pair" } else { " pairs" });
        m.push(" of such types at most");
    }
    m.push("; help: put `#[data]` on the type, or on a type of your own that contains it");
    if let Some([_, needed]) = full {
        m.push(", or `#[type_pairs(");
        m.number(needed as i128);
        m.push(")]` on the workflow");
    }
}

/// Returns `ty`, or an empty text if only one of the reader and the writer declares an `Option`. A
/// declaration or a write as `Option` has another type than its inner type, while a read as
/// `Option` agrees with both types.
const fn declared_type<'t>(ty: &'t str, writer: &Writer<'_>) -> &'t str {
    if is_option(ty) == is_option(writer.spec.ty) {
        ty
    } else {
        ""
    }
}

/// Adds the reader, which is the step or an agent or tool below it, and the key.
const fn push_reader(m: &mut Message, spec: &Spec<'_>, diagnostic: &FlowDiagnostic<'_>, ty: &str) {
    match (
        reader_below(spec, diagnostic.at, diagnostic.key, ty),
        diagnostic.part,
    ) {
        (Some(name), StepPart::Name) => push_below(m, spec, diagnostic.at, name),
        _ => push_step(m, spec, diagnostic.at),
    }
    m.all(&[" reads `", diagnostic.key, "`"]);
}

/// Adds the writer, which is the step or an agent or tool below it.
const fn push_writing_agent(m: &mut Message, spec: &Spec<'_>, at: usize, key: &str, ty: &str) {
    match writer_below(spec, at, key, ty) {
        Some(name) => push_below(m, spec, at, name),
        None => push_step(m, spec, at),
    }
}

/// Adds the remedy: use the type of the key's writer, or another key.
const fn help(m: &mut Message, ty: &str, writer: &Writer<'_>, take: &str, or: &str) {
    if !ty.is_empty() && have_same_spelling(ty, writer.spec.ty, writer.depth) {
        // The two types have the same spelling. An alias of `Option` hides that a function writes
        // the inner value.
        return m.push(if writer.spec.optional && same(ty, writer.spec.ty) {
            ", which is another type of the same name, or the `Option` around what is written; \
             help: use the type that is written in both places"
        } else {
            ", which is another type of the same name; help: use one of the two in both places"
        });
    }
    m.all(&["; help: ", take, " as "]);
    match (writer.spec.ty.is_empty(), writer.depth) {
        (true, _) => m.push("that type"),
        (false, 0) => {
            m.push("`");
            push_owned_type(m, writer.spec.ty);
            m.push("`");
        }
        (false, _) => push_type(m, writer),
    }
    m.push(or);
}

const fn push_writer(m: &mut Message, spec: &Spec<'_>, key: &str, writer: &Writer<'_>) {
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
        push_writing_agent(m, spec, writer.at, key, writer.spec.ty);
        m.push(if writer.depth == 0 {
            " writes it as "
        } else {
            " writes it in an `each`, so that it is a "
        });
    }
    push_type(m, writer);
}

const fn push_type(m: &mut Message, writer: &Writer<'_>) {
    m.push("`");
    m.times(writer.depth, "Vec<");
    m.push(writer.spec.ty);
    m.times(writer.depth, ">");
    m.push("`");
}

/// Returns the type of the list of an `each`, if a step or an input spells it.
const fn list_type<'a>(spec: &Spec<'a>, each: usize, list: &str) -> &'a str {
    each!(input in spec.inputs => {
        if same(input.name, list) {
            return input.ty;
        }
    });
    let mut i = 0;
    while i < each {
        match spec.steps[i].kind {
            // Writes inside another `each` become a list of the type outside of it, so its steps
            // are skipped.
            StepKind::Each { .. } if !holds(spec, i, each) => i = spec.steps[i].end,
            _ if writes(spec, i, list) => return written_type(spec, i, list),
            _ => {}
        }
        i += 1;
    }
    ""
}

/// Describes a key that is written both inside an `each`, where it becomes a list, and outside of
/// every `each`.
pub(super) const fn describe_mixed(
    m: &mut Message,
    spec: &Spec<'_>,
    diagnostic: &FlowDiagnostic<'_>,
) {
    m.begin(Check::KeyType);
    push_clause(m, spec, diagnostic.at, &[" writes `", diagnostic.key]);
    m.push(
        "`, which is written inside of an `each`, where it becomes a list, and outside of one; \
         help: write another key in one of the two places, or make the steps of an element a \
         workflow of its own, which has keys of its own",
    );
}

/// Adds the owned type for a borrowed type, because a key owns its value.
pub(super) const fn push_owned_type(m: &mut Message, ty: &str) {
    let inside = part(ty, 1, ty.len());
    if !starts_with(ty, "&") {
        m.push(ty);
    } else if same(inside, "str") {
        m.push("String");
    } else if starts_with(inside, "[") {
        m.all(&["Vec<", part(inside, 1, inside.len() - 1), ">"]);
    } else {
        m.push(inside);
    }
}
