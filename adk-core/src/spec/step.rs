//! A workflow as a flat list of steps with end markers.

use super::{AgentMeta, KeySpec};

/// The whole of a workflow: `MyWorkflow::SPEC`.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Spec<'a> {
    /// The name of the workflow as an agent, in snake case.
    pub name: &'a str,
    /// Its doc comment.
    pub description: &'a str,
    /// What it takes, in order.
    pub inputs: &'a [InputSpec<'a>],
    /// Keys with an initial value.
    pub lets: &'a [KeySpec<'a>],
    /// Keys that the session already holds.
    pub states: &'a [KeySpec<'a>],
    /// What it gives, in order.
    pub outputs: &'a [KeySpec<'a>],
    /// Its body.
    pub steps: &'a [Step<'a>],
}

impl<'a> Spec<'a> {
    /// A workflow without keys.
    pub const fn new(name: &'a str, description: &'a str, steps: &'a [Step<'a>]) -> Self {
        Self { name, description, inputs: &[], lets: &[], states: &[], outputs: &[], steps }
    }

    /// What it takes.
    #[must_use]
    pub const fn inputs(mut self, inputs: &'a [InputSpec<'a>]) -> Self {
        self.inputs = inputs;
        self
    }

    /// Keys with an initial value.
    #[must_use]
    pub const fn lets(mut self, keys: &'a [KeySpec<'a>]) -> Self {
        self.lets = keys;
        self
    }

    /// Keys that the session already holds.
    #[must_use]
    pub const fn states(mut self, keys: &'a [KeySpec<'a>]) -> Self {
        self.states = keys;
        self
    }

    /// What it gives.
    #[must_use]
    pub const fn outputs(mut self, keys: &'a [KeySpec<'a>]) -> Self {
        self.outputs = keys;
        self
    }
}

/// An input of a workflow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[non_exhaustive]
pub struct InputSpec<'a> {
    /// The key.
    pub name: &'a str,
    /// The type as it was spelled.
    #[serde(rename = "type")]
    pub ty: &'a str,
    /// Whether the workflow has a value of its own for it.
    pub has_default: bool,
}

impl<'a> InputSpec<'a> {
    /// An input.
    pub const fn new(name: &'a str, ty: &'a str, has_default: bool) -> Self {
        Self { name, ty, has_default }
    }
}

/// One step. A block is its opening step, what stands inside, and [`StepKind::End`].
#[derive(Clone, Copy, Debug)]
pub struct Step<'a> {
    /// The name of the agent or block: the author of its events and its part of the path. Empty for markers.
    pub name: &'a str,
    /// What it is.
    pub kind: StepKind<'a>,
    /// The index of the matching [`StepKind::End`]; its own index for a step that is no block.
    pub end: usize,
    /// The doc comment of a named block.
    pub description: &'a str,
    /// Whether somebody chose the name; an unnamed block is called `kind_N`.
    pub named: bool,
}

/// What a step is.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum StepKind<'a> {
    /// Runs an agent.
    Agent {
        /// Its description.
        meta: &'a AgentMeta<'a>,
        /// Whether it is an instance of its own, by `as`.
        instance: bool,
    },
    /// One after the other.
    Sequence,
    /// Its branches at the same time.
    Parallel {
        /// The most branches that run at a time.
        max_concurrency: Option<u32>,
    },
    /// A branch of a parallel, an arm of a match.
    Branch,
    /// Repeats.
    Loop {
        /// The most rounds.
        max: Option<u32>,
        /// The `bool` key that ends it after a round.
        until: Option<&'a str>,
    },
    /// Ends the innermost loop, or the loop of that name.
    Break {
        /// The name of the loop.
        target: Option<&'a str>,
    },
    /// The end of a block.
    End,
}

impl<'a> Step<'a> {
    /// A step at `end`, or a block that ends there.
    pub const fn new(name: &'a str, kind: StepKind<'a>, end: usize) -> Self {
        Self { name, kind, end, description: "", named: !name.is_empty() }
    }

    /// What the block is for.
    #[must_use]
    pub const fn description(mut self, description: &'a str) -> Self {
        self.description = description;
        self
    }

    /// Says that nobody chose the name: it is exempt from `name-duplicate` across workflows.
    #[must_use]
    pub const fn unnamed(mut self) -> Self {
        self.named = false;
        self
    }
}
