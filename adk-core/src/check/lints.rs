//! What is legal but suspicious: told to those who ask, and never an error.

mod placeholder;

use super::flow::closest::Closest;
use crate::spec::placeholder::{Placeholders, Source};
use crate::spec::{AgentKind, AgentMeta, Renames, Spec, Step, StepKind};
use std::collections::HashSet;
use std::fmt;

/// Something that is legal but suspicious.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[non_exhaustive]
pub struct Lint {
    /// Which one, such as `key-unread`.
    pub lint: &'static str,
    /// The agent, block or input; empty for the workflow itself.
    pub node: String,
    /// The fact, the names, and what to do; begins with the name of the lint.
    pub message: String,
}

impl fmt::Display for Lint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl Spec<'_> {
    /// What is legal but suspicious in a workflow, inputs first, then keys, blocks and agents.
    ///
    /// | lint | what it finds |
    /// |---|---|
    /// | `input-unread` | an input that nobody reads |
    /// | `key-unread` | a key that is written, or given by `each`, and never read |
    /// | `key-unwritten` | a key that is read only where it is there, as by `{note?}` or an `Option`, and that nobody writes |
    /// | `until-constant` | a loop that only `until` ends, whose key nothing inside writes |
    /// | `parallel-single` | a parallel of one branch |
    /// | `step-unreachable` | what stands behind a `break` |
    /// | `placeholder-text` | `{}`, `{usr:name}` or `{topic.len}` in a prompt, which is text to ADK and to us |
    /// | `agent-unplaced` | an agent that is declared and never placed |
    ///
    /// Placeholders of prompts are reads, and so are outputs, `until`, `match`, `each`, renamed keys and the inputs of a
    /// nested workflow. Keys with a prefix belong to the session, and keys of tools to the tools: neither counts.
    /// What stands in a nested workflow is looked at where that is defined.
    ///
    /// A test keeps a workflow free of them:
    ///
    /// ```
    /// # use adk_core as adk;
    /// # use adk::spec::{AgentKind, AgentMeta, InputSpec, Spec, Step, StepKind};
    /// # const WRITER: AgentMeta<'static> = AgentMeta::new(AgentKind::Llm, "writer").prompts(&["On {topic}."]);
    /// # const STEPS: &[Step<'static>] = &[Step::new("writer", StepKind::Agent { meta: &WRITER, instance: false }, 0)];
    /// # struct Writing;
    /// # impl Writing {
    /// #     const SPEC: Spec<'static> = Spec::new("writing", "", STEPS).inputs(&[InputSpec::new("topic", "String", false)]);
    /// # }
    /// assert_eq!(Writing::SPEC.lints(), []);
    /// ```
    #[must_use]
    pub fn lints(&self) -> Vec<Lint> {
        let mut lints = Vec::new();
        // Of an agent or a part whose own fault is told it is not known what it reads.
        let is_known = |step: &Step<'_>| !matches!(step.kind, StepKind::Agent { meta, .. } if meta.unknown);
        if !self.partial && self.steps.iter().all(is_known) {
            let read = read(self);
            self.unread_inputs(&read, &mut lints);
            self.unread_keys(&read, &mut lints);
            self.unwritten_keys(&mut lints);
            self.constant_untils(&mut lints);
        }
        self.single_parallels(&mut lints);
        self.unreachable_steps(&mut lints);
        self.placeholders_that_are_text(&mut lints);
        for name in self.unplaced {
            let fact = format!(
                "agent `{name}` is declared and never placed; help: write `{name}` where it is to run, or \
                 `tools: [agent({name})]` at an agent that is to call it, or remove it"
            );
            lints.push(lint("agent-unplaced", name, &fact));
        }
        lints
    }

    fn unread_inputs(&self, read: &HashSet<&str>, lints: &mut Vec<Lint>) {
        for input in self.inputs.iter().filter(|input| !read.contains(input.name)) {
            let name = input.name;
            let fact = format!(
                "input `{name}` is read by nobody; help: read it, as in `{{{name}}}` in a prompt, or remove it"
            );
            lints.push(lint("input-unread", name, &fact));
        }
    }

    fn unread_keys(&self, read: &HashSet<&str>, lints: &mut Vec<Lint>) {
        let mut told = HashSet::new();
        let mut is_unread = |key: &'_ str| {
            let is_own = !key.contains(':');
            is_own && !read.contains(key) && told.insert(key.to_owned())
        };
        for key in self.lets.iter().map(|key| key.name).filter(|key| is_unread(key)) {
            let fact = format!(
                "`let {key}` is read by nobody; help: read it, as in `{{{key}}}` in a prompt, or remove it"
            );
            lints.push(lint("key-unread", "", &fact));
        }
        for step in self.steps {
            match step.kind {
                StepKind::Each { item, .. } if is_unread(item) => {
                    let fact = format!(
                        "nothing in `each {item}` reads `{item}`, so every element is treated alike; help: read it, as in \
                         `{{{item}}}` in a prompt"
                    );
                    lints.push(lint("key-unread", step.name, &fact));
                }
                StepKind::Agent { meta, .. } => {
                    let mut writes = Vec::new();
                    written(step.name, meta, step.renames, &mut writes);
                    for (writer, key) in writes.into_iter().filter(|(_, key)| is_unread(key)) {
                        let fact = format!(
                            "`{writer}` writes `{key}`, and nobody reads it; help: read it, make it an output of the \
                             workflow, or do not write it"
                        );
                        lints.push(lint("key-unread", writer, &fact));
                    }
                }
                _ => {}
            }
        }
    }

    /// An optional read takes a misspelt key for one that is absent.
    fn unwritten_keys(&self, lints: &mut Vec<Lint>) {
        let declared = self.inputs.iter().map(|input| input.name);
        let mut known: Vec<_> =
            declared.chain(self.lets.iter().chain(self.states).map(|key| key.name)).collect();
        let mut reads = Vec::new();
        for step in self.steps {
            match step.kind {
                StepKind::Each { item, .. } => known.push(item),
                StepKind::Agent { meta, .. } => {
                    let mut writes = Vec::new();
                    written(step.name, meta, step.renames, &mut writes);
                    known.extend(writes.into_iter().map(|(_, key)| key));
                    by_tools(meta, &mut known);
                    of_agent(step.name, meta, step.renames, &mut reads);
                }
                _ => {}
            }
        }
        let mut told = HashSet::new();
        for Read { reader, key, .. } in reads.into_iter().filter(|read| read.optional) {
            if key.contains(':') || known.contains(&key) || !told.insert(key) {
                continue;
            }
            let mut closest = Closest::to(key);
            known.iter().for_each(|other| closest.show(other));
            let meant = match closest.found() {
                "" => String::new(),
                near => format!("did you mean `{near}`? Otherwise "),
            };
            let fact = format!(
                "`{reader}` reads `{key}` if it is there, and nobody writes it; help: {meant}declare `state {key}: TYPE` if \
                 the session holds it already, or remove it"
            );
            lints.push(lint("key-unwritten", reader, &fact));
        }
    }

    fn constant_untils(&self, lints: &mut Vec<Lint>) {
        for (at, step) in self.steps.iter().enumerate() {
            let StepKind::Loop { max: None, until: Some(key) } = step.kind else { continue };
            let changes = |inside: &Step<'_>| match inside.kind {
                StepKind::Break { .. } => true,
                StepKind::Agent { meta, .. } => {
                    let mut writes = Vec::new();
                    written(inside.name, meta, inside.renames, &mut writes);
                    let by_tool =
                        meta.tools.iter().flat_map(|tool| tool.writes).any(|write| write.name == key);
                    let exits = meta.may_exit || !meta.exits.is_empty() || !meta.transfer.is_empty();
                    exits || by_tool || writes.iter().any(|(_, write)| *write == key)
                }
                _ => false,
            };
            if !self.steps.get(at + 1..step.end).is_some_and(|inside| inside.iter().any(changes)) {
                let fact = format!(
                    "nothing in loop `{}` writes `{key}`, so that its `until` never changes; help: let a step of the loop \
                     write `{key}`, or give the loop a `max`",
                    step.name
                );
                lints.push(lint("until-constant", step.name, &fact));
            }
        }
    }

    fn unreachable_steps(&self, lints: &mut Vec<Lint>) {
        for two in self.steps.windows(2) {
            if let [Step { kind: StepKind::Break { .. }, .. }, Step { name, kind, .. }] = two
                && !matches!(kind, StepKind::End)
            {
                let what = if name.is_empty() { "a second one" } else { name };
                let fact = format!(
                    "`{what}` stands behind a `break` and is never run; help: remove it, or put it before the `break`"
                );
                lints.push(lint("step-unreachable", name, &fact));
            }
        }
    }

    fn single_parallels(&self, lints: &mut Vec<Lint>) {
        for (at, step) in self.steps.iter().enumerate() {
            let only =
                |branch: &Step<'_>| matches!(branch.kind, StepKind::Branch) && branch.end + 1 == step.end;
            if matches!(step.kind, StepKind::Parallel { .. }) && self.steps.get(at + 1).is_some_and(only) {
                let fact = format!(
                    "block `{}` is a parallel of one branch; help: put a `;` between what is to run at the same time, or \
                     remove the `parallel`",
                    step.name
                );
                lints.push(lint("parallel-single", step.name, &fact));
            }
        }
    }
}

fn lint(lint: &'static str, node: &str, fact: &str) -> Lint {
    Lint { lint, node: node.to_owned(), message: format!("{lint}: {fact}") }
}

/// The keys that a workflow reads anywhere, its outputs included.
fn read<'a>(spec: &Spec<'a>) -> HashSet<&'a str> {
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

/// A key that is read.
struct Read<'a> {
    /// Who reads it.
    reader: &'a str,
    key: &'a str,
    /// Only where it is there.
    optional: bool,
}

/// What an agent reads, and what those read that it may transfer to and that are its tools.
fn of_agent<'a>(reader: &'a str, meta: &AgentMeta<'a>, renames: Renames<'a>, all: &mut Vec<Read<'a>>) {
    let mut add = |key: &'a str, optional| {
        let renamed = renames.reads.iter().find(|(of_definition, _)| *of_definition == key);
        all.push(Read { reader, key: renamed.map_or(key, |(_, key)| key), optional });
    };
    // An input of a workflow that has a default may be absent, and is no slip.
    let perhaps = !matches!(meta.kind, AgentKind::Workflow);
    meta.reads.iter().for_each(|key| add(key.name, key.optional && perhaps));
    meta.states.iter().for_each(|key| add(key.name, false));
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
fn written<'a>(name: &'a str, meta: &AgentMeta<'a>, renames: Renames<'a>, all: &mut Vec<(&'a str, &'a str)>) {
    let renamed = renames.writes.iter().copied().map(Some).chain(std::iter::repeat(None));
    all.extend(meta.writes.iter().zip(renamed).map(|(key, renamed)| (name, renamed.unwrap_or(key.name))));
    meta.transfer.iter().for_each(|target| written(target.name, target, Renames::NONE, all));
}

/// The keys that its tools write, and those of the agents that it may transfer to.
fn by_tools<'a>(meta: &AgentMeta<'a>, all: &mut Vec<&'a str>) {
    for tool in meta.tools {
        all.extend(tool.writes.iter().map(|key| key.name));
        if let Some(agent) = tool.agent {
            all.extend(agent.writes.iter().map(|key| key.name));
            by_tools(agent, all);
        }
    }
    meta.transfer.iter().for_each(|target| by_tools(target, all));
}

#[cfg(test)]
mod tests;
