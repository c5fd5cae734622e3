//! [`ToolMeta`]: the keys, effects and limits of a tool.

use super::{AgentMeta, AnsweredBy, KeySpec, Labels, Module, ResourceSpec};
use std::time::Duration;

/// The description of a tool for checks.
#[derive(Clone, Copy, Debug, serde::Serialize)]
#[non_exhaustive]
pub struct ToolMeta<'a> {
    /// The name by which the model calls the tool.
    pub name: &'a str,
    /// The doc comment.
    pub description: &'a str,
    /// Whether the tool may end a loop.
    pub may_exit: bool,
    /// Whether the tool may end the turn of its agent without an answer of the model: it sets
    /// `skip_summarization`.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub may_skip: bool,
    /// Keys that the tool reads, by parameters with `#[key]`.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    pub reads: &'a [KeySpec<'a>],
    /// Keys that the tool may write.
    pub writes: &'a [KeySpec<'a>],
    /// The resources that the tool takes.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    pub resources: &'a [ResourceSpec<'a>],
    /// The module of the definition, if the tool reads or writes keys.
    #[serde(skip)]
    pub(crate) module: Module<'a>,
    /// Whether the result arrives later.
    pub long_running: bool,
    /// Whether a person has to confirm calls: all calls, or those that the tool selects by their
    /// arguments.
    pub confirm: bool,
    /// Whether the tool selects the calls that a person has to confirm: `confirm = PREDICATE`.
    #[serde(skip)]
    pub selects: bool,
    /// The users who may confirm calls; `None` for the user who began the run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by: Option<AnsweredBy<&'a str>>,
    /// The longest time of one attempt of a call; `None` is unlimited.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeout: Option<Duration>,
    /// The number of retries of a failed call.
    pub retry: u32,
    /// Whether the tool runs on a thread of its own, which a timeout does not stop.
    pub blocking: bool,
    /// Whether the provider of the model runs the tool, such as a search. The runtime never calls
    /// such a tool, and the tool has no schema.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub at_provider: bool,
    /// The labels.
    #[serde(skip_serializing_if = "Labels::is_empty")]
    pub labels: Labels,
    /// The toolset of the tool; empty for a tool that the agent lists itself.
    #[serde(skip_serializing_if = "str::is_empty")]
    pub toolset: &'a str,
    /// The agent that the tool calls, if the tool is an agent.
    #[serde(skip)]
    pub agent: Option<&'a AgentMeta<'a>>,
}

impl<'a> ToolMeta<'a> {
    /// Creates a tool without any of the optional properties.
    pub const fn new(name: &'a str, description: &'a str) -> Self {
        Self {
            name,
            description,
            may_exit: false,
            may_skip: false,
            reads: &[],
            writes: &[],
            resources: &[],
            module: ("", 0),
            long_running: false,
            confirm: false,
            selects: false,
            by: None,
            timeout: None,
            retry: 0,
            blocking: false,
            at_provider: false,
            labels: Labels::NONE,
            toolset: "",
            agent: None,
        }
    }

    /// Creates a tool that calls an agent. An exit inside the agent does not end a loop around the
    /// calling agent. The reads and writes are those of the called agent.
    pub const fn of_agent(agent: &'a AgentMeta<'a>) -> Self {
        Self {
            agent: Some(agent),
            ..Self::new(agent.name, agent.description)
        }
    }

    setters! { [const]
        /// Sets whether the tool may end a loop.
        may_exit(yes: bool) = yes;
        /// Sets whether the tool may end the turn without an answer of the model.
        may_skip(yes: bool) = yes;
        /// Sets the keys that the tool reads.
        reads(keys: &'a [KeySpec<'a>]) = keys;
        /// Sets the keys that the tool may write.
        writes(keys: &'a [KeySpec<'a>]) = keys;
        /// Sets the resources that the tool takes.
        resources(taken: &'a [ResourceSpec<'a>]) = taken;
        /// Sets the module of the definition, for a tool that reads or writes keys.
        module(module: Module<'a>) = module;
        /// Sets whether the result arrives later.
        long_running(yes: bool) = yes;
        /// Sets whether a person has to confirm calls.
        confirm(yes: bool) = yes;
        /// Sets whether the tool selects the calls that a person has to confirm.
        selects(yes: bool) = yes;
        /// Sets the users who may confirm calls, instead of the user who began the run.
        by(by: AnsweredBy<&'a str>) = Some(by);
        /// Sets the longest time of one attempt of a call.
        timeout(longest: Duration) = Some(longest);
        /// Sets the number of retries of a failed call.
        retry(times: u32) = times;
        /// Sets whether the tool runs on a thread of its own.
        blocking(yes: bool) = yes;
        /// Sets whether the provider of the model runs the tool.
        at_provider(yes: bool) = yes;
        /// Sets the labels.
        labels(labels: Labels) = labels;
        /// Sets the toolset that supplies the tool.
        toolset(name: &'a str) = name;
    }
}
