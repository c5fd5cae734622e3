//! `loop-endless`, `exit-outside-loop`, and renamings that rename nothing.

use super::super::Fault;
use super::super::closest::Closest;
use super::super::effects::{DEEPEST, may_exit};
use super::meant::is_written;
use super::{Act, Effects, apart, common_loop, holds, listed, same, who};
use crate::check::message::Message;
use crate::spec::{AgentKind, AgentMeta, Renames, Spec, StepKind};

/// A loop that nothing ends.
pub(super) const fn endless(m: &mut Message, spec: &Spec<'_>, fault: &Fault<'_>) {
    m.push("loop-endless: ");
    who(m, spec, fault.at);
    m.push(if spec.built { " has no `max_iterations`" } else { " has no `max`, no `until`" });
    m.push(", and nothing inside can end it; help: ");
    if let Some(exit) = exit_behind(spec, fault.at) {
        match spec.steps[exit].kind {
            StepKind::Agent { .. } => {
                who(m, spec, exit);
                m.push(", which may end a loop,");
            }
            _ => m.push("a `break`"),
        }
        return m.push(" stands behind it: put that into it");
    }
    m.push(if spec.built {
        "set it, or put an agent that can end a loop into it"
    } else {
        "write `loop(max = 5)`, or put a `break` or an agent that can end a loop into it"
    });
}

/// The first step behind a loop that may end one, and stands in none.
pub(in crate::check::flow) const fn exit_behind(spec: &Spec<'_>, endless: usize) -> Option<usize> {
    let mut i = spec.steps[endless].end;
    while i < spec.steps.len() {
        let exits = match spec.steps[i].kind {
            StepKind::Agent { meta, .. } => may_exit(meta, DEEPEST) && !is_by_none(meta),
            StepKind::Break { target: None } => true,
            _ => false,
        };
        if exits && !apart(spec, endless, i) && common_loop(spec, i, i).is_none() {
            return Some(i);
        }
        i += 1;
    }
    None
}

/// An exit in no loop, or in none of that name.
pub(super) const fn outside(m: &mut Message, spec: &Spec<'_>, fault: &Fault<'_>) {
    m.push("exit-outside-loop: ");
    let step = &spec.steps[fault.at];
    let named = !fault.key.is_empty();
    match step.kind {
        StepKind::Agent { meta, .. } => {
            who(m, spec, fault.at);
            if named {
                m.all(&[" may end loop `", fault.key, "`"]);
            } else {
                m.push(" may end a loop");
                by(m, meta);
            }
        }
        _ if named => m.all(&["`break ", fault.key, "` ends loop `", fault.key, "`"]),
        _ => m.push("`break` ends a loop"),
    }
    if !named {
        return m.push(if spec.built {
            ", but stands in none; help: put it into a `LoopAgent`"
        } else {
            ", but stands in none; help: put it inside `loop(max = 5) < ... >`"
        });
    }
    m.push(", but no loop of that name is around it");
    let mut closest = Closest::to(fault.key);
    let (mut count, mut i) = (0, 0);
    while i < fault.at {
        if matches!(spec.steps[i].kind, StepKind::Loop { .. }) && holds(spec, i, fault.at) {
            closest.show(spec.steps[i].name);
            count += 1;
        }
        i += 1;
    }
    if !closest.found().is_empty() {
        return m.all(&["; help: did you mean `", closest.found(), "`?"]);
    }
    if count == 0 && spec.built {
        return m.all(&["; help: put it into a `LoopAgent` of that name"]);
    }
    if count == 0 {
        return m.all(&["; help: put it inside `", fault.key, ": loop(max = 5) < ... >`"]);
    }
    m.push(if count == 1 { "; help: the loop around it is " } else { "; help: the loops around it are " });
    let mut unnamed = false;
    (count, i) = (0, 0);
    while i < fault.at {
        if matches!(spec.steps[i].kind, StepKind::Loop { .. }) && holds(spec, i, fault.at) {
            listed(m, &mut count, spec.steps[i].name);
            unnamed = unnamed || !spec.steps[i].named;
        }
        i += 1;
    }
    // `loop_1` stands nowhere in the source.
    if unnamed && !spec.built {
        m.all(&["; name the one that is meant: `", fault.key, ": loop(...) < ... >`"]);
    }
}

/// By what an agent may end a loop, where its description says so.
const fn by(m: &mut Message, meta: &AgentMeta<'_>) {
    if let AgentKind::Function = meta.kind {
        return m.push(", since it returns `Flow`");
    }
    let (who, mut i) = (ending(meta, DEEPEST), 0);
    let tools = if let Some(target) = who { target.tools } else { meta.tools };
    let mut tool = "";
    while i < tools.len() {
        if tools[i].may_exit && tool.is_empty() {
            tool = tools[i].name;
        }
        i += 1;
    }
    match (who, tool.is_empty()) {
        (None, true) => {}
        (None, false) => m.all(&[" by its tool `", tool, "`"]),
        (Some(target), true) => m.all(&[" by agent `", target.name, "`, to which it may transfer"]),
        (Some(target), false) => {
            m.all(&[" by tool `", tool, "` of agent `", target.name, "`, to which it may transfer"]);
        }
    }
}

/// Whether what ends a loop is something among the tools that is none, which is told there: of that nothing is known.
pub(in crate::check::flow) const fn is_by_none(meta: &AgentMeta<'_>) -> bool {
    let mut tools = if let Some(target) = ending(meta, DEEPEST) { target.tools } else { meta.tools };
    while let [tool, rest @ ..] = tools {
        if tool.may_exit && tool.name.is_empty() {
            return true;
        }
        tools = rest;
    }
    false
}

/// The transfer target that may end a loop, when the agent itself may not.
const fn ending<'a>(meta: &AgentMeta<'a>, deepest: usize) -> Option<&'a AgentMeta<'a>> {
    let mut t = 0;
    while !meta.may_exit && deepest > 0 && t < meta.transfer.len() {
        let target = meta.transfer[t];
        if may_exit(target, deepest - 1) {
            return match ending(target, deepest - 1) {
                Some(below) => Some(below),
                None => Some(target),
            };
        }
        t += 1;
    }
    None
}

/// A renaming of a key that the agent does not read.
pub(super) const fn no_such_read(m: &mut Message, spec: &Spec<'_>, fault: &Fault<'_>, from: &str) {
    m.push("field-unknown: ");
    who(m, spec, fault.at);
    m.all(&[" reads no key `", fault.key, "` that could be renamed"]);
    let StepKind::Agent { meta, .. } = spec.steps[fault.at].kind else { return };
    if is_written(spec, fault.at, fault.key) {
        return m.all(&[
            "; help: it writes that key: call it otherwise behind the `)`, as in `-> ",
            from,
            "`",
        ]);
    }
    let (mut closest, mut is_turned) = (Closest::to(fault.key), false);
    let mut all = Effects::of(meta, Renames::NONE);
    while let Some(effect) = all.next() {
        if is_read(&effect.act) {
            closest.show(effect.key);
            is_turned = is_turned || same(effect.key, from);
        }
    }
    if !closest.found().is_empty() {
        return m.all(&["; help: did you mean `", closest.found(), "`?"]);
    }
    if is_turned {
        let key = fault.key;
        return m.all(&["; help: the key of the definition stands first: write `", from, " = ", key, "`"]);
    }
    let (mut count, mut nth) = (0, 0);
    let mut all = Effects::of(meta, Renames::NONE);
    while let Some(effect) = all.next() {
        if is_read(&effect.act) && is_first(meta, effect.key, nth) {
            if count == 0 {
                m.push("; help: it reads ");
            }
            listed(m, &mut count, effect.key);
        }
        nth += 1;
    }
    if count == 0 {
        m.push("; help: it reads no key at all: remove the renaming");
    }
}

/// Other names for written keys than there are written keys.
pub(super) const fn other_writes(m: &mut Message, spec: &Spec<'_>, fault: &Fault<'_>) {
    let step = &spec.steps[fault.at];
    let StepKind::Agent { meta, .. } = step.kind else { return };
    m.push("field-unknown: ");
    who(m, spec, fault.at);
    if meta.writes.is_empty() {
        return m.all(&[" writes no key that could be called `", fault.key, "`; help: remove the `->`"]);
    }
    m.push(" writes ");
    m.number(meta.writes.len() as i128);
    m.push(if meta.writes.len() == 1 { " key, " } else { " keys, " });
    let (mut count, mut i) = (0, 0);
    while i < meta.writes.len() {
        listed(m, &mut count, meta.writes[i].name);
        i += 1;
    }
    m.push(", and `->` names ");
    m.number(step.renames.writes.len() as i128);
    m.push("; help: name one key for each, in that order, as in `-> (a, b)`");
}

/// One name for two keys that are written.
pub(super) const fn same_writes(m: &mut Message, spec: &Spec<'_>, fault: &Fault<'_>) {
    m.push("field-unknown: ");
    who(m, spec, fault.at);
    m.all(&[" writes two keys, and `->` calls both `", fault.key, "`; help: name one key for each"]);
}

const fn is_read(act: &Act<'_>) -> bool {
    matches!(act, Act::Prompt { target: None, .. } | Act::Read { target: None, .. })
}

/// Whether none of the effects before the `nth` reads that key.
const fn is_first(meta: &AgentMeta<'_>, key: &str, nth: usize) -> bool {
    let mut all = Effects::of(meta, Renames::NONE);
    let mut i = 0;
    while i < nth
        && let Some(effect) = all.next()
    {
        if is_read(&effect.act) && same(effect.key, key) {
            return false;
        }
        i += 1;
    }
    true
}
