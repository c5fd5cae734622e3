//! What a [`Spec::nodes`](crate::spec::Spec::nodes) is made of.

use super::reads;
use crate::spec::{
    Accepts, AgentKind, AgentMeta, AnsweredBy, Attempts, KeySpec, OnError, Over, Renames, Step, StepKind,
    ToolMeta, ValueSchema,
};
use std::borrow::Cow;

/// A node of a workflow: the workflow itself, an agent, or a block.
#[derive(Clone, Debug, serde::Serialize)]
#[non_exhaustive]
pub struct Node<'a> {
    /// What it is.
    pub kind: NodeKind,
    /// Its name; inside of an instance with the prefix of it, `second::critic`. Empty for a `break` and an arm.
    pub name: Cow<'a, str>,
    /// The name of the definition of an agent: another one than its own when it is an instance.
    pub definition: &'a str,
    /// Its doc comment.
    pub description: &'a str,
    /// The node around it, by its place among [`Spec::nodes`](crate::spec::Spec::nodes).
    pub parent: Option<usize>,
    /// The nodes in it, and the agents that it may transfer to.
    pub children: Vec<usize>,
    /// How many nodes are around it.
    pub depth: usize,
    /// The keys that an agent reads, in parameters and in prompts; a prompt takes any value.
    pub reads: Cow<'a, [KeySpec<'a>]>,
    /// The keys that an agent writes.
    pub writes: Cow<'a, [KeySpec<'a>]>,
    /// The keys of an instance that are not those of its definition.
    pub renames: Renames<'a>,
    /// Its prompts.
    pub prompts: &'a [&'a str],
    /// Its tools.
    pub tools: &'a [ToolMeta<'a>],
    /// The most rounds of a loop, or elements of an each.
    pub max: Option<u32>,
    /// What becomes of a list with more elements than `max`.
    pub over: Over,
    /// The key that ends a loop after a round.
    pub until: Option<&'a str>,
    /// What becomes of a parallel or an each when a part of it fails.
    pub on_error: OnError,
    /// The most branches of a parallel, or elements of an each, at a time.
    pub max_concurrency: Option<u32>,
    /// Whether the first branch of a parallel that finishes wins.
    pub first: bool,
    /// How often and how long a try runs its steps.
    pub attempts: Option<Attempts>,
    /// The key that selects the arm of a match.
    pub key: Option<&'a str>,
    /// The pattern of an arm, with its guard.
    pub pattern: Option<&'a str>,
    /// The key of the element of an each.
    pub item: Option<&'a str>,
    /// The key of the list of an each.
    pub list: Option<&'a str>,
    /// The most model calls of one turn of an agent.
    pub max_turns: Option<u32>,
    /// Whether an agent may end a loop.
    pub may_exit: bool,
    /// The loop that a `break` ends, or that an agent may end by name.
    pub exits: Cow<'a, [&'a str]>,
    /// Whether it is an instance of its own, by `as`.
    pub instance: bool,
    /// Whether it is no step, but an agent that the one around it may transfer to.
    pub transfer: bool,
    /// Whether the name is from the source.
    pub named: bool,
    /// The keys to which a workflow gives a value when it starts, inputs among them.
    #[serde(skip)]
    pub begins: Vec<KeySpec<'a>>,
    /// The keys of the session that a workflow needs.
    #[serde(skip)]
    pub states: &'a [KeySpec<'a>],
    /// Who may answer an `await`; `None` for the user who began the run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by: Option<AnsweredBy<&'a str>>,
    /// Says what is wrong with a value that an `await` is answered with.
    #[serde(skip)]
    pub accepts: Option<Accepts>,
    /// The schema of the value that a model or a person gives.
    #[serde(skip)]
    pub schema: Option<ValueSchema>,
}

/// What a [`Node`] is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NodeKind {
    /// The workflow, or one inside of it.
    Workflow,
    /// An agent that asks a language model.
    Llm,
    /// A function.
    Function,
    /// An `impl Agent` by hand.
    Custom,
    /// Waits for a value from outside.
    Await,
    /// One after the other.
    Sequence,
    /// At the same time.
    Parallel,
    /// Runs the arm that a key selects.
    Match,
    /// An arm of a match.
    Arm,
    /// Runs once per element of a list.
    Each,
    /// Repeats.
    Loop,
    /// Runs its steps again when they fail.
    Try,
    /// What runs when all attempts of a try have failed.
    Else,
    /// Ends a loop.
    Break,
}

impl From<AgentKind> for NodeKind {
    fn from(kind: AgentKind) -> Self {
        match kind {
            AgentKind::Llm => Self::Llm,
            AgentKind::Function => Self::Function,
            AgentKind::Workflow => Self::Workflow,
            AgentKind::Custom => Self::Custom,
            AgentKind::Await => Self::Await,
        }
    }
}

impl<'a> Node<'a> {
    pub(super) fn new(kind: NodeKind, name: Cow<'a, str>) -> Self {
        Self {
            kind,
            name,
            definition: "",
            description: "",
            parent: None,
            children: Vec::new(),
            depth: 0,
            reads: Cow::Borrowed(&[]),
            writes: Cow::Borrowed(&[]),
            renames: Renames::NONE,
            prompts: &[],
            tools: &[],
            max: None,
            over: Over::Fail,
            on_error: OnError::Fail,
            until: None,
            max_concurrency: None,
            first: false,
            attempts: None,
            key: None,
            pattern: None,
            item: None,
            list: None,
            max_turns: None,
            may_exit: false,
            exits: Cow::Borrowed(&[]),
            instance: false,
            transfer: false,
            named: true,
            begins: Vec::new(),
            states: &[],
            by: None,
            accepts: None,
            schema: None,
        }
    }

    pub(super) fn agent(name: Cow<'a, str>, meta: &'a AgentMeta<'a>, renames: Renames<'a>) -> Self {
        Self {
            definition: meta.name,
            description: meta.description,
            reads: reads::agent_reads(meta, renames),
            writes: reads::written_keys(meta, renames),
            renames,
            prompts: meta.prompts,
            tools: meta.tools,
            max_turns: meta.max_turns,
            may_exit: meta.may_exit,
            exits: Cow::Borrowed(meta.exits),
            begins: meta.begins(),
            states: meta.states,
            by: meta.by,
            accepts: meta.accepts,
            schema: meta.schema,
            ..Self::new(meta.kind.into(), name)
        }
    }

    /// The step without names of agents inside; `None` for a marker.
    pub(super) fn step(step: &Step<'a>, name: Cow<'a, str>) -> Option<Self> {
        let block = |kind, name| Self {
            description: step.description,
            named: step.named,
            on_error: step.on_error,
            ..Self::new(kind, name)
        };
        Some(match step.kind {
            StepKind::Agent { meta, instance } => {
                let agent = Self::agent(name, meta, step.renames);
                let description =
                    if meta.description.is_empty() { step.description } else { meta.description };
                Self { instance, named: step.named, description, ..agent }
            }
            StepKind::Sequence => block(NodeKind::Sequence, name),
            StepKind::Parallel { max_concurrency, first } => {
                Self { max_concurrency, first, ..block(NodeKind::Parallel, name) }
            }
            StepKind::Match { key } => Self { key: Some(key), ..block(NodeKind::Match, name) },
            StepKind::Arm { pattern } => {
                Self { pattern: Some(pattern), named: true, ..block(NodeKind::Arm, name) }
            }
            StepKind::Each { item, list, max, over, max_concurrency } => {
                let (item, list) = (Some(item), Some(list));
                Self { item, list, max, over, max_concurrency, ..block(NodeKind::Each, name) }
            }
            StepKind::Loop { max, until } => Self { max, until, ..block(NodeKind::Loop, name) },
            StepKind::Try(attempts) => Self { attempts: Some(attempts), ..block(NodeKind::Try, name) },
            StepKind::Else => Self { named: true, ..block(NodeKind::Else, name) },
            StepKind::Break { target } => {
                Self { exits: target.into_iter().collect(), named: true, ..block(NodeKind::Break, name) }
            }
            StepKind::Branch | StepKind::End => return None,
        })
    }
}
