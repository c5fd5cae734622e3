//! `name-duplicate`, `name-reserved`, `name-invalid`, `agent-reused`: one table of all names in the tree.

mod describe;

pub(super) use self::describe::{describe, describe_into, describe_step_name, describe_workflow_name};
use crate::hash::{hash, mixed};
use crate::spec::{AgentMeta, Spec, Step, StepKind};
use crate::text::same;

/// A name or a definition in the table.
///
/// NameTable inside of an instance, `second::critic`, are those of a table of its own: they have that instance as owner.
#[derive(Clone, Copy, Debug)]
pub(super) struct NameEntry<'a> {
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
pub(super) enum NameDiagnostic<'a> {
    None,
    Reserved,
    /// Two definitions of one name.
    Duplicate(NameClash<'a>),
    /// One definition clash.
    Reused(NameClash<'a>),
}

#[derive(Clone, Copy, Debug)]
pub(super) struct NameClash<'a> {
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
const fn count(steps: &[Step<'_>]) -> usize {
    let mut count = steps.len();
    each!(step in steps => {
        if let StepKind::Agent { meta, .. } = step.kind
            && !(matches!(meta.steps, []) && matches!(meta.transfer, []))
        {
            count += count_inside(meta);
        }
    });
    count
}

/// The same for what is inside of an agent: the steps of a workflow, and the agents that it may transfer to.
const fn count_inside(meta: &AgentMeta<'_>) -> usize {
    let mut count = self::count(meta.steps);
    each!(target in meta.transfer => { count += 1 + count_inside(target) });
    count
}

/// Fills the names, one per step of the workflow; whether there are none. `names_checked` says that the names of its own steps differ
/// and are none that are reserved, as the macro knows of most.
///
/// Free places of the table are `None`: const evaluation keeps a sorted list of all references in it, and goes through that
/// list whenever one is written.
pub(super) const fn find<'a>(
    spec: &Spec<'a>,
    table: &mut [Option<NameEntry<'a>>],
    diagnostics: &mut [NameDiagnostic<'a>],
    names_checked: bool,
) -> bool {
    if names_checked && count(spec.steps) == spec.steps.len() {
        return compare_definitions(spec.steps, table, diagnostics);
    }
    let root = spec.steps.len();
    let mask = table.len() - 1;
    let mut entries = NameTable { table, mask, owners: 0, root, built: spec.built };
    if !spec.name.is_empty() {
        let _ =
            entries.insert(NAME, hash(spec.name), NamePlace { at: root, owner: 0, inside: "", own: true });
    }
    let (mut at, mut clean) = (0, true);
    while at < root {
        let found = entries.check_step(&spec.steps[at], NamePlace { at, owner: 0, inside: "", own: true });
        if !matches!(found, NameDiagnostic::None) {
            (diagnostics[at], clean) = (found, false);
        }
        at += 1;
    }
    clean
}

/// The same for steps with nothing inside of them, whose names differ: only definitions are compared. Most workflows are made
/// of such steps, and each call takes its time.
const fn compare_definitions<'a>(
    mut steps: &[Step<'a>],
    table: &mut [Option<NameEntry<'a>>],
    diagnostics: &mut [NameDiagnostic<'a>],
) -> bool {
    let (mask, mut at, mut clean) = (table.len() - 1, 0, true);
    while let [step, rest @ ..] = steps {
        if let StepKind::Agent { meta, instance: false } = step.kind
            && let Some(definition) = meta.identity()
        {
            let mut slot = definition as usize & mask;
            loop {
                match &table[slot] {
                    None => break table[slot] = Some(NameEntry { hash: definition, inside: "", at }),
                    Some(there) if there.hash == definition => {
                        let clash = NameClash { name: step.name, inside: "", first_inside: "", root: false };
                        (diagnostics[at], clean) = (NameDiagnostic::Reused(clash), false);
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

struct NameTable<'t, 'a> {
    table: &'t mut [Option<NameEntry<'a>>],
    /// That of their number, which is a power of two.
    mask: usize,
    owners: usize,
    /// The number of the workflow itself: the one after the last step.
    root: usize,
    /// A tree that builders made: no macro has checked its names.
    built: bool,
}

#[derive(Clone, Copy)]
struct NamePlace<'a> {
    /// The step of the workflow that it is, or is inside of.
    at: usize,
    owner: usize,
    /// The nested workflow around it; empty for the workflow itself.
    inside: &'a str,
    /// Whether it is compared with names inside of the same step. A name that occurs clash in one nested workflow is
    /// reported where that is defined.
    own: bool,
}

impl<'a> NameTable<'_, 'a> {
    /// Adds an entry; the one that is there already.
    const fn insert(&mut self, what: u64, hash: u64, place: NamePlace<'a>) -> Option<NameEntry<'a>> {
        let hash = mixed(hash, 2 * place.owner as u64 + what);
        let mut slot = hash as usize & self.mask;
        while let Some(there) = &self.table[slot] {
            if there.hash == hash {
                return if there.at != place.at || place.own { Some(*there) } else { None };
            }
            slot = (slot + 1) & self.mask;
        }
        self.table[slot] = Some(NameEntry { hash, inside: place.inside, at: place.at });
        None
    }

    /// Adds a definition and a name, whose hash is 0 if there is none; what is wrong with them.
    const fn add(
        &mut self,
        name: &'a str,
        hash: u64,
        definition: Option<u64>,
        place: NamePlace<'a>,
    ) -> NameDiagnostic<'a> {
        let inside = place.inside;
        if let Some(definition) = definition
            && let Some(first) = self.insert(DEFINITION, definition, place)
        {
            return NameDiagnostic::Reused(NameClash {
                name,
                inside,
                first_inside: first.inside,
                root: false,
            });
        }
        if hash != 0
            && let Some(first) = self.insert(NAME, hash, place)
        {
            let root = first.at == self.root;
            return NameDiagnostic::Duplicate(NameClash { name, inside, first_inside: first.inside, root });
        }
        NameDiagnostic::None
    }

    /// The first thing that is wrong with a step or inside of it.
    const fn check_step(&mut self, step: &Step<'a>, place: NamePlace<'a>) -> NameDiagnostic<'a> {
        // Markers have no name.
        let name = match step.name.as_bytes() {
            [] => 0,
            _ => hash(step.name),
        };
        if (name == USER || name == MODEL) && (step.named || self.built) && place.inside.is_empty() {
            return NameDiagnostic::Reserved;
        }
        let definition = match step.kind {
            StepKind::Agent { meta, instance: false } => meta.identity(),
            _ => None,
        };
        let found = self.add(step.name, if step.named { name } else { 0 }, definition, place);
        let StepKind::Agent { meta, instance } = step.kind else { return found };
        if !matches!(found, NameDiagnostic::None) || matches!((meta.steps, meta.transfer), ([], [])) {
            return found;
        }
        let mut owner = place.owner;
        if instance {
            self.owners += 1;
            owner = self.owners;
        }
        self.check_inside(meta, NamePlace { owner, inside: step.name, ..place })
    }

    /// The first thing that is wrong inside of an agent: with the steps of a workflow, or with the agents that it may transfer to.
    const fn check_inside(&mut self, meta: &AgentMeta<'a>, place: NamePlace<'a>) -> NameDiagnostic<'a> {
        each!(step in meta.steps => {
            let found = self.check_step(step, NamePlace { own: false, ..place });
            if !matches!(found, NameDiagnostic::None) {
                return found;
            }
        });
        each!(target in meta.transfer => {
            let mut found = self.add(target.name, hash(target.name), target.identity(), place);
            if let NameDiagnostic::None = found {
                found = self.check_inside(target, NamePlace { inside: target.name, ..place });
            }
            if !matches!(found, NameDiagnostic::None) {
                return found;
            }
        });
        NameDiagnostic::None
    }
}

const fn is_reserved(name: &str) -> bool {
    same(name, "user") || same(name, "model")
}

/// How large the table has to be.
pub(super) const fn slots(spec: &Spec<'_>) -> usize {
    (4 * (count(spec.steps) + 1)).next_power_of_two()
}
