//! The messages of the flow's diagnostics: the fact, the names, and the remedy.
//!
//! The writers of a key are searched here, when a message needs them. The walk does not search
//! them, so that a workflow without errors does not pay for the search.

mod causes;
mod exits;
mod known_keys;
mod missing;
mod races;
mod states;
mod types;

pub(super) use races::sibling_writes;
pub(super) use states::is_kept;
pub(super) use types::patterns;

use super::{DiagnosticKind, FlowDiagnostic};
use crate::effects::{Act, Effects, find_tool};
use crate::message::Message;
use crate::spec::{AgentKind, Attempts, Spec, StepKind, ToolMeta, has_prefix};
use crate::text::same;

pub(super) const fn diagnostic(m: &mut Message, spec: &Spec<'_>, diagnostic: &FlowDiagnostic<'_>) {
    match diagnostic.kind {
        DiagnosticKind::Unwritten(reader) => {
            missing::describe_unwritten(m, spec, diagnostic, reader)
        }
        DiagnosticKind::NoOutput => missing::output(m, spec, diagnostic),
        DiagnosticKind::Race {
            parallel,
            writes,
            reader,
        } => races::race(m, spec, diagnostic, parallel, writes, reader),
        DiagnosticKind::EachRace => races::each(m, spec, diagnostic),
        DiagnosticKind::OwnState => states::own_state(m, spec, diagnostic),
        DiagnosticKind::SameInside(own) => races::same_inside(m, spec, diagnostic, own),
        DiagnosticKind::Mixed => types::describe_mixed(m, spec, diagnostic),
        DiagnosticKind::ReadAs { ty, writer } => {
            types::describe_read(m, spec, diagnostic, ty, &writer)
        }
        DiagnosticKind::WrittenAs { ty, writer } => {
            types::describe_written(m, spec, diagnostic, ty, &writer)
        }
        DiagnosticKind::UnknownType {
            ty,
            reads,
            full,
            writer,
        } => types::describe_unknown(m, spec, diagnostic, (ty, reads), full, &writer),
        DiagnosticKind::PartOfKey => missing::part_of_key(m, spec, diagnostic),
        DiagnosticKind::NoSuchRead => exits::no_such_read(m, spec, diagnostic),
        DiagnosticKind::OtherWrites => exits::other_writes(m, spec, diagnostic),
        DiagnosticKind::SameWrites => exits::same_writes(m, spec, diagnostic),
        DiagnosticKind::Endless => exits::describe_endless(m, spec, diagnostic),
        DiagnosticKind::ExitOutside => exits::describe_outside(m, spec, diagnostic),
        DiagnosticKind::TooDeep => exits::describe_too_deep(m, spec, diagnostic),
    }
}

/// Adds a step as a message names it: agent `critic`, workflow `drafting`, loop `refinement`,
/// `match severity`.
const fn push_step(m: &mut Message, spec: &Spec<'_>, at: usize) {
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

/// Adds a step and what the message says of it, such as ` writes it on some paths only`.
const fn push_clause(m: &mut Message, spec: &Spec<'_>, at: usize, what: &[&str]) {
    push_step(m, spec, at);
    m.all(what);
}

/// Returns whether the agent of a step, or anything that belongs to the agent, may write a key.
const fn writes(spec: &Spec<'_>, at: usize, key: &str) -> bool {
    let StepKind::Agent { meta, .. } = spec.steps[at].kind else {
        return false;
    };
    let mut all = Effects::writes(meta, &spec.steps[at].renames);
    while let Some(effect) = all.next() {
        if effect.act.is_write() && same(effect.key, key) {
            return true;
        }
    }
    false
}

/// Returns how the agent of a step writes a key. A certain write takes precedence over a possible
/// write.
const fn write_of<'a>(spec: &Spec<'a>, at: usize, key: &str) -> Option<Act<'a>> {
    let StepKind::Agent { meta, .. } = spec.steps[at].kind else {
        return None;
    };
    let (mut all, mut found) = (
        Effects::writes(meta, &spec.steps[at].renames).outside(),
        None,
    );
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

/// Returns whether the agent of a step always writes a key before it ends.
const fn writes_surely(spec: &Spec<'_>, at: usize, key: &str) -> bool {
    matches!(write_of(spec, at, key), Some(Act::Write { sure: true, .. }))
}

const fn written_type<'a>(spec: &Spec<'a>, at: usize, key: &str) -> &'a str {
    match write_of(spec, at, key) {
        Some(Act::Write { spec, .. } | Act::May(spec)) => spec.ty,
        _ => "TYPE",
    }
}

const fn kind(spec: &Spec<'_>, at: usize) -> Option<AgentKind> {
    match spec.steps[at].kind {
        StepKind::Agent { meta, .. } => Some(meta.kind),
        _ => None,
    }
}

/// Names an agent or a tool below the agent of a step.
const fn push_below(m: &mut Message, spec: &Spec<'_>, at: usize, name: &str) {
    let (word, preposition) = match spec.steps[at].kind {
        StepKind::Agent { meta, .. }
            if matches!(find_tool(meta, name), Some(ToolMeta { agent: None, .. })) =>
        {
            ("tool `", "` of ")
        }
        _ => ("agent `", "` below "),
    };
    m.all(&[word, name, preposition]);
    push_step(m, spec, at);
}

/// Returns the agent or tool below the agent of a step that writes a key as a type; `None` if the
/// agent itself writes it.
const fn writer_below<'a>(spec: &Spec<'a>, at: usize, key: &str, ty: &str) -> Option<&'a str> {
    let StepKind::Agent { meta, .. } = spec.steps[at].kind else {
        return None;
    };
    let (mut all, mut found) = (Effects::writes(meta, &spec.steps[at].renames), None);
    while let Some(effect) = all.next() {
        match effect.act {
            Act::Write { spec, .. } if same(effect.key, key) && same(spec.ty, ty) => return None,
            Act::May(spec) if found.is_none() && same(effect.key, key) && same(spec.ty, ty) => {
                found = all.actor_name();
            }
            _ => {}
        }
    }
    found
}

/// Returns the agent or tool below the agent of a step that reads a key as a type; `None` if the
/// agent itself reads it.
const fn reader_below<'a>(spec: &Spec<'a>, at: usize, key: &str, ty: &str) -> Option<&'a str> {
    let StepKind::Agent { meta, .. } = spec.steps[at].kind else {
        return None;
    };
    let (mut all, mut found) = (Effects::of(meta, &spec.steps[at].renames), None);
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

/// Returns whether a step, or anything inside it, reads a key.
pub(super) const fn reads(spec: &Spec<'_>, at: usize, key: &str) -> bool {
    match spec.steps[at].kind {
        StepKind::Agent { meta, .. } => {
            let mut all = Effects::of(meta, &spec.steps[at].renames);
            while let Some(effect) = all.next() {
                if !effect.act.is_write() && same(effect.key, key) {
                    return true;
                }
            }
            false
        }
        StepKind::Loop {
            until: Some(until), ..
        } => same(until, key),
        StepKind::Match { key: read } => same(read, key),
        StepKind::Each { list, .. } => same(list, key),
        _ => false,
    }
}

const fn holds(spec: &Spec<'_>, block: usize, at: usize) -> bool {
    block < at && at < spec.steps[block].end
}

/// Returns whether two steps are in different branches of one parallel, or in different arms of one
/// match.
const fn are_in_siblings(spec: &Spec<'_>, a: usize, b: usize) -> bool {
    let found = find!(i in 1, if a < b { a } else { b } => {
        let branch = matches!(spec.steps[i].kind, StepKind::Branch | StepKind::Arm { .. });
        let parent = parent(spec, i);
        branch
            && holds(spec, i, a) != holds(spec, i, b)
            && holds(spec, parent, a)
            && holds(spec, parent, b)
    });
    found.is_some()
}

/// Returns the innermost `each` around a step whose elements have a key of this name of their own.
const fn element(spec: &Spec<'_>, at: usize, key: &str) -> Option<usize> {
    if has_prefix(key) {
        return None;
    }
    rfind!(block below at => match spec.steps[block].kind {
        StepKind::Each { item, .. } if holds(spec, block, at) => {
            let end = spec.steps[block].end;
            same(item, key) || find!(i in block, end => write_of(spec, i, key).is_some()).is_some()
        }
        _ => false,
    })
}

/// Returns the block around a step, or the step itself at the top level.
const fn parent(spec: &Spec<'_>, at: usize) -> usize {
    match rfind!(i below at => holds(spec, i, at)) {
        Some(block) => block,
        None => at,
    }
}

/// A kind of block that may be the reason why a key is not written.
#[derive(Clone, Copy)]
enum EnclosingKind {
    /// A match, or a parallel whose first branch wins.
    Match,
    Try,
    Loop,
    /// A block that a callback may skip, or a parallel that skips failed branches.
    Skippable,
}

/// Returns the innermost block of a kind that holds the step `at` and not the step `not`. The
/// attempts and the `else` of a `try` count as two blocks.
const fn innermost(spec: &Spec<'_>, at: usize, not: usize, block: EnclosingKind) -> Option<usize> {
    rfind!(i below at => {
        let step = &spec.steps[i];
        let wanted = match block {
            EnclosingKind::Match => {
                matches!(step.kind, StepKind::Match { .. } | StepKind::Parallel { first: true, .. })
            }
            EnclosingKind::Try => matches!(step.kind, StepKind::Try(_)),
            EnclosingKind::Loop => matches!(step.kind, StepKind::Loop { .. }),
            EnclosingKind::Skippable => step.skippable || step.skips_branches(),
        };
        wanted
            && holds(spec, i, at)
            && (!holds(spec, i, not) || in_else(spec, i, at) != in_else(spec, i, not))
    })
}

/// Returns the innermost block that holds two steps and may repeat: a loop, or the attempts of a
/// `try`.
const fn common_loop(spec: &Spec<'_>, a: usize, b: usize) -> Option<usize> {
    rfind!(i below if a < b { a } else { b } => {
        let again = match spec.steps[i].kind {
            StepKind::Loop { .. } => true,
            StepKind::Try(Attempts { most: 2.., .. }) => {
                !in_else(spec, i, a) && !in_else(spec, i, b)
            }
            _ => false,
        };
        again && holds(spec, i, a) && holds(spec, i, b)
    })
}

const fn in_else(spec: &Spec<'_>, block: usize, at: usize) -> bool {
    let found = find!(i in block, at => {
        matches!(spec.steps[i].kind, StepKind::Else)
            && holds(spec, i, at)
            && parent(spec, i) == block
    });
    found.is_some()
}

/// The largest number of names in one message.
const LISTED: usize = 12;

/// The names in one message, without repetitions.
struct NameList<'a> {
    names: [&'a str; LISTED],
    count: usize,
}

impl<'a> NameList<'a> {
    const EMPTY: Self = Self {
        names: [""; LISTED],
        count: 0,
    };

    /// Adds a name. The first name follows `intro`.
    const fn add(&mut self, m: &mut Message, intro: &str, name: &'a str) {
        if any!(known in &self.names => same(known, name)) {
            return;
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
