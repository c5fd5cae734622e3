//! What goes on inside of a nested workflow with keys of the session: they are the same keys around it.
//!
//! Its own keys are not seen from outside, and its inputs and outputs are effects of the step. What it writes to the
//! session counts as written perhaps: it is not what the workflow promises.

use super::effects::{Act, Effect, Effects, contains, has_prefix};
use super::keys::{NONE, Named, Writer};
use super::walk::Walk;
use super::{Flaw, Part, Reader};
use crate::hash::hash;
use crate::spec::{AgentKind, AgentMeta, KeySpec, Module, Renames, StepKind};
use crate::text::same;

/// Whether a key that is touched inside of a nested workflow is one of the session.
pub(super) const fn is_session(workflow: &AgentMeta<'_>, key: &str) -> bool {
    contains(workflow.states, key) || (has_prefix(key) && !contains(workflow.writes, key))
}

/// How many keys a workflow may set when it starts.
const fn starts(workflow: &AgentMeta<'_>) -> usize {
    match workflow.kind {
        AgentKind::Workflow => workflow.lets.len() + workflow.reads.len(),
        _ => 0,
    }
}

/// One of them, if it is one of the session: a `let`, or an input that has a default or is another key around. For a
/// workflow around that is nested itself, an output may be another key.
const fn start<'a>(
    workflow: &'a AgentMeta<'a>,
    renames: Renames<'_>,
    around: Option<&AgentMeta<'_>>,
    i: usize,
) -> Option<&'a str> {
    let (key, sets) = if i < workflow.lets.len() {
        (workflow.lets[i].name, true)
    } else {
        let input = workflow.reads[i - workflow.lets.len()];
        let is_output = match around {
            Some(around) => contains(around.writes, input.name),
            None => false,
        };
        (input.name, input.optional || is_output || is_renamed(input.name, renames))
    };
    if sets && is_session(workflow, key) { Some(key) } else { None }
}

const fn is_renamed(key: &str, renames: Renames<'_>) -> bool {
    any!(renamed in renames.reads => same(renamed.0, key) && !same(renamed.1, key))
}

/// How many writes to the session there are inside.
pub(super) const fn count(workflow: &AgentMeta<'_>) -> usize {
    let mut keys = starts(workflow);
    each!(step in workflow.steps => {
        if let StepKind::Agent { meta, .. } = step.kind {
            let mut all = Effects::writes(meta, step.renames);
            while let Some(effect) = all.next() {
                if is_session(workflow, effect.key) {
                    keys += 1;
                }
            }
            keys += count(meta);
        }
    });
    keys
}

/// Whether something inside of a workflow writes, or reads, a key of the session.
pub(super) const fn touches(
    workflow: &AgentMeta<'_>,
    renames: Renames<'_>,
    around: Option<&AgentMeta<'_>>,
    key: &str,
    writes: bool,
) -> bool {
    let mut i = 0;
    while writes && i < starts(workflow) {
        if let Some(set) = start(workflow, renames, around, i)
            && same(set, key)
        {
            return true;
        }
        i += 1;
    }
    if !writes && contains(workflow.states, key) {
        return true;
    }
    each!(step in workflow.steps => {
        if let StepKind::Agent { meta, .. } = step.kind {
            let mut all = Effects::of(meta, step.renames);
            while let Some(effect) = all.next() {
                let is_write = matches!(effect.act, Act::Write { .. } | Act::May(_));
                if is_write == writes && same(effect.key, key) && is_session(workflow, key) {
                    return true;
                }
            }
            if touches(meta, step.renames, Some(workflow), key, writes) {
                return true;
            }
        }
    });
    false
}

/// Whether anything in a workflow runs at the same time.
const fn runs_together(workflow: &AgentMeta<'_>) -> bool {
    any!(step in workflow.steps => match step.kind {
        StepKind::Parallel { .. } | StepKind::Each { .. } => true,
        StepKind::Agent { meta, .. } => runs_together(meta),
        _ => false,
    })
}

/// What a prompt reads.
const ANY: KeySpec<'static> = KeySpec::new("", "").any(true);

/// The module of what the effects are of: an agent, or something below it.
const fn module<'a>(all: &Effects<'a>, meta: &AgentMeta<'a>) -> Module<'a> {
    match all.module() {
        Some(module) => module,
        None => meta.module(),
    }
}

impl<'a> Walk<'_, 'a> {
    /// Reads and writes of the session, as the step at that place; `registers` says that what is written is only added to
    /// the table of keys.
    pub(super) const fn session(
        &mut self,
        at: usize,
        workflow: &'a AgentMeta<'a>,
        renames: Renames<'a>,
        around: Option<&AgentMeta<'a>>,
        registers: bool,
    ) {
        each!(state in workflow.states => {
            if !registers {
                self.read_session(at, state.name, state, workflow.module());
            }
        });
        let mut i = 0;
        while i < starts(workflow) {
            if let Some(key) = start(workflow, renames, around, i) {
                if registers {
                    self.keys.write(&Named::new(key), None, false, true);
                } else {
                    self.write(at, &Named::new(key), false, true);
                }
            }
            i += 1;
        }
        each!(step in workflow.steps => {
            if let StepKind::Agent { meta, .. } = step.kind {
                let renames = step.renames;
                let mut all =
                    if registers { Effects::writes(meta, renames) } else { Effects::of(meta, renames) };
                while let Some(effect) = all.next() {
                    if is_session(workflow, effect.key) {
                        self.session_effect(at, &effect, module(&all, meta), registers);
                    }
                }
                self.session(at, meta, renames, Some(workflow), registers);
            }
        });
    }

    const fn session_effect(&mut self, at: usize, effect: &Effect<'a>, module: Module<'a>, registers: bool) {
        match effect.act {
            Act::Write { spec, .. } | Act::May(spec) if registers => {
                let writer = Writer { spec, at, slot: NONE, depth: 0, module: Some(module) };
                self.keys.write(&Named::new(effect.key), Some(writer), false, true);
            }
            Act::Write { spec, .. } | Act::May(spec) => {
                let key = self.write(at, &Named::new(effect.key), false, true);
                self.writes_as(at, key, &spec, NONE, Some(module));
            }
            Act::Read { spec, .. } => self.read_session(at, effect.key, &spec, module),
            Act::Prompt { .. } => self.read_session(at, effect.key, &ANY, module),
        }
    }

    const fn read_session(&mut self, at: usize, name: &'a str, spec: &KeySpec<'a>, module: Module<'a>) {
        if let Ok(key) = self.keys.lookup(hash(name)) {
            // What is read matters to what runs at the same time.
            if !self.is_alone() {
                self.read_key(at, Part::Name, name, key, Reader::Inside);
            }
            self.reads_as(at, Part::Name, key as u32, spec, NONE, Some(module));
        }
    }

    /// An output that gets the name of a key of the session that the workflow uses besides: what was found to keep
    /// apart in there was two keys.
    pub(super) const fn same_inside(&mut self, at: usize, workflow: &'a AgentMeta<'a>, renames: Renames<'a>) {
        let mut i = 0;
        while i < renames.writes.len() && i < workflow.writes.len() {
            let (own, key) = (workflow.writes[i].name, renames.writes[i]);
            if !same(own, key)
                && runs_together(workflow)
                && (touches(workflow, renames, None, key, true)
                    || touches(workflow, renames, None, key, false))
            {
                self.fault(at, Part::Output, key, Flaw::SameInside(own));
            }
            i += 1;
        }
    }
}
