//! The impossible pairs, and the reasons.

use super::construct::Construct::*;
use super::construct::Relation::{self, Before as Ahead, Beside, Inside};
use super::construct::{Construct, Pair};
use crate::tree::*;
use adk_build::spec::OnError;
use std::sync::Arc;

/// The reason why a pair is impossible.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    /// The check of this name refuses the pair.
    Check(&'static str),
    /// The grammar does not allow the pair.
    Syntax,
    /// The pair compiles, but one member never runs.
    NeverRuns,
}

pub struct Row {
    relation: Relation,
    one: &'static [Construct],
    other: &'static [Construct],
    pub why: Why,
    pub note: &'static str,
}

const ALL: &[Construct] = Construct::ALL;
const LEAVES: &[Construct] = &[
    Function,
    Out,
    ExitTo,
    Break,
    BreakTo,
    Await,
    AwaitDefault,
    ToolRead,
    ToolWrite,
    ToolBoth,
    Toolset,
];
const CALLED: &[Construct] = &[
    ToolRead,
    ToolWrite,
    ToolBoth,
    AgentTool,
    WorkflowTool,
    Transfer,
    Toolset,
];
const BLOCKS: &[Construct] = &[
    Sequence,
    Parallel,
    First,
    ParallelSkip,
    Match,
    Each,
    EachMax,
    EachCut,
    EachSkip,
    SkipMax,
    LoopMax,
    LoopUntil,
    Try,
    Else,
    Before,
];
const STEPS: &[Construct] = &[
    Sequence,
    Parallel,
    First,
    ParallelSkip,
    Match,
    Each,
    EachMax,
    EachCut,
    EachSkip,
    SkipMax,
    LoopMax,
    LoopUntil,
    Try,
    Else,
    Before,
    Break,
    BreakTo,
    Workflow,
    Await,
    AwaitDefault,
    Instance,
];
const AGENTS: &[Construct] = &[Model, OptionalRead, Instance, Exit, AgentTool, Transfer];
const WORKFLOWS: &[Construct] = &[Workflow, WorkflowInstance, Default, WorkflowTool, Secret];

const ROWS: &[Row] = &[
    Row::new(Inside, ALL, LEAVES, Why::Syntax, "nothing is inside of it"),
    Row::new(
        Inside,
        CALLED,
        BLOCKS,
        Why::Syntax,
        "it belongs to an agent",
    ),
    Row::new(
        Inside,
        CALLED,
        WORKFLOWS,
        Why::Syntax,
        "it belongs to an agent",
    ),
    Row::new(
        Inside,
        STEPS,
        AGENTS,
        Why::Syntax,
        "a step is inside of a block or a workflow",
    ),
    Row::new(Inside, &[Else], ALL, Why::Syntax, "it belongs to a `try`"),
    Row::new(
        Inside,
        &[Exit, ExitTo, Break, BreakTo],
        WORKFLOWS,
        Why::Check("exit-outside-loop"),
        "no exit leaves a workflow",
    ),
    Row::new(
        Inside,
        &[Await, AwaitDefault],
        &[WorkflowTool],
        Why::Check("wait-in-tool"),
        "nothing waits in a tool",
    ),
    Row::new(
        Ahead,
        CALLED,
        ALL,
        Why::Syntax,
        "what a model may call has no order",
    ),
    Row::new(
        Ahead,
        ALL,
        CALLED,
        Why::Syntax,
        "what a model may call has no order",
    ),
    Row::new(
        Ahead,
        &[Else],
        ALL,
        Why::Syntax,
        "an `else` is the end of its `try`",
    ),
    Row::new(
        Ahead,
        ALL,
        &[Else],
        Why::Syntax,
        "an `else` follows a failure, and no step",
    ),
    Row::new(
        Ahead,
        &[Break, BreakTo],
        ALL,
        Why::NeverRuns,
        "a `break` jumps over it",
    ),
    Row::new(
        Beside,
        &[Else],
        ALL,
        Why::Syntax,
        "an `else` runs by itself",
    ),
    Row::new(
        Beside,
        ALL,
        &[Else],
        Why::Syntax,
        "an `else` runs by itself",
    ),
    Row::new(
        Beside,
        &[Transfer],
        ALL,
        Why::Syntax,
        "who hands over has ended",
    ),
    Row::new(
        Beside,
        ALL,
        &[Transfer],
        Why::Syntax,
        "who hands over has ended",
    ),
    Row::new(Beside, CALLED, STEPS, Why::Syntax, "a step is no tool"),
    Row::new(Beside, STEPS, CALLED, Why::Syntax, "a step is no tool"),
];

/// Exceptions of the rows: pairs that are possible after all.
fn is_possible((relation, one, other): Pair) -> bool {
    match relation {
        Inside => one == Else && matches!(other, Try | Before),
        Ahead | Beside => false,
    }
}

impl Row {
    const fn new(
        relation: Relation,
        one: &'static [Construct],
        other: &'static [Construct],
        why: Why,
        note: &'static str,
    ) -> Self {
        Self {
            relation,
            one,
            other,
            why,
            note,
        }
    }

    /// Formats the pairs of the row.
    pub fn text(&self) -> String {
        let list = |all: &[Construct]| {
            if all.len() == ALL.len() {
                return "all".to_owned();
            }
            all.iter()
                .map(|one| one.name())
                .collect::<Vec<_>>()
                .join(", ")
        };
        let why = match self.why {
            Why::Check(check) => format!("check `{check}`"),
            Why::Syntax => "check `syntax`".to_owned(),
            Why::NeverRuns => "never runs".to_owned(),
        };
        format!(
            "{:?} | {} | {} | {why}: {}",
            self.relation,
            list(self.one),
            list(self.other),
            self.note
        )
    }
}

/// Returns all rows.
pub fn rows() -> &'static [Row] {
    ROWS
}

/// Returns the row of an impossible pair.
pub fn row_of(pair: Pair) -> Option<&'static Row> {
    let (relation, one, other) = pair;
    let mut rows = ROWS.iter();
    let row = rows.find(|row| {
        row.relation == relation && row.one.contains(&one) && row.other.contains(&other)
    });
    row.filter(|_| !is_possible(pair))
}

/// Builds the smallest step with a construct.
fn step(one: Construct) -> Node {
    let agent = Agent {
        name: "a1".into(),
        ..Agent::default()
    };
    let writes = vec![crate::tree::Write {
        key: "k1",
        own: None,
        perhaps: false,
    }];
    match one {
        Exit => Node::Run(Agent {
            exit: true,
            ..agent
        }),
        ExitTo => Node::Run(Agent {
            leaves: vec!["l1".into()],
            ..agent
        }),
        Break => Node::Break(None),
        BreakTo => Node::Break(Some("l1".into())),
        Await => Node::Run(Agent {
            patience: Some(Patience::Endless),
            writes,
            ..agent
        }),
        _ => Node::Run(Agent {
            patience: Some(Patience::Default),
            writes,
            ..agent
        }),
    }
}

/// Builds the smallest workflow with a pair that a check refuses.
pub fn example((_, one, other): Pair) -> Flow {
    let mut flow = Flow {
        name: "flow".into(),
        body: vec![step(one)],
        ..Flow::default()
    };
    let mut inputs = Vec::new();
    match other {
        Default => flow.inputs.push(("k2", true)),
        Secret => {
            flow.inputs.push(("x1", false));
            inputs.push(("x1", false));
        }
        _ => {}
    }
    let name = if other == WorkflowInstance {
        "second"
    } else {
        "flow"
    };
    let nested = Nested {
        name: name.into(),
        flow: Arc::new(flow),
        reads: Vec::new(),
        writes: Vec::new(),
    };
    let inside = if other == WorkflowTool {
        Node::Run(Agent {
            name: "a3".into(),
            model: true,
            flows: vec![nested],
            ..Agent::default()
        })
    } else {
        Node::Nested(nested)
    };
    let kind = Kind::Loop {
        max: Some(1),
        until: None,
    };
    let around = Block {
        name: "l1".into(),
        kind,
        inside: vec![inside],
        skippable: false,
        on_error: OnError::Fail,
        spelled: false,
    };
    Flow {
        name: "root".into(),
        inputs,
        body: vec![Node::Block(around)],
        ..Flow::default()
    }
}
