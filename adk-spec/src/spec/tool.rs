//! What a tool writes and may do.

use super::{AgentMeta, AnsweredBy, KeySpec, Module, ResourceSpec};
use std::time::Duration;

/// The description of a tool, as far as checks need it.
#[derive(Clone, Copy, Debug, serde::Serialize)]
#[non_exhaustive]
pub struct ToolMeta<'a> {
    /// The name that the model calls it by.
    pub name: &'a str,
    /// Its doc comment.
    pub description: &'a str,
    /// Whether it may end a loop.
    pub may_exit: bool,
    /// Whether it may end the turn of its agent without an answer of the model: it sets `skip_summarization`.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub may_skip: bool,
    /// Keys that it reads, by parameters with `#[key]`.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    pub reads: &'a [KeySpec<'a>],
    /// Keys that it may write.
    pub writes: &'a [KeySpec<'a>],
    /// What it takes from the program.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    pub resources: &'a [ResourceSpec<'a>],
    /// The module in which it is defined, where it reads or writes keys.
    #[serde(skip)]
    pub(crate) module: Module<'a>,
    /// Whether its answer comes later.
    pub long_running: bool,
    /// Whether a person has to agree to calls: to each, or to those that the tool picks by their arguments.
    pub confirm: bool,
    /// Who may agree; `None` for the user who began the run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by: Option<AnsweredBy<&'a str>>,
    /// The longest that one attempt of a call may take; `None` for no limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeout: Option<Duration>,
    /// How often a call that failed is made again.
    pub retry: u32,
    /// Whether it runs on a thread of its own, which a timeout does not stop.
    pub blocking: bool,
    /// The agent that it is, when it is one.
    #[serde(skip)]
    pub agent: Option<&'a AgentMeta<'a>>,
}

impl<'a> ToolMeta<'a> {
    /// A tool that does none of the special things.
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
            by: None,
            timeout: None,
            retry: 0,
            blocking: false,
            agent: None,
        }
    }

    /// An agent as a tool. An exit in it ends nothing around who calls it; what it reads and writes is its agent's.
    pub const fn of_agent(agent: &'a AgentMeta<'a>) -> Self {
        Self { agent: Some(agent), ..Self::new(agent.name, agent.description) }
    }

    setters! { [const]
        /// Says whether it may end a loop.
        may_exit(yes: bool) = yes;
        /// Says whether it may end the turn without an answer of the model.
        may_skip(yes: bool) = yes;
        /// The keys that it reads.
        reads(keys: &'a [KeySpec<'a>]) = keys;
        /// The keys that it may write.
        writes(keys: &'a [KeySpec<'a>]) = keys;
        /// What it takes from the program.
        resources(taken: &'a [ResourceSpec<'a>]) = taken;
        /// Says in which module it is defined, if it reads or writes keys.
        module(module: Module<'a>) = module;
        /// Says whether its answer comes later.
        long_running(yes: bool) = yes;
        /// Says whether a person has to agree to calls.
        confirm(yes: bool) = yes;
        /// Says who may agree to calls, where it is not the user who began the run.
        by(by: AnsweredBy<&'a str>) = Some(by);
        /// The longest that one attempt of a call may take.
        timeout(longest: Duration) = Some(longest);
        /// Says how often a call that failed is made again.
        retry(times: u32) = times;
        /// Says whether it runs on a thread of its own.
        blocking(yes: bool) = yes;
    }
}
