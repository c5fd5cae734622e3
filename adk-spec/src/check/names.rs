//! `name-duplicate`, `name-reserved`, `name-invalid`, `agent-reused`: one table of all names in the
//! tree.

mod describe;

pub(super) use self::describe::{
    describe, describe_into, describe_step_name, describe_workflow_name,
};
use crate::hash::{hash, mixed};
use crate::spec::{AgentKind, AgentMeta, Spec, Step, StepKind, ToolMeta};
use crate::text::same;

/// A name or a definition in the table of names.
///
/// Names inside an instance, such as `second::critic`, have that instance as their owner, so they
/// never collide with names outside of it.
#[derive(Clone, Copy, Debug)]
pub(super) struct NameEntry<'a> {
    /// Hash of the name or definition, and of its owner.
    hash: u64,
    /// The nested workflow around the entry; empty for the workflow itself.
    inside: &'a str,
    /// The step of the workflow that is, or contains, the entry.
    at: usize,
}

/// Marks the hash of a name.
const NAME: u64 = 0;
/// Marks the hash of a definition that is placed without `as`.
const DEFINITION: u64 = 1;

const USER: u64 = hash("user");
const MODEL: u64 = hash("model");

/// An error in the name of a step, or in a name inside it.
#[derive(Clone, Copy, Debug)]
pub(super) enum NameDiagnostic<'a> {
    None,
    Reserved,
    /// Two definitions have the same name.
    Duplicate(NameClash<'a>),
    /// One definition is placed twice.
    Reused(NameClash<'a>),
}

#[derive(Clone, Copy, Debug)]
pub(super) struct NameClash<'a> {
    name: &'a str,
    /// The nested workflow around the second use; empty when the step itself is the second use.
    inside: &'a str,
    /// The nested workflow around the first use.
    first_inside: &'a str,
    /// The agent that is a tool and hands over to the second use; empty outside of tools.
    tool: &'a str,
    /// Whether the first use is the name of the workflow itself.
    root: bool,
}

/// Returns an upper bound of the number of names in a list of steps, nested workflows included.
/// Unnamed steps count too, because a check whether a name is empty would cost more than a larger
/// table.
const fn count(steps: &[Step<'_>]) -> usize {
    let mut count = steps.len();
    each!(step in steps => {
        if let StepKind::Agent { meta, .. } = step.kind
            && !matches!((meta.steps, meta.transfer, meta.tools), ([], [], []))
        {
            count += count_inside(meta);
        }
    });
    count
}

/// Returns the number of names inside an agent: in the steps of a workflow, and among the agents
/// that it may transfer to and that its tools may transfer to.
const fn count_inside(meta: &AgentMeta<'_>) -> usize {
    let mut count = self::count(meta.steps);
    each!(target in meta.transfer => { count += 1 + count_inside(target) });
    each!(tool in meta.tools => {
        if let Some(agent) = checked_tool(tool) {
            count += 1 + count_inside(agent);
        }
    });
    count
}

/// Returns the agent that is a tool, if the names below it are checked here. The names in a
/// workflow are checked where the workflow is defined.
const fn checked_tool<'a>(tool: &ToolMeta<'a>) -> Option<&'a AgentMeta<'a>> {
    match tool.agent {
        Some(agent)
            if !matches!(agent.kind, AgentKind::Workflow)
                && !matches!((agent.transfer, agent.tools), ([], [])) =>
        {
            Some(agent)
        }
        _ => None,
    }
}

/// Fills the diagnostics, one per step of the workflow. Returns whether there are none.
///
/// `names_checked` is true if the macro has checked the names of the workflow's own steps: they
/// differ, and none is reserved. Free slots of the table are `None`, because const evaluation keeps
/// a sorted list of all references in the table and traverses that list on every write.
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
    let mut entries = NameTable {
        table,
        mask,
        owners: 0,
        root,
        built: spec.built,
    };
    if !spec.name.is_empty() {
        let _ = entries.insert(
            NAME,
            hash(spec.name),
            NamePlace {
                at: root,
                owner: 0,
                inside: "",
                tool: "",
                own: true,
            },
        );
    }
    let (mut at, mut clean) = (0, true);
    while at < root {
        let found = entries.check_step(
            &spec.steps[at],
            NamePlace {
                at,
                owner: 0,
                inside: "",
                tool: "",
                own: true,
            },
        );
        if !matches!(found, NameDiagnostic::None) {
            (diagnostics[at], clean) = (found, false);
        }
        at += 1;
    }
    clean
}

/// Compares only the definitions of steps with nothing inside them. Most workflows consist of such
/// steps, and in const evaluation each call costs time.
const fn compare_definitions<'a>(
    mut steps: &[Step<'a>],
    table: &mut [Option<NameEntry<'a>>],
    diagnostics: &mut [NameDiagnostic<'a>],
) -> bool {
    let (mask, mut at, mut clean) = (table.len() - 1, 0, true);
    while let [step, rest @ ..] = steps {
        if let StepKind::Agent {
            meta,
            instance: false,
        } = step.kind
            && let Some(definition) = meta.identity()
        {
            let mut slot = definition as usize & mask;
            loop {
                match &table[slot] {
                    None => {
                        break table[slot] = Some(NameEntry {
                            hash: definition,
                            inside: "",
                            at,
                        });
                    }
                    Some(there) if there.hash == definition => {
                        let clash = NameClash {
                            name: step.name,
                            inside: "",
                            first_inside: "",
                            tool: "",
                            root: false,
                        };
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
    /// Number of slots minus 1. The number of slots is a power of two.
    mask: usize,
    owners: usize,
    /// The index that marks the workflow itself, in place of a step: one past the last step.
    root: usize,
    /// Whether builders made the tree, so that no macro has checked its names.
    built: bool,
}

#[derive(Clone, Copy)]
struct NamePlace<'a> {
    /// The step of the workflow that is, or contains, the named step.
    at: usize,
    owner: usize,
    /// The nested workflow around the named step; empty for the workflow itself.
    inside: &'a str,
    /// The agent that is a tool and hands over to the named agent; empty outside of tools.
    tool: &'a str,
    /// Whether the name is compared with names inside the same step. A name that occurs twice in
    /// one nested workflow is reported at the definition of that workflow.
    own: bool,
}

impl<'a> NameTable<'_, 'a> {
    /// Adds an entry. Returns the existing entry that it collides with, if there is one.
    const fn insert(
        &mut self,
        what: u64,
        hash: u64,
        place: NamePlace<'a>,
    ) -> Option<NameEntry<'a>> {
        let hash = mixed(hash, 2 * place.owner as u64 + what);
        let mut slot = hash as usize & self.mask;
        while let Some(there) = &self.table[slot] {
            if there.hash == hash {
                return if there.at != place.at || place.own {
                    Some(*there)
                } else {
                    None
                };
            }
            slot = (slot + 1) & self.mask;
        }
        self.table[slot] = Some(NameEntry {
            hash,
            inside: place.inside,
            at: place.at,
        });
        None
    }

    /// Adds a definition and its name to the table, and returns their error. A hash of 0 means that
    /// there is no name.
    const fn add(
        &mut self,
        name: &'a str,
        hash: u64,
        definition: Option<u64>,
        place: NamePlace<'a>,
    ) -> NameDiagnostic<'a> {
        let NamePlace { inside, tool, .. } = place;
        if let Some(definition) = definition
            && let Some(first) = self.insert(DEFINITION, definition, place)
        {
            return NameDiagnostic::Reused(NameClash {
                name,
                inside,
                first_inside: first.inside,
                tool,
                root: false,
            });
        }
        if hash != 0
            && let Some(first) = self.insert(NAME, hash, place)
        {
            let root = first.at == self.root;
            return NameDiagnostic::Duplicate(NameClash {
                name,
                inside,
                first_inside: first.inside,
                tool,
                root,
            });
        }
        NameDiagnostic::None
    }

    /// Returns the first error of a step, or of anything inside it.
    const fn check_step(&mut self, step: &Step<'a>, place: NamePlace<'a>) -> NameDiagnostic<'a> {
        // Markers have no name.
        let name = match step.name.as_bytes() {
            [] => 0,
            _ => hash(step.name),
        };
        if (name == USER || name == MODEL) && (step.named || self.built) && place.inside.is_empty()
        {
            return NameDiagnostic::Reserved;
        }
        let definition = match step.kind {
            StepKind::Agent {
                meta,
                instance: false,
            } => meta.identity(),
            _ => None,
        };
        let found = self.add(
            step.name,
            if step.named { name } else { 0 },
            definition,
            place,
        );
        let StepKind::Agent { meta, instance } = step.kind else {
            return found;
        };
        if !matches!(found, NameDiagnostic::None)
            || matches!((meta.steps, meta.transfer, meta.tools), ([], [], []))
        {
            return found;
        }
        let mut owner = place.owner;
        if instance {
            self.owners += 1;
            owner = self.owners;
        }
        self.check_inside(
            meta,
            NamePlace {
                owner,
                inside: step.name,
                ..place
            },
        )
    }

    /// Returns the first error inside an agent: in the steps of a workflow, or among the agents
    /// that it may transfer to.
    const fn check_inside(
        &mut self,
        meta: &AgentMeta<'a>,
        place: NamePlace<'a>,
    ) -> NameDiagnostic<'a> {
        each!(step in meta.steps => {
            let found = self.check_step(step, NamePlace { own: false, ..place });
            if !matches!(found, NameDiagnostic::None) {
                return found;
            }
        });
        each!(target in meta.transfer => {
            let mut found = self.add(target.name, hash(target.name), target.identity(), place);
            if let NameDiagnostic::None = found {
                let mut owner = place.owner;
                // The names inside a declared workflow are its own, as in an instance.
                if matches!(target.kind, AgentKind::Workflow) && !self.built {
                    self.owners += 1;
                    owner = self.owners;
                }
                let inside = NamePlace { owner, inside: target.name, ..place };
                found = self.check_inside(target, inside);
            }
            if !matches!(found, NameDiagnostic::None) {
                return found;
            }
        });
        self.check_tools(meta, place)
    }

    /// Returns the first error among the agents that the tools of an agent may transfer to. An
    /// agent that is a tool runs on its own, so its names are compared only with each other.
    const fn check_tools(
        &mut self,
        meta: &AgentMeta<'a>,
        place: NamePlace<'a>,
    ) -> NameDiagnostic<'a> {
        each!(tool in meta.tools => {
            if let Some(agent) = checked_tool(tool) {
                self.owners += 1;
                let place = NamePlace {
                    owner: self.owners,
                    inside: agent.name,
                    tool: agent.name,
                    ..place
                };
                let _ = self.insert(NAME, hash(agent.name), place);
                let found = self.check_inside(agent, place);
                if !matches!(found, NameDiagnostic::None) {
                    return found;
                }
            }
        });
        NameDiagnostic::None
    }
}

const fn is_reserved(name: &str) -> bool {
    same(name, "user") || same(name, "model")
}

/// Returns the size of the hash table of names.
pub(super) const fn slots(spec: &Spec<'_>) -> usize {
    (4 * (count(spec.steps) + 1)).next_power_of_two()
}
