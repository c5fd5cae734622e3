//! `untrusted-action` and `lethal-trifecta`: text of strangers that may steer an action, and
//! private data that may leave.
//!
//! Each key has two marks, and so have the conversation and its last words. A mark is the number of
//! its cause, so that a message tells the whole way from the source to the sink.

mod agents;
mod arms;
mod around;
mod describe;
mod findings;
mod kept;
mod marks;
mod nested;
mod notes;
mod sinks;
mod state;
#[cfg(test)]
mod tests;
mod walk;

use super::Check;
use crate::effects::{Effects, contains};
use crate::message::Message;
use crate::spec::{AgentKind, AgentMeta, Labels, Spec, StepKind, has_prefix};
use crate::text::same;
use findings::Finding;
use kept::KeptKey;
use marks::{Cause, Marks};
pub(crate) use notes::{Note, NoteKind};
use state::{Head, MarkedKey};
pub(crate) use walk::request_input;
use walk::{LabelWalk, Limit, MarkedBlock, Room, walk};

/// The largest number of findings that const evaluation reports at once.
const MOST: usize = 4;

/// The steps with findings. The findings themselves are not kept, because rustc traverses each
/// constant once more.
#[derive(Clone, Copy, Debug)]
pub(super) struct Places {
    at: [usize; MOST],
    found: usize,
}

impl Places {
    pub(super) const fn is_clean(&self) -> bool {
        self.found == 0
    }

    const fn has(&self, at: usize) -> bool {
        any!(place in self.at.split_at(self.found).0 => *place == at)
    }

    const fn add(&mut self, at: usize) {
        if self.found < MOST && !self.has(at) {
            self.at[self.found] = at;
            self.found += 1;
        }
    }
}

/// The sizes of the slices of a walk. Const evaluation cannot allocate, so a workflow is walked
/// with the smallest sizes that suffice.
#[derive(Clone, Copy)]
struct RoomSizes {
    cells: usize,
    heads: usize,
    keys: usize,
    key_slots: usize,
    blocks: usize,
    causes: usize,
    /// For audits, which only the run time makes.
    notes: usize,
}

const SMALL: RoomSizes = RoomSizes {
    cells: 1 << 12,
    heads: 64,
    keys: 1 << 9,
    key_slots: 1 << 11,
    blocks: 32,
    causes: 1 << 9,
    notes: 1 << 10,
};
const MIDDLE: RoomSizes = RoomSizes {
    cells: 1 << 15,
    heads: 256,
    keys: 1 << 11,
    key_slots: 1 << 13,
    blocks: 64,
    causes: 1 << 11,
    notes: 1 << 13,
};
const LARGE: RoomSizes = RoomSizes {
    cells: 1 << 20,
    heads: 1 << 11,
    keys: 1 << 14,
    key_slots: 1 << 16,
    blocks: 1 << 9,
    causes: 1 << 14,
    notes: 1 << 16,
};

/// Walks with a size. Adds the steps with findings to the places, and the findings at one step to
/// the message.
macro_rules! search {
    ($spec:ident, $size:ident, $places:ident, $message:ident) => {{
        let mut findings = [Finding::NONE; 4 * MOST];
        let room = Room {
            cells: &mut [Marks::NONE; $size.cells],
            heads: &mut [Head::NEW; $size.heads],
            keys: &mut [MarkedKey::NONE; $size.keys],
            kept: &mut [KeptKey::NONE; $size.keys],
            key_slots: &mut [0; $size.key_slots],
            blocks: &mut [MarkedBlock::NONE; $size.blocks],
            causes: &mut [Cause::NONE; $size.causes],
            cause_slots: &mut [0; 2 * $size.causes],
            findings: &mut findings,
            notes: &mut [],
        };
        let walked = walk($spec, room);
        let mut i = 0;
        while i < walked.found && !matches!(walked.limit(), Limit::Room) {
            $places.add(walked.findings[i].at);
            if let Some((m, at)) = &mut $message
                && walked.findings[i].at == *at
            {
                m.line();
                describe::finding(m, &walked.findings[i], &walked.causes);
            }
            i += 1;
        }
        (walked.limit(), walked.now.root)
    }};
}

/// Returns the steps with findings. A `message` gets the findings at one step.
const fn search(spec: &Spec<'_>, mut message: Option<(&mut Message, usize)>) -> Places {
    let mut places = Places {
        at: [usize::MAX; MOST],
        found: 0,
    };
    let (mut limit, mut root) = search!(spec, SMALL, places, message);
    if let Limit::Room = limit {
        (limit, root) = search!(spec, MIDDLE, places, message);
    }
    if let Limit::Room = limit {
        (limit, root) = search!(spec, LARGE, places, message);
    }
    if !matches!(limit, Limit::None) {
        places.add(root);
        if let Some((m, at)) = message
            && at == root
        {
            m.line();
            describe::limit(m, &spec.steps[root], limit);
        }
    }
    places
}

/// Returns the steps with findings, in const evaluation.
pub(super) const fn find(spec: &Spec<'_>) -> Places {
    if matters(spec) && !spec.has_stub() {
        search(spec, None)
    } else {
        Places {
            at: [usize::MAX; MOST],
            found: 0,
        }
    }
}

/// Adds the findings at a step to a message.
pub(super) const fn describe_into(m: &mut Message, spec: &Spec<'_>, places: &Places, at: usize) {
    if places.has(at) {
        search(spec, Some((m, at)));
    }
}

/// Returns the step and the message of each finding, at run time.
pub(super) fn diagnostics(spec: &Spec<'_>) -> Vec<(usize, Message)> {
    if !matters(spec) || spec.has_stub() {
        return Vec::new();
    }
    walk_at_run(spec, false, |walked| messages(spec, walked))
}

/// The result of a walk, for an audit.
pub(crate) struct Audited<'a> {
    pub(crate) notes: Vec<Note<'a>>,
    pub(crate) findings: Vec<Message>,
}

/// Walks a workflow for an audit. The findings are those of [`diagnostics`].
pub(crate) fn audit<'a>(spec: &Spec<'a>) -> Audited<'a> {
    let matters = matters(spec);
    walk_at_run(spec, true, |walked| {
        let found = messages(spec, walked).into_iter();
        Audited {
            notes: walked.notes.iter().copied().collect(),
            // A workflow that the walk cannot follow is only refused if it has labels.
            findings: found
                .filter(|_| matters)
                .map(|(_, message)| message)
                .collect(),
        }
    })
}

/// Returns the step and the message of each finding of a walk.
fn messages(spec: &Spec<'_>, walked: &LabelWalk<'_, '_>) -> Vec<(usize, Message)> {
    let findings = walked.findings.iter().take(walked.found);
    let mut found: Vec<_> = findings
        .map(|finding| {
            let mut message = Message::new();
            describe::finding(&mut message, finding, &walked.causes);
            (finding.at, message)
        })
        .collect();
    let limit = walked.limit();
    if limit != Limit::None
        && let Some(step) = spec.steps.get(walked.now.root)
    {
        let mut message = Message::new();
        describe::limit(&mut message, step, limit);
        found.push((walked.now.root, message));
    }
    found.sort_by_key(|(at, _)| *at);
    found
}

/// Walks with the smallest sizes that suffice, and reads the result.
fn walk_at_run<'a, T>(
    spec: &Spec<'a>,
    keeps_notes: bool,
    read: impl Fn(&LabelWalk<'_, 'a>) -> T,
) -> T {
    let mut larger = [MIDDLE, LARGE].into_iter();
    let mut size = SMALL;
    loop {
        let notes = if keeps_notes { size.notes } else { 0 };
        let room = Room {
            cells: &mut vec![Marks::NONE; size.cells],
            heads: &mut vec![Head::NEW; size.heads],
            keys: &mut vec![MarkedKey::NONE; size.keys],
            kept: &mut vec![KeptKey::NONE; size.keys],
            key_slots: &mut vec![0; size.key_slots],
            blocks: &mut vec![MarkedBlock::NONE; size.blocks],
            causes: &mut vec![Cause::NONE; size.causes],
            cause_slots: &mut vec![0; 2 * size.causes],
            findings: &mut vec![Finding::NONE; 256],
            notes: &mut vec![Note::NONE; notes],
        };
        let walked = walk(spec, room);
        size = match larger.next() {
            Some(next) if walked.limit() == Limit::Room => next,
            _ => return read(&walked),
        };
    }
}

/// Returns whether a workflow has both a source of text of strangers and a sink. Most workflows
/// have no labels, and need no walk.
const fn matters(spec: &Spec<'_>) -> bool {
    let mut labels = Labels::NONE;
    let mut is_strict = false;
    if let Some(guards) = spec.guards {
        is_strict = guards.strict;
        if !matches!(guards.untrusted, []) {
            labels = labels.and(Labels::UNTRUSTED);
        }
    }
    each!(step in spec.steps => {
        if let StepKind::Agent { meta, .. } = step.kind {
            labels.0 |= own_labels(meta, is_strict).0;
            if has_agents(meta) {
                let mut all = Effects::of(meta, &step.renames);
                while let Some(agent) = all.next_agent() {
                    labels = labels.and(own_labels(agent, is_strict));
                }
            }
        }
    });
    labels.has(Labels::UNTRUSTED.and(Labels::MEMORY)) && labels.has(Labels::ACTS.and(Labels::SENDS))
}

/// Returns whether agents belong to an agent.
const fn has_agents(meta: &AgentMeta<'_>) -> bool {
    !matches!(meta.transfer, [])
        || matches!(meta.kind, AgentKind::Workflow)
        || any!(tool in meta.tools => tool.agent.is_some())
}

/// Returns the labels of an agent and its tools.
const fn own_labels(meta: &AgentMeta<'_>, is_strict: bool) -> Labels {
    let mut labels = meta.labels;
    if let Some(guards) = meta.guards
        && !matches!(guards.untrusted, [])
    {
        labels = labels.and(Labels::UNTRUSTED);
    }
    // A loop without calls, since each workflow pays for it.
    let (mut tools, mut bits) = (meta.tools, 0);
    while let [tool, more @ ..] = tools {
        (tools, bits) = (more, bits | tool.labels.0);
    }
    labels.0 |= bits;
    // Something without a label may be a source and a sink.
    if is_strict && !is_known(meta) {
        labels = labels.and(Labels::ALL);
    }
    labels
}

/// Returns whether the labels of an agent and its tools say all that they may do.
const fn is_known(meta: &AgentMeta<'_>) -> bool {
    matches!(meta.kind, AgentKind::Workflow | AgentKind::Await)
        || matches!(
            (meta.kind, meta.tools, meta.more_tools),
            (AgentKind::Llm, [], false)
        )
}

/// Returns whether the default of an `await`, as the user spelled it, chooses an arm that the
/// checks count as one that only a person can choose. Tokens do not distinguish a variant from a
/// constant.
pub fn chooses_cleaned_arm(spec: &Spec<'_>, choice: usize, arm: usize, default: &str) -> bool {
    let Some(block) = spec.steps.get(choice) else {
        return false;
    };
    let (mut at, mut number) = (choice + 1, 0);
    while at < block.end {
        let step = &spec.steps[at];
        if let StepKind::Arm { pattern } = step.kind {
            if number == arm {
                return arms::excludes(pattern, default) && matters(spec);
            }
            number += 1;
        }
        at = step.end + 1;
    }
    false
}

/// Returns whether the last words of an agent, or its result as a tool, are a value without text.
pub const fn answers_closed(meta: &AgentMeta<'_>) -> bool {
    let may_end_otherwise = meta.may_exit
        || !matches!(meta.exits, [])
        || !matches!(meta.transfer, [])
        || any!(tool in meta.tools => tool.may_skip || tool.long_running);
    !may_end_otherwise
        && always_writes(meta)
        && !any!(key in meta.writes => key.optional || !key.is_closed())
}

/// Returns whether each execution of an agent that ends without an exit writes one of its keys. A
/// workflow may only pass on a key that has its value already.
const fn always_writes(meta: &AgentMeta<'_>) -> bool {
    let is_workflow = matches!(meta.kind, AgentKind::Workflow);
    any!(key in meta.writes => {
        let has_value = is_workflow
            && (has_prefix(key.name)
                || contains(meta.reads, key.name)
                || contains(meta.states, key.name));
        !key.optional && !has_value
    })
}

/// Ends const evaluation when no part of a workflow reads or writes a session key that
/// `#[guards(...)]` names. A `faulty` workflow, which has other diagnostics, may lack the step.
#[track_caller]
pub const fn raise_guard(spec: &Spec<'_>, key: &str, faulty: bool) {
    if !faulty && let Some(fault) = guard_fault(spec, key) {
        fault.raise();
    }
}

/// Returns the fault of a guarded key that no part of a workflow reads or writes.
pub(super) const fn guard_fault(spec: &Spec<'_>, key: &str) -> Option<Message> {
    let mut i = 0;
    while let Some(declared) = spec.declared_key(i) {
        if same(declared.name, key) {
            return None;
        }
        i += 1;
    }
    each!(step in spec.steps => {
        if let StepKind::Agent { meta, .. } = step.kind {
            let mut all = Effects::of(meta, &step.renames);
            while let Some(effect) = all.next() {
                if same(effect.key, key) {
                    return None;
                }
            }
        }
    });
    let fact = [
        "`guards` names `",
        key,
        "`, which no step reads or writes; help: remove it, or name the key as the steps do",
    ];
    Some(Message::of(Check::KeyMissing, &fact))
}
