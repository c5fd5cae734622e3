//! `key-race`.

use super::super::{FlowDiagnostic, Reader};
use super::{element, holds, kind, push_clause, push_step, reads, write_of, writes};
use crate::check::Check;
use crate::message::Message;
use crate::spec::{AgentKind, Spec, StepKind, has_prefix};

/// Returns whether another branch, or another element, writes a key.
pub(in super::super) const fn sibling_writes(spec: &Spec<'_>, at: usize, key: &str) -> bool {
    // An element owns its key, so no step around its `each` writes that key.
    let outer = match element(spec, at, key) {
        Some(own) => own + 1,
        None => 0,
    };
    let end = if at < spec.steps.len() {
        at
    } else {
        spec.steps.len()
    };
    let found = find!(i in outer, end => match spec.steps[i].kind {
        StepKind::Parallel { .. } => {
            holds(spec, i, at) && sibling(spec, i, at, key, true).is_some()
        }
        StepKind::Each { .. } => {
            holds(spec, i, at) && find!(j in i, spec.steps[i].end => writes(spec, j, key)).is_some()
        }
        _ => false,
    });
    found.is_some()
}

/// Returns the first step in another branch of a parallel that writes, or reads, a key.
const fn sibling(
    spec: &Spec<'_>,
    parallel: usize,
    at: usize,
    key: &str,
    written: bool,
) -> Option<usize> {
    let mut branch = parallel + 1;
    while branch < spec.steps[parallel].end {
        let end = spec.steps[branch].end;
        let found = find!(i in branch, end => {
            if written { writes(spec, i, key) } else { reads(spec, i, key) }
        });
        if !holds(spec, branch, at) && found.is_some() {
            return found;
        }
        branch = if end > branch { end + 1 } else { branch + 1 };
    }
    None
}

/// Describes two branches that access one key.
pub(super) const fn race(
    m: &mut Message,
    spec: &Spec<'_>,
    diagnostic: &FlowDiagnostic<'_>,
    parallel: usize,
    written: bool,
    reader: Reader<'_>,
) {
    let (at, key) = (diagnostic.at, diagnostic.key);
    let writer = sibling(spec, parallel, at, key, true);
    m.begin(Check::KeyRace);
    push_step(m, spec, at);
    if matches!(reader, Reader::Inside) && write_of(spec, at, key).is_none() {
        m.push(" (something inside of it)");
    }
    m.all(&[
        if written { " writes `" } else { " reads `" },
        key,
        "`, which ",
    ]);
    match writer {
        Some(other) => push_clause(m, spec, other, &[" writes at the same time"]),
        None => match sibling(spec, parallel, at, key, false) {
            Some(other) => push_clause(m, spec, other, &[" reads at the same time"]),
            None => m.push("another branch touches at the same time"),
        },
    }
    if !(written && writer.is_some()) {
        m.push(
            "; help: read it before or after the parallel block, or run the two one after the \
             other",
        );
    } else if has_prefix(key) || spec.built {
        m.push(
            "; help: let each branch write a key of its own, and join them after the parallel \
             block",
        );
    } else {
        let (before, after) = if matches!(kind(spec, at), Some(AgentKind::Await)) {
            ("await second_", ": TYPE")
        } else {
            ("-> second_", "")
        };
        m.all(&[
            "; help: let each branch write a key of its own, as in `",
            before,
            key,
            after,
        ]);
        m.push("`, and join them after the parallel block");
    }
}

/// Describes a session key that each element writes.
pub(super) const fn each(m: &mut Message, spec: &Spec<'_>, diagnostic: &FlowDiagnostic<'_>) {
    m.begin(Check::KeyRace);
    push_clause(m, spec, diagnostic.at, &[" writes `", diagnostic.key]);
    m.push(
        "`, a key of the session, for all elements of an `each` at the same time; help: write a \
         key without a prefix, which is a list after the block",
    );
}

/// Describes an output with the name of another key that the nested workflow uses.
pub(super) const fn same_inside(
    m: &mut Message,
    spec: &Spec<'_>,
    diagnostic: &FlowDiagnostic<'_>,
    own: &str,
) {
    m.begin(Check::KeyRace);
    push_clause(
        m,
        spec,
        diagnostic.at,
        &[
            " writes `",
            diagnostic.key,
            "`, as its output `",
            own,
            "` is called here, and ",
        ],
    );
    m.all(&[
        "also uses the key `",
        diagnostic.key,
        "` of the session; help: give the output another name",
    ]);
}
