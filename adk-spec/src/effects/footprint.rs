//! [`Footprint`]: the keys and effects of a part of a block with concurrent parts. It decides
//! whether the order of two parts can matter.

use super::below::contains;
use super::{Act, Effects};
use crate::spec::{AgentKind, AgentMeta, Labels, Step, StepKind, has_prefix};
use std::collections::BTreeSet;
use std::ops::Range;

/// The keys that the steps of a part may read and write, and their effects outside of the run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Footprint<'a> {
    reads: BTreeSet<&'a str>,
    writes: BTreeSet<&'a str>,
    /// Whether the part has code that may read each key and the conversation: a function with a
    /// context, an agent by hand, a tool, a callback.
    reads_all: bool,
    /// Whether the part calls code whose calls can be counted from outside.
    calls: bool,
    /// Whether a call may change something that another part sees outside of the run. A call
    /// without labels may.
    acts: bool,
    /// Whether the part may end a block around it, which cuts its siblings off.
    exits: bool,
}

impl<'a> Footprint<'a> {
    /// Returns the footprints of two parts of one block. `nodes` are the names of the nodes from
    /// the workflow to the block, and `parts` are the numbers of the branches or elements. Returns
    /// `None` if the description of the workflow does not say what the parts do.
    pub fn of_parts(
        workflow: &'a AgentMeta<'a>,
        nodes: &[&str],
        parts: (u32, u32),
    ) -> Option<(Self, Self)> {
        let (meta, block) = find_block(workflow, nodes)?;
        let inside = block + 1..meta.steps[block].end;
        match meta.steps[block].kind {
            StepKind::Parallel { first: false, .. } => Some((
                Self::of_steps(meta, branch(meta, inside.clone(), parts.0)?),
                Self::of_steps(meta, branch(meta, inside, parts.1)?),
            )),
            StepKind::Each { .. } => {
                let mut element = Self::of_steps(meta, inside);
                // Every other key belongs to the element.
                let is_shared = |key: &&str| has_prefix(key) || contains(meta.states, key);
                element.writes.retain(is_shared);
                element.reads.retain(is_shared);
                Some((element.clone(), element))
            }
            _ => None,
        }
    }

    /// Returns whether the order of two parts cannot change the end of the run. If `is_counted`,
    /// the number of calls may differ between orders, because a process may die in the middle.
    pub fn commutes(&self, other: &Self, is_counted: bool) -> bool {
        let is_disturbed = |reader: &Self, writer: &Self| {
            !reader.writes.is_disjoint(&writer.writes)
                || !reader.reads.is_disjoint(&writer.writes)
                || reader.reads_all && !writer.writes.is_empty()
        };
        let has_exit = self.exits || other.exits;
        let is_seen_outside = self.acts && other.acts || is_counted && self.calls && other.calls;
        !(has_exit || is_seen_outside || is_disturbed(self, other) || is_disturbed(other, self))
    }

    fn of_steps(workflow: &'a AgentMeta<'a>, range: Range<usize>) -> Self {
        let mut all = Self::default();
        for step in &workflow.steps[range] {
            all.has_code(step.own_code, Labels::NONE);
            match step.kind {
                StepKind::Agent { meta, .. } => all.add_agent(meta, step),
                StepKind::Match { key } => drop(all.reads.insert(key)),
                StepKind::Each { list, .. } => drop(all.reads.insert(list)),
                StepKind::Loop { until, .. } => all.reads.extend(until),
                StepKind::Break { .. } => all.exits = true,
                _ => {}
            }
        }
        all
    }

    fn add_agent(&mut self, meta: &'a AgentMeta<'a>, step: &'a Step<'a>) {
        for effect in Effects::of(meta, &step.renames) {
            match effect.act {
                act if act.is_write() => drop(self.writes.insert(effect.key)),
                // A workflow that needs a key of the session may also write it.
                Act::State(_) => {
                    self.writes.insert(effect.key);
                }
                _ => drop(self.reads.insert(effect.key)),
            }
        }
        let mut agents = Effects::of(meta, &step.renames);
        while let Some(agent) = agents.next_agent() {
            self.exits |= agent.may_exit;
            self.has_code(agent.own_code || agent.more_tools, Labels::NONE);
            match agent.kind {
                AgentKind::Function => {
                    self.calls_code(agent.labels);
                    self.reads_all |= agent.labels.has(Labels::CONTEXT);
                }
                AgentKind::Custom => self.has_code(true, agent.labels),
                AgentKind::Llm | AgentKind::Workflow | AgentKind::Await => {}
            }
            for tool in agent.tools {
                self.exits |= tool.may_exit;
                let is_code = tool.agent.is_none() && !tool.at_provider;
                self.has_code(is_code, tool.labels);
            }
            let inside = agent.steps.iter();
            self.exits |= inside
                .clone()
                .any(|step| matches!(step.kind, StepKind::Break { .. }));
            self.has_code(inside.clone().any(|step| step.own_code), Labels::NONE);
        }
        self.exits |= agents.is_too_deep();
    }

    /// Adds code that may read each key.
    fn has_code(&mut self, has: bool, labels: Labels) {
        if has {
            self.reads_all = true;
            self.calls_code(labels);
        }
    }

    fn calls_code(&mut self, labels: Labels) {
        self.calls = true;
        self.acts |= !labels.is_known() || labels.has(Labels::ACTS);
    }
}

/// Returns the workflow that contains a block, and the index of the block among its steps.
fn find_block<'a>(
    workflow: &'a AgentMeta<'a>,
    nodes: &[&str],
) -> Option<(&'a AgentMeta<'a>, usize)> {
    let (mut meta, mut range) = (workflow, 0..workflow.steps.len());
    let mut found = None;
    for name in nodes.get(1..)? {
        let at = range.clone().find(|at| meta.steps[*at].name == *name)?;
        found = Some((meta, at));
        match meta.steps[at].kind {
            StepKind::Agent { meta: inner, .. } => (meta, range) = (inner, 0..inner.steps.len()),
            _ => range = at + 1..meta.steps[at].end,
        }
    }
    found
}

/// Returns the steps of a branch of a parallel block.
fn branch(meta: &AgentMeta<'_>, inside: Range<usize>, number: u32) -> Option<Range<usize>> {
    let mut at = inside.start;
    for _ in 0..number {
        at = meta.steps.get(at)?.end + 1;
    }
    let last = meta.steps.get(at).filter(|_| at < inside.end)?.end;
    Some(at..last + 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::KeySpec;

    /// Returns whether two agents commute as branches of a block in a workflow.
    fn commute(a: AgentMeta<'static>, b: AgentMeta<'static>, is_counted: bool) -> bool {
        let agent = |meta: AgentMeta<'static>| StepKind::Agent {
            meta: Box::leak(Box::new(meta)),
            instance: false,
        };
        let parallel = StepKind::Parallel {
            max_concurrency: None,
            first: false,
        };
        let steps = Box::leak(Box::new([
            Step::new("both", parallel, 7),
            Step::new("", StepKind::Branch, 3),
            Step::new(a.name, agent(a), 2),
            Step::new("", StepKind::End, 3),
            Step::new("", StepKind::Branch, 6),
            Step::new(b.name, agent(b), 5),
            Step::new("", StepKind::End, 6),
            Step::new("", StepKind::End, 7),
        ]));
        let mut workflow = AgentMeta::new(AgentKind::Workflow, "w");
        workflow.steps = steps;
        let workflow = Box::leak(Box::new(workflow));
        let (a, b) = Footprint::of_parts(workflow, &["w", "both"], (0, 1)).unwrap();
        assert_eq!(a.commutes(&b, is_counted), b.commutes(&a, is_counted));
        a.commutes(&b, is_counted)
    }

    const fn asks(name: &'static str) -> AgentMeta<'static> {
        AgentMeta::new(AgentKind::Llm, name)
    }

    const fn does(name: &'static str) -> AgentMeta<'static> {
        AgentMeta::new(AgentKind::Function, name)
    }

    const A: &[KeySpec<'static>] = &[KeySpec::new("a", "String")];
    const B: &[KeySpec<'static>] = &[KeySpec::new("b", "String")];

    #[test]
    fn parts_without_a_common_key_commute() {
        assert!(commute(asks("x").writes(A), asks("y").writes(B), true));
        assert!(!commute(asks("x").writes(A), asks("y").writes(A), true));
        assert!(!commute(asks("x").writes(A), asks("y").reads(A), true));
        assert!(commute(asks("x").reads(A), asks("y").reads(A), true));
        assert!(!commute(
            asks("x").writes(A),
            asks("y").prompts(&["Of {a?}"]),
            true
        ));
    }

    #[test]
    fn code_with_a_context_may_read_each_key() {
        let with_context = does("y").labels(Labels::CONTEXT.and(Labels::LOCAL));
        assert!(!commute(asks("x").writes(A), with_context, true));
        assert!(!commute(asks("x").writes(A), AgentMeta::custom("y"), true));
        assert!(commute(asks("x").writes(A), does("y"), true));
    }

    #[test]
    fn two_calls_commute_only_if_they_are_harmless_and_not_counted() {
        let harmless = |name| does(name).labels(Labels::UNTRUSTED);
        assert!(!commute(does("x"), does("y"), false));
        assert!(!commute(harmless("x"), harmless("y"), true));
        assert!(commute(harmless("x"), harmless("y"), false));
        assert!(commute(harmless("x"), does("y"), false));
        let acts = |name| does(name).labels(Labels::ACTS);
        assert!(!commute(acts("x"), acts("y"), false));
    }

    #[test]
    fn a_part_that_may_end_a_loop_commutes_with_none() {
        let mut exits = asks("x");
        exits.may_exit = true;
        assert!(!commute(exits, asks("y"), false));
    }

    #[test]
    fn a_block_that_is_not_in_the_description_has_no_parts() {
        let workflow = AgentMeta::new(AgentKind::Workflow, "w");
        assert_eq!(Footprint::of_parts(&workflow, &["w", "both"], (0, 1)), None);
        assert_eq!(Footprint::of_parts(&workflow, &[], (0, 1)), None);
    }
}
