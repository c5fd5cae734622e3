//! What is read and written, by all that belongs to a step.

use crate::spec::placeholder::{Placeholders, Source};
use crate::spec::{AgentKind, AgentMeta, Renames, Spec, StepKind};
use std::collections::HashSet;

/// The keys that a workflow reads anywhere, its outputs included.
pub(super) fn read<'a>(spec: &Spec<'a>) -> HashSet<&'a str> {
    let mut read: HashSet<_> = spec.outputs.iter().map(|key| key.name).collect();
    for step in spec.steps {
        match step.kind {
            StepKind::Agent { meta, .. } => {
                let mut reads = Vec::new();
                of_agent(step.name, meta, step.renames, &mut reads);
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

pub(super) struct Read<'a> {
    pub(super) reader: &'a str,
    pub(super) key: &'a str,
    /// Only where it is there.
    pub(super) optional: bool,
}

/// What an agent reads, and what those read that it may transfer to and that are its tools.
pub(super) fn of_agent<'a>(
    reader: &'a str,
    meta: &AgentMeta<'a>,
    renames: Renames<'a>,
    all: &mut Vec<Read<'a>>,
) {
    let mut add = |key: &'a str, optional| {
        let renamed = renames.reads.iter().find(|(of_definition, _)| *of_definition == key);
        // That one which is renamed is written is for the checker to ask.
        let optional = optional && renamed.is_none();
        all.push(Read { reader, key: renamed.map_or(key, |(_, key)| key), optional });
    };
    // An input of a workflow that has a default may be absent, and is no slip.
    let perhaps = !matches!(meta.kind, AgentKind::Workflow);
    meta.reads.iter().for_each(|key| add(key.name, key.optional && perhaps));
    meta.states.iter().for_each(|key| add(key.name, false));
    meta.tools.iter().flat_map(|tool| tool.reads).for_each(|key| add(key.name, key.optional));
    for prompt in meta.prompts {
        let mut found = Placeholders::new(prompt);
        while let Some(placeholder) = found.next() {
            if let Source::Key(key) = placeholder.source {
                add(key, placeholder.optional);
            }
        }
    }
    let tools = meta.tools.iter().filter_map(|tool| tool.agent);
    let below = meta.transfer.iter().copied().chain(tools);
    below.for_each(|agent| of_agent(agent.name, agent, Renames::NONE, all));
}

/// The keys that an instance writes, and those of the agents that it may transfer to, each with who writes it.
pub(super) fn written<'a>(
    name: &'a str,
    meta: &AgentMeta<'a>,
    renames: Renames<'a>,
) -> Vec<(&'a str, &'a str)> {
    let renamed = renames.writes.iter().copied().map(Some).chain(std::iter::repeat(None));
    let own = meta.writes.iter().zip(renamed).map(|(key, renamed)| (name, renamed.unwrap_or(key.name)));
    let below = meta.transfer.iter().flat_map(|target| written(target.name, target, Renames::NONE));
    own.chain(below).collect()
}

/// Whether the prompts of an agent name keys.
pub(super) fn names_keys(meta: &AgentMeta<'_>) -> bool {
    meta.prompts.iter().any(|prompt| {
        let mut found = Placeholders::new(prompt);
        std::iter::from_fn(|| found.next()).any(|placeholder| matches!(placeholder.source, Source::Key(_)))
    })
}

/// The keys that its tools write, and those of the agents that it may transfer to.
pub(super) fn by_tools<'a>(meta: &AgentMeta<'a>, all: &mut Vec<&'a str>) {
    for tool in meta.tools {
        all.extend(tool.writes.iter().map(|key| key.name));
        if let Some(agent) = tool.agent {
            all.extend(agent.writes.iter().map(|key| key.name));
            by_tools(agent, all);
        }
    }
    meta.transfer.iter().for_each(|target| by_tools(target, all));
}
