//! `loop-endless`, `exit-outside-loop`, and renamings without effect.

use super::super::FlowDiagnostic;
use super::{NameList, holds, push_clause, push_step};
use crate::check::Check;
use crate::effects::{DEEPEST, Effects, may_exit};
use crate::message::Message;
use crate::nearest::Nearest;
use crate::spec::{AgentKind, AgentMeta, Renames, Spec, StepKind};

/// Describes a loop that nothing ends.
pub(super) const fn describe_endless(
    m: &mut Message,
    spec: &Spec<'_>,
    diagnostic: &FlowDiagnostic<'_>,
) {
    m.begin(Check::LoopEndless);
    push_step(m, spec, diagnostic.at);
    m.push(if spec.built {
        " has no `max_iterations`"
    } else {
        " has no `max`, no `until`"
    });
    m.push(", and nothing inside can end it; help: ");
    m.push(if spec.built {
        "set it, or put an agent that can end a loop into it"
    } else {
        "write `loop(max = 5)`, or put a `break` or an agent that can end a loop into it"
    });
}

/// Describes an exit outside of all loops, or outside of all loops with its name.
pub(super) const fn describe_outside(
    m: &mut Message,
    spec: &Spec<'_>,
    diagnostic: &FlowDiagnostic<'_>,
) {
    m.begin(Check::ExitOutsideLoop);
    let step = &spec.steps[diagnostic.at];
    let named = !diagnostic.key.is_empty();
    match step.kind {
        StepKind::Agent { meta, .. } => {
            push_step(m, spec, diagnostic.at);
            if named {
                m.all(&[" may end loop `", diagnostic.key, "`"]);
            } else {
                m.push(" may end a loop");
                push_exit_cause(m, meta);
            }
        }
        _ if named => m.all(&[
            "`break ",
            diagnostic.key,
            "` ends loop `",
            diagnostic.key,
            "`",
        ]),
        _ => m.push("`break` ends a loop"),
    }
    if !named {
        return m.push(if spec.built {
            ", but is not inside a loop; help: put it into a `LoopAgent`"
        } else {
            ", but is not inside a loop; help: put it inside `loop(max = 5) < ... >`"
        });
    }
    m.push(", but no loop of that name is around it");
    let (mut nearest, mut around, mut i) = (Nearest::to(diagnostic.key), 0, 0);
    while i < diagnostic.at {
        if matches!(spec.steps[i].kind, StepKind::Loop { .. }) && holds(spec, i, diagnostic.at) {
            nearest.show(spec.steps[i].name);
            around += 1;
        }
        i += 1;
    }
    if !nearest.found().is_empty() {
        m.all(&["; help: did you mean `", nearest.found(), "`?"]);
    } else if around > 0 && !spec.built {
        m.all(&[
            "; help: name the intended loop: `",
            diagnostic.key,
            ": loop(...) < ... >`",
        ]);
    } else if spec.built {
        m.push("; help: put it into a `LoopAgent` of that name");
    } else {
        m.all(&[
            "; help: put it inside `",
            diagnostic.key,
            ": loop(max = 5) < ... >`",
        ]);
    }
}

/// Adds what lets an agent end a loop, if its description shows that.
const fn push_exit_cause(m: &mut Message, meta: &AgentMeta<'_>) {
    if let AgentKind::Function = meta.kind {
        return m.push(", since it returns `Flow`");
    }
    each!(tool in meta.tools => {
        if tool.may_exit {
            return m.all(&[" by its tool `", tool.name, "`"]);
        }
    });
    each!(target in meta.transfer => {
        if !meta.may_exit && may_exit(target, DEEPEST) {
            return m.all(&[" by agent `", target.name, "`, to which it may transfer"]);
        }
    });
}

/// Describes a renaming of a key that the agent does not read.
pub(super) const fn no_such_read(
    m: &mut Message,
    spec: &Spec<'_>,
    diagnostic: &FlowDiagnostic<'_>,
) {
    m.begin(Check::FieldUnknown);
    push_clause(
        m,
        spec,
        diagnostic.at,
        &[" reads no key `", diagnostic.key, "` that could be renamed"],
    );
    let StepKind::Agent { meta, .. } = spec.steps[diagnostic.at].kind else {
        return;
    };
    let mut nearest = Nearest::to(diagnostic.key);
    let mut all = Effects::of(meta, &Renames::NONE).outside();
    while let Some(effect) = all.next() {
        if !effect.act.is_write() {
            nearest.show(effect.key);
        }
    }
    if !nearest.found().is_empty() {
        return m.all(&["; help: did you mean `", nearest.found(), "`?"]);
    }
    let (mut keys, mut all) = (NameList::EMPTY, Effects::of(meta, &Renames::NONE).outside());
    while let Some(effect) = all.next() {
        if !effect.act.is_write() {
            keys.add(m, "; help: it reads ", effect.key);
        }
    }
    if keys.count == 0 {
        m.push("; help: it reads no key at all: remove the renaming");
    }
}

/// Describes a `->` whose number of names differs from the number of written keys.
pub(super) const fn other_writes(
    m: &mut Message,
    spec: &Spec<'_>,
    diagnostic: &FlowDiagnostic<'_>,
) {
    let step = &spec.steps[diagnostic.at];
    let StepKind::Agent { meta, .. } = step.kind else {
        return;
    };
    m.begin(Check::FieldUnknown);
    push_step(m, spec, diagnostic.at);
    if meta.writes.is_empty() {
        return m.all(&[
            " writes no key that could be called `",
            diagnostic.key,
            "`; help: remove the `->`",
        ]);
    }
    m.push(" writes ");
    m.number(meta.writes.len() as i128);
    m.push(if meta.writes.len() == 1 {
        " key, "
    } else {
        " keys, "
    });
    let mut keys = NameList::EMPTY;
    each!(key in meta.writes => { keys.add(m, "", key.name) });
    m.push(", and `->` names ");
    m.number(step.renames.writes.len() as i128);
    m.push("; help: name one key for each, in that order, as in `-> (a, b)`");
}

/// Describes a `->` that gives two written keys the same name.
pub(super) const fn same_writes(m: &mut Message, spec: &Spec<'_>, diagnostic: &FlowDiagnostic<'_>) {
    m.begin(Check::FieldUnknown);
    push_step(m, spec, diagnostic.at);
    m.all(&[
        " writes two keys, and `->` calls both `",
        diagnostic.key,
        "`; help: name one key for each",
    ]);
}

/// Describes agents that are nested deeper than the checks follow.
pub(super) const fn describe_too_deep(
    m: &mut Message,
    spec: &Spec<'_>,
    diagnostic: &FlowDiagnostic<'_>,
) {
    m.begin(Check::Syntax);
    m.push("more than ");
    m.number(DEEPEST as i128);
    m.push(" agents are nested in ");
    push_step(m, spec, diagnostic.at);
    m.push(" as transfer targets, tools and steps of workflows; help: make the tree flatter");
}
