//! What the faults of the flow say: the fact, the names, what to write instead.
//!
//! Who else writes a key, and where, is looked for here and not in the walk: a workflow without faults pays nothing.

mod causes;
mod exits;
mod known;
mod missing;
mod races;
mod types;

pub(super) use races::sibling_writes;

use super::effects::{Act, Effects, has_prefix, tool};
use super::session;
use super::{Fault, Flaw};
use crate::message::Message;
use crate::spec::{AgentKind, Attempts, Spec, StepKind, ToolMeta};
use crate::text::same;

/// One fault as text.
pub(super) const fn fault(m: &mut Message, spec: &Spec<'_>, fault: &Fault<'_>) {
    match fault.flaw {
        Flaw::Unwritten(reader) => missing::unwritten(m, spec, fault, reader),
        Flaw::NoOutput => missing::output(m, spec, fault),
        Flaw::Race { parallel, writes, reader } => races::race(m, spec, fault, parallel, writes, reader),
        Flaw::EachRace => races::each(m, spec, fault),
        Flaw::SameInside(own) => races::same_inside(m, spec, fault, own),
        Flaw::Mixed => types::mixed(m, spec, fault),
        Flaw::ReadAs { ty, writer } => types::read(m, spec, fault, ty, &writer),
        Flaw::WrittenAs { ty, writer } => types::written(m, spec, fault, ty, &writer),
        Flaw::Untold { ty, reads, full, writer } => types::untold(m, spec, fault, (ty, reads), full, &writer),
        Flaw::NoSuchRead => exits::no_such_read(m, spec, fault),
        Flaw::OtherWrites => exits::other_writes(m, spec, fault),
        Flaw::SameWrites => exits::same_writes(m, spec, fault),
        Flaw::Endless => exits::endless(m, spec, fault),
        Flaw::ExitOutside => exits::outside(m, spec, fault),
    }
}

/// A step as a message calls it: agent `critic`, workflow `drafting`, loop `refinement`, `match severity`.
const fn who(m: &mut Message, spec: &Spec<'_>, at: usize) {
    let step = &spec.steps[at];
    m.push(match step.kind {
        StepKind::Agent { meta, .. } => match meta.kind {
            AgentKind::Function => "function `",
            AgentKind::Workflow => "workflow `",
            AgentKind::Await => "await `",
            _ => "agent `",
        },
        StepKind::Loop { .. } => "loop `",
        StepKind::Parallel { .. } => "parallel `",
        StepKind::Try(_) => "try `",
        StepKind::Else => return m.push("`else`"),
        StepKind::Match { key } => return m.all(&["`match ", key, "`"]),
        StepKind::Each { item, list, .. } => return m.all(&["`each ", item, " in ", list, "`"]),
        _ => "`",
    });
    m.all(&[step.name, "`"]);
}

/// Whether the agent of a step writes a key, perhaps, or something inside of it does.
const fn writes(spec: &Spec<'_>, at: usize, key: &str) -> bool {
    let StepKind::Agent { meta, .. } = spec.steps[at].kind else { return false };
    write_of(spec, at, key).is_some() || session::touches(meta, spec.steps[at].renames, None, key, true)
}

/// How the agent of a step writes a key: certainly, if one of its writes is certain.
const fn write_of<'a>(spec: &Spec<'a>, at: usize, key: &str) -> Option<Act<'a>> {
    let StepKind::Agent { meta, .. } = spec.steps[at].kind else { return None };
    let (mut all, mut found) = (Effects::writes(meta, spec.steps[at].renames), None);
    while let Some(effect) = all.next() {
        if same(effect.key, key) {
            if matches!(effect.act, Act::Write { sure: true, .. }) {
                return Some(effect.act);
            }
            if found.is_none() {
                found = Some(effect.act);
            }
        }
    }
    found
}

/// Whether it has written it whenever it ends.
const fn writes_surely(spec: &Spec<'_>, at: usize, key: &str) -> bool {
    matches!(write_of(spec, at, key), Some(Act::Write { sure: true, .. }))
}

/// The type as which a step writes a key.
const fn written_as<'a>(spec: &Spec<'a>, at: usize, key: &str) -> &'a str {
    match write_of(spec, at, key) {
        Some(Act::Write { spec, .. } | Act::May(spec)) => spec.ty,
        _ => "TYPE",
    }
}

/// The kind of the agent of a step.
const fn kind(spec: &Spec<'_>, at: usize) -> Option<AgentKind> {
    match spec.steps[at].kind {
        StepKind::Agent { meta, .. } => Some(meta.kind),
        _ => None,
    }
}

/// Names an agent or a tool below the agent of a step.
const fn below(m: &mut Message, spec: &Spec<'_>, at: usize, name: &str) {
    let (word, of) = match spec.steps[at].kind {
        StepKind::Agent { meta, .. } if matches!(tool(meta, name), Some(ToolMeta { agent: None, .. })) => {
            ("tool `", "` of ")
        }
        _ => ("agent `", "` below "),
    };
    m.all(&[word, name, of]);
    who(m, spec, at);
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
pub(super) const fn reads(spec: &Spec<'_>, at: usize, key: &str) -> bool {
    match spec.steps[at].kind {
        StepKind::Agent { meta, .. } => {
            let mut all = Effects::of(meta, spec.steps[at].renames);
            while let Some(effect) = all.next() {
                if is_read(&effect.act) && same(effect.key, key) {
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

const fn is_read(act: &Act<'_>) -> bool {
    matches!(act, Act::Prompt { .. } | Act::Read { .. })
}

/// Whether a block holds a step.
const fn holds(spec: &Spec<'_>, block: usize, at: usize) -> bool {
    block < at && at < spec.steps[block].end
}

/// Whether two steps are in two branches of one parallel, or two arms of one match.
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
                if same(item, key) || write_of(spec, i, key).is_some() {
                    return Some(block);
                }
                i += 1;
            }
        }
    }
    None
}

/// The block around a step; the step itself when there is none.
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

/// A kind of block that may be the reason why a key is not written.
#[derive(Clone, Copy)]
enum Around {
    /// A match, or a parallel whose first branch wins.
    Match,
    Try,
    Loop,
    /// A callback may skip it.
    Skippable,
}

/// The innermost block of a kind that holds one step and not the other; of a try one half does.
const fn around(spec: &Spec<'_>, at: usize, not: usize, block: Around) -> Option<usize> {
    let mut i = at;
    while i > 0 {
        i -= 1;
        let wanted = match block {
            Around::Match => {
                matches!(spec.steps[i].kind, StepKind::Match { .. } | StepKind::Parallel { first: true, .. })
            }
            Around::Try => matches!(spec.steps[i].kind, StepKind::Try(_)),
            Around::Loop => matches!(spec.steps[i].kind, StepKind::Loop { .. }),
            Around::Skippable => spec.steps[i].skippable || spec.steps[i].skips_branches(),
        };
        if wanted
            && holds(spec, i, at)
            && (!holds(spec, i, not) || in_else(spec, i, at) != in_else(spec, i, not))
        {
            return Some(i);
        }
    }
    None
}

/// The innermost block around both of two steps that may run again: a loop, or the attempts of a try.
const fn common_loop(spec: &Spec<'_>, a: usize, b: usize) -> Option<usize> {
    let mut i = if a < b { a } else { b };
    while i > 0 {
        i -= 1;
        let again = match spec.steps[i].kind {
            StepKind::Loop { .. } => true,
            StepKind::Try(Attempts { most: 2.., .. }) => !in_else(spec, i, a) && !in_else(spec, i, b),
            _ => false,
        };
        if again && holds(spec, i, a) && holds(spec, i, b) {
            return Some(i);
        }
    }
    None
}

/// Whether a step is in the `else` of a try.
const fn in_else(spec: &Spec<'_>, block: usize, at: usize) -> bool {
    let mut i = block;
    while i < at {
        if matches!(spec.steps[i].kind, StepKind::Else) && holds(spec, i, at) && parent(spec, i) == block {
            return true;
        }
        i += 1;
    }
    false
}

/// The most names that a message lists.
const LISTED: usize = 12;

/// Names that a message lists, each once.
struct List<'a> {
    names: [&'a str; LISTED],
    count: usize,
}

impl<'a> List<'a> {
    const EMPTY: Self = Self { names: [""; LISTED], count: 0 };

    /// Adds a name; `intro` comes before the first one.
    const fn add(&mut self, m: &mut Message, intro: &str, name: &'a str) {
        let mut i = 0;
        while i < self.count && i < LISTED {
            if same(self.names[i], name) {
                return;
            }
            i += 1;
        }
        if self.count < LISTED {
            self.names[self.count] = name;
            m.all(&[if self.count == 0 { intro } else { ", " }, "`", name, "`"]);
        } else if self.count == LISTED {
            m.push(", ...");
        }
        self.count += 1;
    }
}
