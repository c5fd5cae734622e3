//! The constructs of the language, and their relations in a workflow.

use crate::tree::*;
use adk_build::spec::{OnError, Over};
use std::collections::BTreeSet;

macro_rules! constructs {
    ($($construct:ident $name:literal,)*) => {
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Construct {
            $($construct,)*
        }

        impl Construct {
            pub const ALL: &[Self] = &[$(Self::$construct,)*];

            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$construct => $name,)*
                }
            }
        }
    };
}

constructs! {
    Function "function",
    Model "model",
    Out "Out",
    OptionalRead "optional read",
    Instance "instance",
    Exit "exit",
    ExitTo "exit NAME",
    Sequence "sequence",
    Parallel "parallel",
    First "parallel(first)",
    ParallelSkip "parallel(skip)",
    Match "match",
    Each "each",
    EachMax "each(max)",
    EachCut "each(cut)",
    EachSkip "each(skip)",
    SkipMax "each(skip(max))",
    LoopMax "loop(max)",
    LoopUntil "loop(until)",
    Break "break",
    BreakTo "break NAME",
    Try "try",
    Else "else",
    Before "before_agent",
    Workflow "workflow",
    WorkflowInstance "workflow instance",
    Default "input default",
    Await "await",
    AwaitDefault "await(default)",
    ToolRead "tool reads",
    ToolWrite "tool writes",
    ToolBoth "tool &mut",
    AgentTool "agent as tool",
    WorkflowTool "workflow as tool",
    Transfer "transfer",
    Toolset "toolset",
    User "user:",
    App "app:",
    Temp "temp:",
    State "state",
    Secret "secret",
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Relation {
    /// The first construct is directly inside the second.
    Inside,
    /// The first construct is directly before the second.
    Before,
    /// Both constructs are concurrent: branches of one block, elements of one list, or calls of one
    /// reply.
    Beside,
}

impl Relation {
    pub const ALL: &[Self] = &[Self::Inside, Self::Before, Self::Beside];
}

pub type Pair = (Relation, Construct, Construct);

/// The address of a node, and the part of the node.
pub type Place = (usize, u8);

pub fn place<T>(node: &T) -> Place {
    (std::ptr::from_ref(node).addr(), 0)
}

/// Returns the place of the tool of an agent.
pub fn tool_place(agent: &Agent) -> Place {
    (std::ptr::from_ref(agent).addr(), 1)
}

/// Returns the place of the toolset of an agent.
pub fn toolset_place(agent: &Agent) -> Place {
    (std::ptr::from_ref(agent).addr(), 2)
}

/// A step or a tool, with its constructs.
struct Unit {
    at: Place,
    is: Vec<Construct>,
}

/// Returns the pairs of a workflow whose two members have both run.
pub fn pairs(flow: &Flow, has_run: &dyn Fn(Place) -> bool) -> BTreeSet<Pair> {
    let mut found = Finder {
        has_run,
        pairs: BTreeSet::new(),
    };
    found.nodes(flow, &flow.body, &[]);
    found.pairs
}

struct Finder<'r> {
    has_run: &'r dyn Fn(Place) -> bool,
    pairs: BTreeSet<Pair>,
}

impl Finder<'_> {
    fn add(&mut self, relation: Relation, one: &Unit, other: &[Construct]) {
        if (self.has_run)(one.at) {
            let all = one
                .is
                .iter()
                .flat_map(|one| other.iter().map(move |other| (relation, *one, *other)));
            self.pairs.extend(all);
        }
    }

    fn add_both(&mut self, relation: Relation, one: &Unit, other: &Unit) {
        if (self.has_run)(other.at) {
            self.add(relation, one, &other.is);
        }
    }

    /// Adds the pairs of steps in sequence, inside the constructs `around`.
    fn nodes(&mut self, flow: &Flow, nodes: &[Node], around: &[Construct]) {
        let units: Vec<_> = nodes.iter().map(|node| self.node(flow, node)).collect();
        units
            .iter()
            .for_each(|unit| self.add(Relation::Inside, unit, around));
        let steps: Vec<_> = units
            .iter()
            .filter(|unit| !unit.is.contains(&Construct::Else))
            .collect();
        steps
            .windows(2)
            .for_each(|two| self.add_both(Relation::Before, two[0], two[1]));
        if around
            .iter()
            .any(|around| matches!(around, Construct::Each))
        {
            self.beside(&units, true);
        }
    }

    fn beside(&mut self, units: &[Unit], with_itself: bool) {
        for (at, one) in units.iter().enumerate() {
            for (other_at, other) in units.iter().enumerate() {
                if at != other_at || with_itself {
                    self.add_both(Relation::Beside, one, other);
                }
            }
        }
    }

    fn node(&mut self, flow: &Flow, node: &Node) -> Unit {
        match node {
            Node::Run(agent) => self.agent(flow, agent, None),
            Node::Nested(nested) => {
                let mut is = vec![Construct::Workflow];
                self.workflow(flow, nested, &mut is);
                Unit {
                    at: place(nested),
                    is,
                }
            }
            Node::Nothing => Unit {
                at: place(node),
                is: Vec::new(),
            },
            Node::Break(target) => {
                let is = if target.is_some() {
                    Construct::BreakTo
                } else {
                    Construct::Break
                };
                Unit {
                    at: place(node),
                    is: vec![is],
                }
            }
            Node::Block(block) => self.block(flow, block),
        }
    }

    fn workflow(&mut self, flow: &Flow, nested: &Nested, is: &mut Vec<Construct>) {
        let inner = &*nested.flow;
        if nested.name != inner.name || !nested.reads.is_empty() || !nested.writes.is_empty() {
            is.push(Construct::WorkflowInstance);
        }
        if inner.inputs.iter().any(|(_, default)| *default) {
            is.push(Construct::Default);
        }
        if !inner.states.is_empty() {
            is.push(Construct::State);
        }
        let inputs = inner.inputs.iter().map(|(key, _)| nested.read(key));
        keys(
            flow,
            inputs.chain(inner.outputs.iter().map(|key| nested.written(key))),
            is,
        );
        self.nodes(inner, &inner.body, is);
    }

    fn block(&mut self, flow: &Flow, block: &Block) -> Unit {
        let mut is = match block.kind {
            Kind::Sequence => vec![Construct::Sequence],
            Kind::Parallel { first, .. } => vec![if first {
                Construct::First
            } else {
                Construct::Parallel
            }],
            Kind::Match { .. } => vec![Construct::Match],
            Kind::Each { max, .. } => match max {
                None => vec![Construct::Each],
                Some((_, Over::Cut)) => vec![Construct::Each, Construct::EachCut],
                Some(_) => vec![Construct::Each, Construct::EachMax],
            },
            Kind::Loop { until: Some(_), .. } => vec![Construct::LoopUntil],
            Kind::Loop { .. } => vec![Construct::LoopMax],
            Kind::Try { .. } => vec![Construct::Try],
            Kind::Else => vec![Construct::Else],
        };
        match block.kind {
            Kind::Match { key } => keys(flow, [key], &mut is),
            Kind::Each { list, .. } => keys(flow, [list], &mut is),
            Kind::Loop { until, .. } => keys(flow, until, &mut is),
            _ => {}
        }
        if block.on_error.skips() {
            let is_each = matches!(block.kind, Kind::Each { .. });
            is.push(if is_each {
                Construct::EachSkip
            } else {
                Construct::ParallelSkip
            });
            if let OnError::SkipAtMost(_) = block.on_error {
                is.push(Construct::SkipMax);
            }
        }
        if block.skippable {
            is.push(Construct::Before);
        }
        match block.kind {
            Kind::Parallel { .. } | Kind::Match { .. } => {
                let units: Vec<_> = block
                    .inside
                    .iter()
                    .map(|node| self.node(flow, node))
                    .collect();
                units
                    .iter()
                    .for_each(|unit| self.add(Relation::Inside, unit, &is));
                if let Kind::Parallel { .. } = block.kind {
                    self.beside(&units, false);
                }
            }
            _ => self.nodes(flow, &block.inside, &is),
        }
        Unit {
            at: place(block),
            is,
        }
    }

    fn agent(&mut self, flow: &Flow, agent: &Agent, role: Option<Construct>) -> Unit {
        let kind = match agent.patience {
            Some(Patience::Default) => Construct::AwaitDefault,
            Some(_) => Construct::Await,
            None if agent.model => Construct::Model,
            None => Construct::Function,
        };
        let mut is = vec![kind];
        is.extend(role);
        let mut is_if = |construct, holds: bool| is.extend(holds.then_some(construct));
        is_if(
            Construct::Out,
            agent.writes.iter().any(|write| write.perhaps),
        );
        is_if(
            Construct::OptionalRead,
            agent.reads.iter().any(|read| read.optional && !read.tool),
        );
        let mut owns = agent
            .reads
            .iter()
            .map(|read| read.own)
            .chain(agent.writes.iter().map(|write| write.own));
        is_if(
            Construct::Instance,
            role.is_none() && owns.any(|own| own.is_some()),
        );
        is_if(Construct::Exit, agent.exit);
        is_if(Construct::ExitTo, !agent.leaves.is_empty());
        let reads = agent
            .reads
            .iter()
            .filter(|read| !read.tool)
            .map(|read| read.key);
        keys(
            flow,
            reads.chain(agent.writes.iter().map(|write| write.key)),
            &mut is,
        );
        let mut called = Vec::new();
        if !agent.tools.is_empty() {
            called.push(tool(flow, agent));
        }
        if agent.toolset {
            called.push(Unit {
                at: toolset_place(agent),
                is: vec![Construct::Toolset],
            });
        }
        for helper in &agent.helpers {
            called.push(self.agent(flow, helper, Some(Construct::AgentTool)));
        }
        for nested in &agent.flows {
            let mut is = vec![Construct::WorkflowTool];
            self.workflow(flow, nested, &mut is);
            called.push(Unit {
                at: place(nested),
                is,
            });
        }
        called
            .iter()
            .for_each(|unit| self.add(Relation::Inside, unit, &is));
        self.beside(&called, true);
        for target in &agent.targets {
            let unit = self.agent(flow, target, Some(Construct::Transfer));
            self.add(Relation::Inside, &unit, &is);
        }
        Unit {
            at: place(agent),
            is,
        }
    }
}

fn tool(flow: &Flow, agent: &Agent) -> Unit {
    let mut is = Vec::new();
    let reads: Vec<_> = agent.reads.iter().filter(|read| read.tool).collect();
    let is_written = |read: &&Read| agent.tools.iter().any(|write| write.own() == read.own());
    if reads.iter().any(is_written) {
        is.push(Construct::ToolBoth);
    }
    if reads.iter().any(|read| !is_written(read)) {
        is.push(Construct::ToolRead);
    }
    if agent
        .tools
        .iter()
        .any(|write| reads.iter().all(|read| read.own() != write.own()))
    {
        is.push(Construct::ToolWrite);
    }
    let all = reads
        .iter()
        .map(|read| read.key)
        .chain(agent.tools.iter().map(|write| write.key));
    keys(flow, all, &mut is);
    Unit {
        at: tool_place(agent),
        is,
    }
}

/// Adds the constructs of these keys.
fn keys(flow: &Flow, keys: impl IntoIterator<Item = Key>, is: &mut Vec<Construct>) {
    for key in keys {
        let construct = match key.split_once(':') {
            Some(("user", _)) => Construct::User,
            Some(("app", _)) => Construct::App,
            Some(("temp", _)) => Construct::Temp,
            _ if flow.states.contains(&key) => Construct::State,
            _ if is_secret(key) => Construct::Secret,
            _ => continue,
        };
        if !is.contains(&construct) {
            is.push(construct);
        }
    }
}
