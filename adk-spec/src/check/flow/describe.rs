//! What the faults of the flow say: the fact, the names, what to write instead.
//!
//! Who else writes a key, and where, is looked for here and not in the walk: a workflow without faults pays nothing.

mod below;
mod causes;
mod exits;
mod known;
mod meant;
mod missing;
mod named;
mod races;
mod types;

pub(super) use exits::{exit_behind, is_by_none};
pub(super) use meant::is_written;
pub(super) use missing::nearest;
pub(super) use races::{sibling, sibling_writes};

use self::below::below;
use super::super::message::Message;
use super::effects::{Act, Effects, has_prefix};
use super::session;
use super::{Fault, Flaw};
use crate::check::text::same;
use crate::spec::{AgentKind, Spec, StepKind};

/// One fault as text.
pub(super) const fn fault(m: &mut Message, spec: &Spec<'_>, fault: &Fault<'_>) {
    match fault.flaw {
        Flaw::Unwritten { reader, .. } => missing::unwritten(m, spec, fault, reader),
        Flaw::Quiet { .. } | Flaw::QuietRace => {}
        Flaw::NoOutput => missing::output(m, spec, fault),
        Flaw::Race { parallel, writes, reader } => races::race(m, spec, fault, parallel, writes, reader),
        Flaw::EachRace => races::each(m, spec, fault),
        Flaw::SameInside { own } => races::same_inside(m, spec, fault, own),
        Flaw::Mixed => types::mixed(m, spec, fault),
        Flaw::ReadAs { ty, writer } => types::read(m, spec, fault, ty, &writer),
        Flaw::WrittenAs { ty, writer } => types::written(m, spec, fault, ty, &writer),
        Flaw::Untold { ty, reads, full, writer } => types::untold(m, spec, fault, (ty, reads), full, &writer),
        Flaw::NoSuchRead { from } => exits::no_such_read(m, spec, fault, from),
        Flaw::OtherWrites => exits::other_writes(m, spec, fault),
        Flaw::SameWrites => exits::same_writes(m, spec, fault),
        Flaw::Endless => exits::endless(m, spec, fault),
        Flaw::ExitOutside => exits::outside(m, spec, fault),
    }
}

/// A step as a message calls it: agent `critic`, workflow `drafting`, loop `refinement`, `match severity`.
const fn who(m: &mut Message, spec: &Spec<'_>, at: usize) {
    let step = &spec.steps[at];
    if unread(spec, at) && step.name.is_empty() {
        return m.push("the step that could not be read");
    }
    m.push(match step.kind {
        StepKind::Agent { meta, .. } => match meta.kind {
            AgentKind::Function => "function `",
            AgentKind::Workflow => "workflow `",
            AgentKind::Await => "await `",
            _ => "agent `",
        },
        StepKind::Loop { .. } => "loop `",
        StepKind::Parallel { .. } => "parallel `",
        StepKind::Match { key } => return m.all(&["`match ", key, "`"]),
        // Its item was refused.
        StepKind::Each { item, list, .. } if item.is_empty() => {
            return m.all(&["the `each` over `", list, "`"]);
        }
        StepKind::Each { item, list, .. } => return m.all(&["`each ", item, " in ", list, "`"]),
        _ => "`",
    });
    m.all(&[step.name, "`"]);
}

/// Whether nothing is known of a step, which may have done anything: it could not be read.
const fn unread(spec: &Spec<'_>, at: usize) -> bool {
    matches!(spec.steps[at].kind, StepKind::Agent { meta, .. } if meta.unknown)
}

/// Whether there is such a step.
pub(super) const fn any_unread(spec: &Spec<'_>) -> bool {
    let mut at = 0;
    while at < spec.steps.len() {
        if unread(spec, at) {
            return true;
        }
        at += 1;
    }
    false
}

/// Whether the agent of a step writes a key, perhaps, or something inside of it does.
const fn writes(spec: &Spec<'_>, at: usize, key: &str) -> bool {
    let StepKind::Agent { meta, .. } = spec.steps[at].kind else { return false };
    writes_itself(spec, at, key) || session::touches(meta, spec.steps[at].renames, None, key, true)
}

/// Whether the agent of a step writes a key, perhaps.
const fn writes_itself(spec: &Spec<'_>, at: usize, key: &str) -> bool {
    let StepKind::Agent { meta, .. } = spec.steps[at].kind else { return false };
    let mut all = Effects::writes(meta, spec.steps[at].renames);
    while let Some(effect) = all.next() {
        if same(effect.key, key) {
            return true;
        }
    }
    false
}

/// Whether it has written it whenever it ends.
const fn writes_surely(spec: &Spec<'_>, at: usize, key: &str) -> bool {
    let StepKind::Agent { meta, .. } = spec.steps[at].kind else { return false };
    let mut all = Effects::writes(meta, spec.steps[at].renames);
    while let Some(effect) = all.next() {
        if same(effect.key, key) && matches!(effect.act, Act::Write { sure: true, .. }) {
            return true;
        }
    }
    meta.unknown
}

/// The type as which a step writes a key.
const fn written_as<'a>(spec: &Spec<'a>, at: usize, key: &str) -> &'a str {
    if let StepKind::Agent { meta, .. } = spec.steps[at].kind {
        let mut all = Effects::writes(meta, spec.steps[at].renames);
        while let Some(effect) = all.next() {
            if let Act::Write { spec, .. } | Act::May(spec) = effect.act
                && same(effect.key, key)
            {
                return spec.ty;
            }
        }
    }
    "TYPE"
}

/// Who writes a key as that type, when it is not the agent of the step itself.
const fn writer_below<'a>(spec: &Spec<'a>, at: usize, key: &str, ty: &str) -> Option<&'a str> {
    let StepKind::Agent { meta, .. } = spec.steps[at].kind else { return None };
    let (mut all, mut found) = (Effects::writes(meta, spec.steps[at].renames), None);
    while let Some(effect) = all.next() {
        match effect.act {
            Act::Write { spec, .. } if same(effect.key, key) && same(spec.ty, ty) => return None,
            Act::May(spec) if found.is_none() && same(effect.key, key) && same(spec.ty, ty) => {
                found = all.writer();
            }
            _ => {}
        }
    }
    found
}

/// Who reads a key as that type, when it is not the agent of the step itself.
const fn reader_below<'a>(spec: &Spec<'a>, at: usize, key: &str, ty: &str) -> Option<&'a str> {
    let StepKind::Agent { meta, .. } = spec.steps[at].kind else { return None };
    let (mut all, mut found) = (Effects::of(meta, spec.steps[at].renames), None);
    while let Some(effect) = all.next() {
        if let Act::Read { spec, target, .. } = effect.act
            && same(effect.key, key)
            && same(spec.ty, ty)
        {
            match target {
                None => return None,
                Some(_) if found.is_none() => found = target,
                Some(_) => {}
            }
        }
    }
    found
}

/// Whether a step reads a key, or something inside of it does.
const fn reads(spec: &Spec<'_>, at: usize, key: &str) -> bool {
    match spec.steps[at].kind {
        StepKind::Agent { meta, .. } => {
            let mut all = Effects::of(meta, spec.steps[at].renames);
            while let Some(effect) = all.next() {
                if matches!(effect.act, Act::Prompt { .. } | Act::Read { .. }) && same(effect.key, key) {
                    return true;
                }
            }
            session::touches(meta, spec.steps[at].renames, None, key, false)
        }
        StepKind::Loop { until: Some(until), .. } => same(until, key),
        StepKind::Match { key: read } => same(read, key),
        StepKind::Each { list, .. } => same(list, key),
        _ => false,
    }
}

/// Whether a block holds a step.
const fn holds(spec: &Spec<'_>, block: usize, at: usize) -> bool {
    block < at && at < spec.steps[block].end
}

/// Whether two steps stand in two branches of one parallel, or two arms of one match.
const fn apart(spec: &Spec<'_>, a: usize, b: usize) -> bool {
    let mut i = 0;
    while i < a && i < b {
        let branch = matches!(spec.steps[i].kind, StepKind::Branch | StepKind::Arm { .. });
        if branch && holds(spec, i, a) != holds(spec, i, b) && i > 0 {
            let parent = parent(spec, i);
            if holds(spec, parent, a) && holds(spec, parent, b) {
                return true;
            }
        }
        i += 1;
    }
    false
}

/// The `each` to whose elements a key belongs at a place.
const fn element(spec: &Spec<'_>, at: usize, key: &str) -> Option<usize> {
    let mut block = at;
    while block > 0 && !has_prefix(key) {
        block -= 1;
        if let StepKind::Each { item, .. } = spec.steps[block].kind
            && holds(spec, block, at)
        {
            let mut i = block;
            while i < spec.steps[block].end {
                if same(item, key) || writes_itself(spec, i, key) {
                    return Some(block);
                }
                i += 1;
            }
        }
    }
    None
}

/// The block in which a step stands; itself when there is none.
const fn parent(spec: &Spec<'_>, at: usize) -> usize {
    let mut i = at;
    while i > 0 {
        i -= 1;
        if holds(spec, i, at) {
            return i;
        }
    }
    at
}

/// The innermost match, or the innermost loop, that holds one step and not the other.
const fn around(spec: &Spec<'_>, at: usize, not: usize, is_loop: bool) -> Option<usize> {
    let mut i = at;
    while i > 0 {
        i -= 1;
        let wanted = match spec.steps[i].kind {
            StepKind::Match { .. } => !is_loop,
            StepKind::Loop { .. } => is_loop,
            _ => false,
        };
        if wanted && holds(spec, i, at) && !holds(spec, i, not) {
            return Some(i);
        }
    }
    None
}

/// The innermost loop around both of two steps.
const fn common_loop(spec: &Spec<'_>, a: usize, b: usize) -> Option<usize> {
    let mut i = if a < b { a } else { b };
    while i > 0 {
        i -= 1;
        if matches!(spec.steps[i].kind, StepKind::Loop { .. }) && holds(spec, i, a) && holds(spec, i, b) {
            return Some(i);
        }
    }
    None
}

/// Adds a key as it stands in a list.
const fn listed(m: &mut Message, count: &mut usize, word: &str) {
    if *count == 12 {
        m.push(", ...");
    } else if *count < 12 {
        m.all(&[if *count == 0 { "`" } else { ", `" }, word, "`"]);
    }
    *count += 1;
}
