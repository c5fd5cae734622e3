//! The keys that a step reads and writes, with all agents and tools that belong to it.

use crate::effects::{Act, Effects};
use crate::spec::placeholder::{Placeholders, Source};
use crate::spec::{AgentKind, AgentMeta, Renames, Spec, StepKind};
use std::collections::HashSet;

/// Returns the keys that a workflow reads anywhere, its outputs included.
pub(super) fn read_keys<'a>(spec: &Spec<'a>) -> HashSet<&'a str> {
    let mut read: HashSet<_> = spec.outputs.iter().map(|key| key.name).collect();
    for step in spec.steps {
        match step.kind {
            StepKind::Agent { meta, .. } => {
                let mut reads = Vec::new();
                add_agent_reads(step.name, meta, &step.renames, &mut reads);
                read.extend(reads.iter().map(|read| read.key));
            }
            StepKind::Match { key } => read.extend([key]),
            StepKind::Each { list, .. } => read.extend([list]),
            StepKind::Loop { until, .. } => read.extend(until),
            _ => {}
        }
    }
    read
}

pub(super) struct KeyRead<'a> {
    pub(super) reader: &'a str,
    pub(super) key: &'a str,
    /// Whether the key may be absent.
    pub(super) optional: bool,
}

/// Adds the reads of a step's agent, and of the agents and tools that belong to the step.
pub(super) fn add_agent_reads<'a>(
    name: &'a str,
    meta: &'a AgentMeta<'a>,
    renames: &'a Renames<'a>,
    all: &mut Vec<KeyRead<'a>>,
) {
    let mut effects = Effects::of(meta, renames);
    while let Some(effect) = effects.next() {
        // An input of a workflow with a default may be absent without being a mistake. The checker
        // ensures that a renamed key is written.
        let optional = match effect.act {
            _ if effect.is_inside => false,
            Act::Prompt {
                optional, renamed, ..
            } => optional && renamed.is_none(),
            Act::Read { spec, renamed, .. } => {
                let is_input =
                    effects.agent().kind == AgentKind::Workflow && effects.tool().is_none();
                spec.optional && renamed.is_none() && !is_input
            }
            _ => false,
        };
        if !effect.act.is_write() {
            let reader = if effects.is_own() {
                name
            } else {
                effects.agent().name
            };
            all.push(KeyRead {
                reader,
                key: effect.key,
                optional,
            });
        }
    }
}

/// Returns the keys that an instance and its transfer targets write, each with its writer.
pub(super) fn written_keys<'a>(
    name: &'a str,
    meta: &'a AgentMeta<'a>,
    renames: &'a Renames<'a>,
) -> Vec<(&'a str, &'a str)> {
    let mut written = Vec::new();
    let mut effects = Effects::writes(meta, renames).outside();
    while let Some(effect) = effects.next() {
        if effect.act.is_write() && !effects.is_of_tool() {
            let writer = if effects.is_own() {
                name
            } else {
                effects.agent().name
            };
            written.push((writer, effect.key));
        }
    }
    written
}

/// Returns whether the prompts of an agent name keys.
pub(super) fn names_keys(meta: &AgentMeta<'_>) -> bool {
    meta.prompts.iter().any(|prompt| {
        let mut found = Placeholders::new(prompt);
        std::iter::from_fn(|| found.next())
            .any(|placeholder| matches!(placeholder.source, Source::Key(_)))
    })
}

/// Adds the keys that the tools of an agent and of its transfer targets write.
pub(super) fn add_tool_writes<'a>(
    meta: &'a AgentMeta<'a>,
    renames: &'a Renames<'a>,
    all: &mut Vec<&'a str>,
) {
    let mut effects = Effects::writes(meta, renames).outside();
    while let Some(effect) = effects.next() {
        if effect.act.is_write() && effects.is_of_tool() {
            all.push(effect.key);
        }
    }
}
