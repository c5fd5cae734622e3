//! [`Lint`]: workflows that are legal but suspicious. Lints are reported on request and are never
//! errors.

mod keys;
mod placeholder;

use self::keys::{KeyRead, add_agent_reads, add_tool_writes, names_keys, read_keys, written_keys};
use crate::effects::Effects;
use crate::nearest::nearest;
use crate::spec::{AgentKind, AgentMeta, Conversation, ERROR_KEY, Spec, Step, StepKind};
use std::collections::HashSet;
use std::fmt;

/// A legal but suspicious part of a workflow.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[non_exhaustive]
pub struct Lint {
    /// The name of the lint, such as `key-unread`.
    pub lint: &'static str,
    /// The agent, block or input; empty for the workflow itself.
    pub node: String,
    /// The fact, with its names, and the remedy. Begins with the name of the lint.
    pub message: String,
}

impl fmt::Display for Lint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl Spec<'_> {
    /// Returns the lints of a workflow: inputs first, then keys, blocks and agents.
    ///
    /// - `input-unread`: an input that is never read
    /// - `key-unread`: a key that is written, or given by `each`, and never read
    /// - `key-unwritten`: a key that is only read where it may be absent, as by `{note?}` or an
    ///   `Option`, and never written
    /// - `until-constant`: a loop that only `until` ends, and whose key no step inside writes
    /// - `parallel-single`: a parallel of one branch
    /// - `conversation-repeated`: an agent in an `each` whose prompt names keys, and that also sees
    ///   the conversation: it is sent again for each element
    /// - `rounds-shown`: an agent with `include_contents: none` as the only step of a loop: by
    ///   ADK's rule all its rounds are one turn, so it sees them
    /// - `step-unreachable`: steps after a `break`
    /// - `placeholder-text`: `{}`, `{usr:name}` or, where `other` is not a key, `{other.len}` in a
    ///   prompt, which is text to ADK and to this crate
    /// - `prompt-uncached`: a key before a long constant text in a prompt: providers cache only the
    ///   text before the key
    /// - `agent-unplaced`: an agent that is declared and never placed
    ///
    /// A renamed key that no step writes is an error, not a lint. Placeholders of prompts are
    /// reads, and so are outputs, `until`, `match`, `each`, renamed keys and the inputs of a nested
    /// workflow. Lints ignore `state` keys and keys with a prefix, which belong to the session, and
    /// keys that only tools write. Steps of a nested workflow are checked at its own definition.
    ///
    /// A test keeps a workflow free of lints:
    ///
    /// ```
    /// # use adk_spec as adk;
    /// # use adk::spec::{AgentKind, AgentMeta, InputSpec, Spec, Step, StepKind};
    /// # const WRITER: AgentMeta<'static> =
    /// #     AgentMeta::new(AgentKind::Llm, "writer").prompts(&["On {topic}."]);
    /// # const STEPS: &[Step<'static>] =
    /// #     &[Step::new("writer", StepKind::Agent { meta: &WRITER, instance: false }, 0)];
    /// # struct Writing;
    /// # impl Writing {
    /// #     const SPEC: Spec<'static> = Spec::new("writing", "", STEPS)
    /// #         .inputs(&[InputSpec::new("topic", "String", false)]);
    /// # }
    /// assert_eq!(Writing::SPEC.lints(), []);
    /// ```
    #[must_use]
    pub fn lints(&self) -> Vec<Lint> {
        let mut lints = Vec::new();
        // The description of a stub does not state what the agent reads.
        if !self.has_stub() {
            let read = read_keys(self);
            self.unread_inputs(&read, &mut lints);
            self.unread_keys(&read, &mut lints);
            self.unwritten_keys(&mut lints);
            self.constant_untils(&mut lints);
        }
        self.single_parallels(&mut lints);
        self.shown_rounds(&mut lints);
        self.repeated_conversations(&mut lints);
        self.unreachable_steps(&mut lints);
        self.placeholders_that_are_text(&mut lints);
        for name in self.unplaced {
            let fact = format!(
                "agent `{name}` is declared and never placed; help: write `{name}` where it is to \
                 run, or `tools: [agent({name})]` at an agent that is to call it, or remove it"
            );
            lints.push(lint("agent-unplaced", name, &fact));
        }
        lints
    }

    fn unread_inputs(&self, read: &HashSet<&str>, lints: &mut Vec<Lint>) {
        for input in self
            .inputs
            .iter()
            .filter(|input| !read.contains(input.name))
        {
            let name = input.name;
            let fact = format!(
                "input `{name}` is never read; help: read it, as in `{{{name}}}` in a prompt, or \
                 remove it"
            );
            lints.push(lint("input-unread", name, &fact));
        }
    }

    fn unread_keys(&self, read: &HashSet<&str>, lints: &mut Vec<Lint>) {
        let mut reported = HashSet::new();
        let mut is_unread = |key: &'_ str| {
            let is_state = || self.states.iter().any(|state| state.name == key);
            let is_own = !key.contains(':') && !is_state();
            is_own && !read.contains(key) && reported.insert(key.to_owned())
        };
        for key in self
            .lets
            .iter()
            .map(|key| key.name)
            .filter(|key| is_unread(key))
        {
            let fact = format!(
                "`let {key}` is never read; help: read it, as in `{{{key}}}` in a prompt, or \
                 remove it"
            );
            lints.push(lint("key-unread", "", &fact));
        }
        for step in self.steps {
            match step.kind {
                StepKind::Each { item, .. } if is_unread(item) => {
                    let fact = format!(
                        "nothing in `each {item}` reads `{item}`, so every element is treated \
                         alike; help: read it, as in `{{{item}}}` in a prompt"
                    );
                    lints.push(lint("key-unread", step.name, &fact));
                }
                StepKind::Agent { meta, .. } => {
                    let writes = written_keys(step.name, meta, &step.renames).into_iter();
                    for (writer, key) in writes.filter(|(_, key)| is_unread(key)) {
                        let fact = format!(
                            "`{writer}` writes `{key}`, but no step reads it; help: read it, make \
                             it an output of the workflow, or do not write it"
                        );
                        lints.push(lint("key-unread", writer, &fact));
                    }
                }
                _ => {}
            }
        }
    }

    /// Reports optional reads of keys that no step writes: an optional read hides a misspelt key.
    fn unwritten_keys(&self, lints: &mut Vec<Lint>) {
        let declared = self.inputs.iter().map(|input| input.name);
        let mut known: Vec<_> = declared
            .chain(self.lets.iter().chain(self.states).map(|key| key.name))
            .collect();
        let mut reads = Vec::new();
        for step in self.steps {
            match step.kind {
                StepKind::Each { item, .. } => known.push(item),
                StepKind::Else => known.push(ERROR_KEY),
                StepKind::Agent { meta, .. } => {
                    known.extend(
                        written_keys(step.name, meta, &step.renames)
                            .into_iter()
                            .map(|(_, key)| key),
                    );
                    add_tool_writes(meta, &step.renames, &mut known);
                    add_agent_reads(step.name, meta, &step.renames, &mut reads);
                }
                _ => {}
            }
        }
        let mut reported = HashSet::new();
        for KeyRead { reader, key, .. } in reads.into_iter().filter(|read| read.optional) {
            if key.contains(':') || known.contains(&key) || !reported.insert(key) {
                continue;
            }
            let near = nearest(key, known.iter().copied());
            let meant = near
                .map(|near| format!("did you mean `{near}`? Otherwise "))
                .unwrap_or_default();
            let fact = format!(
                "`{reader}` reads `{key}` if it exists, but no step writes it; help: \
                 {meant}declare `state {key}: TYPE` if the session holds it already, or remove it"
            );
            lints.push(lint("key-unwritten", reader, &fact));
        }
    }

    fn constant_untils(&self, lints: &mut Vec<Lint>) {
        for (at, step) in self.steps.iter().enumerate() {
            let StepKind::Loop {
                max: None,
                until: Some(key),
            } = step.kind
            else {
                continue;
            };
            let changes = |inside: &Step<'_>| match inside.kind {
                StepKind::Break { .. } => true,
                StepKind::Agent { meta, .. } => {
                    let exits =
                        meta.may_exit || !meta.exits.is_empty() || !meta.transfer.is_empty();
                    exits
                        || Effects::writes(meta, &inside.renames)
                            .any(|effect| effect.act.is_write() && effect.key == key)
                }
                _ => false,
            };
            if !self
                .steps
                .get(at + 1..step.end)
                .is_some_and(|inside| inside.iter().any(changes))
            {
                let fact = format!(
                    "nothing in loop `{}` writes `{key}`, so that its `until` never changes; help: \
                     let a step of the loop write `{key}`, or give the loop a `max`",
                    step.name
                );
                lints.push(lint("until-constant", step.name, &fact));
            }
        }
    }

    fn unreachable_steps(&self, lints: &mut Vec<Lint>) {
        for two in self.steps.windows(2) {
            if let [
                Step {
                    kind: StepKind::Break { .. },
                    ..
                },
                Step { name, kind, .. },
            ] = two
                && !matches!(kind, StepKind::End | StepKind::Else)
            {
                let what = if name.is_empty() {
                    "a second one"
                } else {
                    name
                };
                let fact = format!(
                    "`{what}` comes after a `break` and never runs; help: remove it, or put it \
                     before the `break`"
                );
                lints.push(lint("step-unreachable", name, &fact));
            }
        }
    }

    /// `include_contents: none` shows the current turn, which begins with a message of the user or
    /// of another agent. A loop with only one agent contains neither, so all of its rounds are one
    /// turn.
    fn shown_rounds(&self, lints: &mut Vec<Lint>) {
        for three in self.steps.windows(3) {
            if let [
                Step {
                    name,
                    kind: StepKind::Loop { .. },
                    ..
                },
                Step {
                    kind: StepKind::Agent { meta, .. },
                    name: agent,
                    ..
                },
                end,
            ] = three
                && meta.conversation == Conversation::CurrentTurn
                && matches!(end.kind, StepKind::End)
            {
                let fact = format!(
                    "`{agent}` is alone in loop `{name}`, so all its rounds are its current turn, \
                     and `include_contents: none` shows them all; help: write \
                     `include_contents: prompt`, or let another agent speak in the loop"
                );
                lints.push(lint("rounds-shown", agent, &fact));
            }
        }
    }

    /// Reports agents in an `each` that see the conversation, although their prompt names the keys
    /// that they need.
    fn repeated_conversations(&self, lints: &mut Vec<Lint>) {
        let sees = |meta: &AgentMeta<'_>| {
            meta.kind == AgentKind::Llm
                && meta.conversation == Conversation::Shown
                && names_keys(meta)
        };
        // The steps before `end` are inside an `each`.
        let mut end = 0;
        for (at, step) in self.steps.iter().enumerate() {
            match step.kind {
                StepKind::Each { .. } => end = end.max(step.end),
                StepKind::Agent { meta, .. } if at < end && sees(meta) => {
                    let name = step.name;
                    let fact = format!(
                        "the prompt of `{name}` names the keys that it needs, and `{name}` also \
                         sees the conversation, which is sent again for each element; help: write \
                         `include_contents: prompt`, or `none` for the last message"
                    );
                    lints.push(lint("conversation-repeated", name, &fact));
                }
                _ => {}
            }
        }
    }

    fn single_parallels(&self, lints: &mut Vec<Lint>) {
        for (at, step) in self.steps.iter().enumerate() {
            let only = |branch: &Step<'_>| {
                matches!(branch.kind, StepKind::Branch) && branch.end + 1 == step.end
            };
            if matches!(step.kind, StepKind::Parallel { .. })
                && self.steps.get(at + 1).is_some_and(only)
            {
                let fact = format!(
                    "block `{}` is a parallel of one branch; help: put a `;` between what is to \
                     run at the same time, or remove the `parallel`",
                    step.name
                );
                lints.push(lint("parallel-single", step.name, &fact));
            }
        }
    }
}

fn lint(lint: &'static str, node: &str, fact: &str) -> Lint {
    Lint {
        lint,
        node: node.to_owned(),
        message: format!("{lint}: {fact}"),
    }
}

#[cfg(test)]
mod tests;
