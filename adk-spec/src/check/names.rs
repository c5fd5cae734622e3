//! `name-duplicate`, `name-reserved`, `name-invalid`, `agent-reused`: one table of all names in the tree.

mod describe;

pub(super) use self::describe::{describe, describe_into, of_step, of_workflow};
use crate::hash::{hash, mixed};
use crate::spec::{AgentMeta, Spec, Step, StepKind};
use crate::text::same;

/// A name or a definition in the table.
///
/// Names inside of an instance, `second::critic`, are those of a table of its own: they have that instance as owner.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry<'a> {
    /// Name or definition, with its owner, as a number.
    hash: u64,
    /// The name of the nested workflow around it; empty for the workflow itself.
    inside: &'a str,
    /// The step of the workflow that it is, or is inside of.
    at: usize,
}

/// A name from the source.
const NAME: u64 = 0;
/// A definition that was placed without `as`.
const DEFINITION: u64 = 1;

const USER: u64 = hash("user");
const MODEL: u64 = hash("model");

/// What is wrong with the name of a step, or with one inside of it.
#[derive(Clone, Copy, Debug)]
pub(super) enum Finding<'a> {
    None,
    Reserved,
    /// Two definitions of one name.
    Duplicate(Twice<'a>),
    /// One definition twice.
    Reused(Twice<'a>),
}

/// A name or a definition that occurs twice.
#[derive(Clone, Copy, Debug)]
pub(super) struct Twice<'a> {
    name: &'a str,
    /// The nested workflow around the second one; empty when it is the step itself.
    inside: &'a str,
    /// The nested workflow around the first one.
    first_inside: &'a str,
    /// It is the name of the workflow itself.
    root: bool,
}

/// The most names that steps have, nested workflows included: to ask a name whether it is empty takes longer than to make
/// room for it.
const fn count(mut steps: &[Step<'_>]) -> usize {
    let mut count = steps.len();
    while let [step, rest @ ..] = steps {
        if let StepKind::Agent { meta, .. } = step.kind
            && !(matches!(meta.steps, []) && matches!(meta.transfer, []))
        {
            count += inside(meta);
        }
        steps = rest;
    }
    count
}

/// The same for what is inside of an agent: the steps of a workflow, and the agents that it may transfer to.
const fn inside(meta: &AgentMeta<'_>) -> usize {
    let mut count = self::count(meta.steps);
    let mut i = 0;
    while i < meta.transfer.len() {
        count += 1 + inside(meta.transfer[i]);
        i += 1;
    }
    count
}

/// Fills the findings, one per step of the workflow; whether there are none. `told` says that the names of its own steps differ
/// and are none that are reserved, as the macro knows of most.
///
/// Free places of the table are `None`: const evaluation keeps a sorted list of all references in it, and goes through that
/// list whenever one is written.
pub(super) const fn find<'a>(
    spec: &Spec<'a>,
    table: &mut [Option<Entry<'a>>],
    findings: &mut [Finding<'a>],
    told: bool,
) -> bool {
    if told && count(spec.steps) == spec.steps.len() {
        return definitions(spec.steps, table, findings);
    }
    let mask = table.len() - 1;
    let mut names = Names { table, mask, owners: 0, built: spec.built };
    let root = spec.steps.len();
    if !spec.name.is_empty() {
        let _ = names.insert(NAME, hash(spec.name), 0, "", root);
    }
    let (mut i, mut clean) = (0, true);
    while i < root {
        let found = names.step(&spec.steps[i], i, 0, "", root);
        if !matches!(found, Finding::None) {
            (findings[i], clean) = (found, false);
        }
        i += 1;
    }
    clean
}

/// The same for steps with nothing inside of them, whose names differ: only definitions are compared. Most workflows are made
/// of such steps, and each call takes its time.
const fn definitions<'a>(
    mut steps: &[Step<'a>],
    table: &mut [Option<Entry<'a>>],
    findings: &mut [Finding<'a>],
) -> bool {
    let (mask, mut at, mut clean) = (table.len() - 1, 0, true);
    while let [step, rest @ ..] = steps {
        if let StepKind::Agent { meta, instance: false } = step.kind
            && let Some(definition) = meta.identity()
        {
            let mut slot = definition as usize & mask;
            loop {
                match &table[slot] {
                    None => break table[slot] = Some(Entry { hash: definition, inside: "", at }),
                    Some(there) if there.hash == definition => {
                        let twice = Twice { name: step.name, inside: "", first_inside: "", root: false };
                        (findings[at], clean) = (Finding::Reused(twice), false);
                        break;
                    }
                    Some(_) => slot = (slot + 1) & mask,
                }
            }
        }
        (steps, at) = (rest, at + 1);
    }
    clean
}

struct Names<'t, 'a> {
    table: &'t mut [Option<Entry<'a>>],
    /// That of their number, which is a power of two.
    mask: usize,
    owners: usize,
    /// A tree that builders made: no macro has checked its names.
    built: bool,
}

impl<'a> Names<'_, 'a> {
    /// Adds an entry; the one that is there already.
    const fn insert(
        &mut self,
        what: u64,
        hash: u64,
        owner: usize,
        inside: &'a str,
        at: usize,
    ) -> Option<Entry<'a>> {
        let hash = mixed(hash, 2 * owner as u64 + what);
        let mut slot = hash as usize & self.mask;
        while let Some(there) = &self.table[slot] {
            if there.hash == hash {
                return Some(*there);
            }
            slot = (slot + 1) & self.mask;
        }
        self.table[slot] = Some(Entry { hash, inside, at });
        None
    }

    /// The first thing that is wrong with a step or inside of it; `at` is the step of the workflow itself.
    const fn step(
        &mut self,
        step: &Step<'a>,
        at: usize,
        owner: usize,
        inside: &'a str,
        root: usize,
    ) -> Finding<'a> {
        // Markers have no name.
        let name = match step.name.as_bytes() {
            [] => 0,
            _ => hash(step.name),
        };
        if (name == USER || name == MODEL) && (step.named || self.built) && inside.is_empty() {
            return Finding::Reserved;
        }
        // A name that occurs twice in one nested workflow is reported where that is defined.
        if let StepKind::Agent { meta, instance } = step.kind
            && !instance
            && let Some(definition) = meta.identity()
            && let Some(first) = self.insert(DEFINITION, definition, owner, inside, at)
            && (first.at != at || inside.is_empty())
        {
            return Finding::Reused(Twice {
                name: step.name,
                inside,
                first_inside: first.inside,
                root: false,
            });
        }
        if step.named
            && name != 0
            && let Some(first) = self.insert(NAME, name, owner, inside, at)
            && (first.at != at || inside.is_empty())
        {
            let (first_inside, root) = (first.inside, first.at == root);
            return Finding::Duplicate(Twice { name: step.name, inside, first_inside, root });
        }
        let StepKind::Agent { meta, instance } = step.kind else {
            return Finding::None;
        };
        if matches!(meta.steps, []) && matches!(meta.transfer, []) {
            return Finding::None;
        }
        let mut inner = owner;
        if instance {
            self.owners += 1;
            inner = self.owners;
        }
        let mut i = 0;
        while i < meta.steps.len() {
            let found = self.step(&meta.steps[i], at, inner, step.name, root);
            if !matches!(found, Finding::None) {
                return found;
            }
            i += 1;
        }
        self.targets(meta, (step.name, inside.is_empty()), at, inner, root)
    }

    /// The first thing that is wrong with the agents that an agent may transfer to. A name that occurs twice in one
    /// nested workflow is reported where that is defined, so only what is `own` is compared with itself.
    const fn targets(
        &mut self,
        meta: &AgentMeta<'a>,
        (inside, own): (&'a str, bool),
        at: usize,
        owner: usize,
        root: usize,
    ) -> Finding<'a> {
        let mut i = 0;
        while i < meta.transfer.len() {
            let target = meta.transfer[i];
            if let Some(definition) = target.identity()
                && let Some(first) = self.insert(DEFINITION, definition, owner, inside, at)
                && (first.at != at || own)
            {
                let first_inside = first.inside;
                return Finding::Reused(Twice { name: target.name, inside, first_inside, root: false });
            }
            if let Some(first) = self.insert(NAME, hash(target.name), owner, inside, at)
                && (first.at != at || own)
            {
                let (first_inside, root) = (first.inside, first.at == root);
                return Finding::Duplicate(Twice { name: target.name, inside, first_inside, root });
            }
            let mut step = 0;
            while step < target.steps.len() {
                let found = self.step(&target.steps[step], at, owner, target.name, root);
                if !matches!(found, Finding::None) {
                    return found;
                }
                step += 1;
            }
            let found = self.targets(target, (target.name, own), at, owner, root);
            if !matches!(found, Finding::None) {
                return found;
            }
            i += 1;
        }
        Finding::None
    }
}

const fn is_reserved(name: &str) -> bool {
    same(name, "user") || same(name, "model")
}

/// How large the table has to be.
pub(super) const fn slots(spec: &Spec<'_>) -> usize {
    (4 * (count(spec.steps) + 1)).next_power_of_two()
}
