//! [`Node`]: the elements of [`Spec::nodes`](crate::spec::Spec::nodes).

use super::reads;
use crate::spec::{
    Accepts, AgentKind, AgentMeta, AnsweredBy, Attempts, KeySpec, OnError, Over, Renames, Step,
    StepKind, ToolMeta, ValueSchema,
};
use std::borrow::Cow;

/// A node of a workflow: the workflow itself, an agent, or a block.
#[derive(Clone, Debug, serde::Serialize)]
#[non_exhaustive]
pub struct Node<'a> {
    /// The kind of the node.
    pub kind: NodeKind,
    /// The name. Inside an instance, the name has the prefix of the instance: `second::critic`. A
    /// `break` and an arm have an empty name.
    pub name: Cow<'a, str>,
    /// The name of an agent's definition. An instance has a different name than its definition.
    pub definition: &'a str,
    /// The doc comment.
    pub description: &'a str,
    /// The index of the enclosing node in [`Spec::nodes`](crate::spec::Spec::nodes).
    pub parent: Option<usize>,
    /// The nodes inside, and the agents that the agent may transfer to.
    pub children: Vec<usize>,
    /// The number of enclosing nodes.
    pub depth: usize,
    /// The keys that an agent reads, in parameters and in prompts. A prompt accepts any value.
    pub reads: Cow<'a, [KeySpec<'a>]>,
    /// The keys that an agent writes.
    pub writes: Cow<'a, [KeySpec<'a>]>,
    /// The renamed keys of an instance.
    pub renames: Renames<'a>,
    /// The prompts.
    pub prompts: &'a [&'a str],
    /// The tools.
    pub tools: &'a [ToolMeta<'a>],
    /// The largest number of rounds of a loop, or of elements of an `each`.
    pub max: Option<u32>,
    /// The treatment of a list with more elements than `max`.
    pub over: Over,
    /// The key that ends a loop after a round.
    pub until: Option<&'a str>,
    /// The effect of a failed branch or element on its parallel or `each`.
    pub on_error: OnError,
    /// The largest number of concurrent branches of a parallel, or of elements of an `each`.
    pub max_concurrency: Option<u32>,
    /// Whether the first finished branch of a parallel wins.
    pub first: bool,
    /// The number and time of a `try`'s attempts.
    pub attempts: Option<Attempts>,
    /// The key that selects the arm of a match.
    pub key: Option<&'a str>,
    /// The pattern of an arm, with its guard.
    pub pattern: Option<&'a str>,
    /// The key of the element of an `each`.
    pub item: Option<&'a str>,
    /// The key of the list of an `each`.
    pub list: Option<&'a str>,
    /// The largest number of model calls in one turn of an agent.
    pub max_turns: Option<u32>,
    /// Whether an agent may end a loop.
    pub may_exit: bool,
    /// The loop that a `break` ends, or the loops that an agent may end by name.
    pub exits: Cow<'a, [&'a str]>,
    /// Whether the node is an instance, placed with `as`.
    pub instance: bool,
    /// Whether the node is a transfer target of the enclosing agent, and not a step.
    pub transfer: bool,
    /// Whether the name is from the source.
    pub named: bool,
    /// The keys that a workflow initializes when it starts, inputs included.
    #[serde(skip)]
    pub begins: Vec<KeySpec<'a>>,
    /// The session keys that a workflow needs.
    #[serde(skip)]
    pub states: &'a [KeySpec<'a>],
    /// The users who may answer an `await`; `None` for the user who began the run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by: Option<AnsweredBy<&'a str>>,
    /// The check of an answer to an `await`.
    #[serde(skip)]
    pub accepts: Option<Accepts>,
    /// The schema of the value that a model or a person gives.
    #[serde(skip)]
    pub schema: Option<ValueSchema>,
}

/// The kind of a [`Node`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NodeKind {
    /// The workflow, or a workflow inside it.
    Workflow,
    /// An agent that asks a language model.
    Llm,
    /// A function.
    Function,
    /// An `impl Agent` by hand.
    Custom,
    /// A wait for a value from outside.
    Await,
    /// Runs its steps in sequence.
    Sequence,
    /// Runs its branches concurrently.
    Parallel,
    /// Runs the arm that a key selects.
    Match,
    /// An arm of a match.
    Arm,
    /// Runs its steps once per element of a list.
    Each,
    /// Repeats its steps.
    Loop,
    /// Repeats its steps when they fail.
    Try,
    /// The steps after the last failed attempt of a `try`.
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

    /// Converts a step, without the names of agents inside. Returns `None` for a marker.
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
                let description = if meta.description.is_empty() {
                    step.description
                } else {
                    meta.description
                };
                Self {
                    instance,
                    named: step.named,
                    description,
                    ..agent
                }
            }
            StepKind::Sequence => block(NodeKind::Sequence, name),
            StepKind::Parallel {
                max_concurrency,
                first,
            } => Self {
                max_concurrency,
                first,
                ..block(NodeKind::Parallel, name)
            },
            StepKind::Match { key } => Self {
                key: Some(key),
                ..block(NodeKind::Match, name)
            },
            StepKind::Arm { pattern } => Self {
                pattern: Some(pattern),
                named: true,
                ..block(NodeKind::Arm, name)
            },
            StepKind::Each {
                item,
                list,
                max,
                over,
                max_concurrency,
            } => {
                let (item, list) = (Some(item), Some(list));
                Self {
                    item,
                    list,
                    max,
                    over,
                    max_concurrency,
                    ..block(NodeKind::Each, name)
                }
            }
            StepKind::Loop { max, until } => Self {
                max,
                until,
                ..block(NodeKind::Loop, name)
            },
            StepKind::Try(attempts) => Self {
                attempts: Some(attempts),
                ..block(NodeKind::Try, name)
            },
            StepKind::Else => Self {
                named: true,
                ..block(NodeKind::Else, name)
            },
            StepKind::Break { target } => Self {
                exits: target.into_iter().collect(),
                named: true,
                ..block(NodeKind::Break, name)
            },
            StepKind::Branch | StepKind::End => return None,
        })
    }
}
