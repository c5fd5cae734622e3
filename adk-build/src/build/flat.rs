//! [`Flat`]: a tree as a flat list of steps, and its [`Spec`]. `workflow!` writes this data as a
//! const.

use super::item::{BlockKind, Item, Placed, TreeBlock};
use adk_core::__private::build::{Key, OwnedGuards, TreeRules, may_skip};
use adk_core::callback::AgentCallbacks;
use adk_core::spec::{AgentKind, AgentMeta, KeySpec, Spec, Step, StepKind};
use adk_core::{DynAgent, Name};
use self_cell::self_cell;
use std::sync::Arc;

/// A step that owns its agent or block.
pub(super) struct FlatStep {
    pub(super) name: Name,
    kind: FlatKind,
    end: usize,
}

enum FlatKind {
    Agent(Placed),
    Block(Arc<TreeBlock>),
    Branch,
    End,
}

/// The owned data of a spec.
pub(super) struct Flat {
    pub(super) name: Name,
    pub(super) steps: Vec<FlatStep>,
    pub(super) states: Vec<Key>,
    pub(super) lets: Vec<Key>,
    guards: Option<OwnedGuards>,
}

impl Flat {
    pub(super) fn new(
        root: &Item,
        states: Vec<Key>,
        lets: Vec<Key>,
        guards: Option<TreeRules>,
    ) -> Self {
        let mut steps = Vec::new();
        flatten(root, &mut steps);
        let name = steps
            .first()
            .map_or_else(Name::default, |step| step.name.clone());
        Self {
            name,
            steps,
            states,
            lets,
            guards: guards.map(OwnedGuards::new),
        }
    }

    pub(super) fn placed(&self, step: usize) -> Option<&Placed> {
        match &self.steps.get(step)?.kind {
            FlatKind::Agent(placed) => Some(placed),
            _ => None,
        }
    }

    pub(super) fn block(&self, step: usize) -> Option<&Arc<TreeBlock>> {
        match &self.steps.get(step)?.kind {
            FlatKind::Block(block) => Some(block),
            _ => None,
        }
    }

    pub(super) fn callbacks(&self, step: usize) -> Option<&AgentCallbacks> {
        self.block(step).map(|block| &block.callbacks)
    }

    /// Returns the position of a step in the config.
    pub(super) fn place(&self, step: usize) -> &str {
        match self.steps.get(step).map(|step| &step.kind) {
            Some(FlatKind::Agent(placed)) => &placed.place,
            Some(FlatKind::Block(block)) => &block.place,
            _ => "",
        }
    }

    /// Returns the last step of a block, or the step itself for an agent.
    pub(super) fn end(&self, step: usize) -> usize {
        self.steps.get(step).map_or(step, |step| step.end)
    }

    fn description(&self) -> &str {
        match self.steps.first().map(|step| &step.kind) {
            Some(FlatKind::Agent(placed)) => placed.meta().description,
            Some(FlatKind::Block(block)) => &block.description,
            _ => "",
        }
    }

    fn agents(&self) -> impl Iterator<Item = &AgentMeta<'_>> {
        (0..self.steps.len())
            .filter_map(|at| self.placed(at))
            .map(DynAgent::meta)
    }
}

fn flatten(item: &Item, steps: &mut Vec<FlatStep>) {
    let at = steps.len();
    match item {
        Item::Agent(placed) => {
            let name = Name::shared(placed.agent.meta().name);
            steps.push(FlatStep {
                name,
                kind: FlatKind::Agent(placed.clone()),
                end: at,
            });
        }
        Item::Block(block) => {
            steps.push(FlatStep {
                name: block.name.clone(),
                kind: FlatKind::Block(block.clone()),
                end: at,
            });
            for item in &block.items {
                let branch = steps.len();
                if matches!(block.kind, BlockKind::Parallel { .. }) {
                    steps.push(FlatStep {
                        name: Name::default(),
                        kind: FlatKind::Branch,
                        end: branch,
                    });
                    flatten(item, steps);
                    close(steps, branch);
                } else {
                    flatten(item, steps);
                }
            }
            close(steps, at);
        }
    }
}

fn close(steps: &mut Vec<FlatStep>, open: usize) {
    let end = steps.len();
    steps.push(FlatStep {
        name: Name::default(),
        kind: FlatKind::End,
        end,
    });
    if let Some(step) = steps.get_mut(open) {
        step.end = end;
    }
}

/// The lists to which a spec refers.
pub(super) struct SpecLists<'a> {
    steps: Vec<Step<'a>>,
    states: Vec<KeySpec<'a>>,
    lets: Vec<KeySpec<'a>>,
    reads: Vec<KeySpec<'a>>,
    writes: Vec<KeySpec<'a>>,
    exits: Vec<&'a str>,
}

/// The descriptions of a tree: as a workflow and as an agent.
pub(super) struct Views<'a> {
    pub(super) spec: Spec<'a>,
    pub(super) meta: AgentMeta<'a>,
}

self_cell!(
    pub(super) struct ListedTree {
        owner: Flat,
        #[covariant]
        dependent: SpecLists,
    }
);

self_cell!(
    pub(super) struct DescribedTree {
        owner: ListedTree,
        #[covariant]
        dependent: Views,
    }
);

/// Describes a tree.
pub(super) fn describe(flat: Flat) -> DescribedTree {
    let listed = ListedTree::new(flat, |flat| SpecLists {
        steps: flat
            .steps
            .iter()
            .enumerate()
            .map(|(at, step)| spec_of(at, step))
            .collect(),
        states: flat.states.iter().map(Key::spec).collect(),
        lets: flat.lets.iter().map(Key::spec).collect(),
        reads: flat.states.iter().map(Key::spec).collect(),
        writes: written_keys(flat),
        exits: flat
            .agents()
            .flat_map(|meta| meta.exits.iter().copied())
            .collect(),
    });
    DescribedTree::new(listed, |listed| {
        let (flat, lists) = (listed.borrow_owner(), listed.borrow_dependent());
        let guards = flat.guards.as_ref().map(OwnedGuards::get);
        let spec = Spec::new(&flat.name, flat.description(), &lists.steps)
            .built()
            .guards(guards)
            .states(&lists.states)
            .lets(&lists.lets);
        let meta = AgentMeta::new(AgentKind::Workflow, &flat.name)
            .description(flat.description())
            .reads(&lists.reads)
            .writes(&lists.writes)
            .may_exit(flat.agents().any(|meta| meta.may_exit))
            .exits(&lists.exits)
            .states(&lists.states)
            .lets(&lists.lets)
            .steps(&lists.steps)
            .guards(guards);
        Views { spec, meta }
    })
}

fn spec_of(at: usize, step: &FlatStep) -> Step<'_> {
    let spec = match &step.kind {
        FlatKind::Agent(placed) => Step::new(
            &step.name,
            StepKind::Agent {
                meta: placed.meta(),
                instance: false,
            },
            step.end,
        ),
        FlatKind::Block(block) => {
            let kind = match block.kind {
                BlockKind::Loop { max } => StepKind::Loop { max, until: None },
                BlockKind::Sequence => StepKind::Sequence,
                BlockKind::Parallel { max_concurrency } => StepKind::Parallel {
                    max_concurrency,
                    first: false,
                },
            };
            let spec = Step::new(&step.name, kind, step.end).description(&block.description);
            spec.skippable(may_skip(&block.callbacks))
        }
        FlatKind::Branch => Step::new("", StepKind::Branch, step.end),
        FlatKind::End => Step::new("", StepKind::End, step.end),
    };
    // The first step is the tree itself, and the spec holds its name.
    if at == 0 { spec.unnamed() } else { spec }
}

/// Returns the keys that agents of the tree write, each key once.
fn written_keys(flat: &Flat) -> Vec<KeySpec<'_>> {
    let mut all: Vec<KeySpec<'_>> = Vec::new();
    for key in flat.agents().flat_map(|meta| meta.writes) {
        if !all.iter().any(|other| other.name == key.name) {
            all.push(key.optional(true));
        }
    }
    all
}
