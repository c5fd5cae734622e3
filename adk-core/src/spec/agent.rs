//! What an agent reads, writes and may do.

use super::Step;

/// A state key that an agent reads or writes, with its type as the user spelled it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub struct KeySpec<'a> {
    /// The key, with its prefix if it has one.
    pub name: &'a str,
    /// The type as it was spelled.
    #[serde(rename = "type")]
    pub ty: &'a str,
    /// Read only if it is there, or written only perhaps.
    pub optional: bool,
}

impl<'a> KeySpec<'a> {
    /// A key that has to be there.
    pub const fn new(name: &'a str, ty: &'a str) -> Self {
        Self { name, ty, optional: false }
    }

    /// Says whether it may be absent.
    #[must_use]
    pub const fn optional(mut self, yes: bool) -> Self {
        self.optional = yes;
        self
    }
}

/// What an agent is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum AgentKind {
    /// It asks a language model.
    Llm,
    /// A function.
    Function,
    /// A workflow.
    Workflow,
    /// An `impl Agent` by hand.
    Custom,
}

/// The description of an agent, one shape for all: a function, an LLM agent, a workflow, an `impl Agent` by hand.
///
/// The macros write it; by hand it is a const:
///
/// ```
/// # use adk_core as adk;
/// use adk::{AgentMeta, KeySpec};
/// const META: AgentMeta<'static> = AgentMeta::custom("grader")
///     .description("Grades the draft.")
///     .reads(&[KeySpec::new("draft", "String")])
///     .writes(&[KeySpec::new("score", "f64")]);
/// assert_eq!(META.writes[0].name, "score");
/// ```
#[derive(Clone, Copy, Debug, serde::Serialize)]
#[non_exhaustive]
pub struct AgentMeta<'a> {
    /// The name of the definition, in snake case.
    pub name: &'a str,
    /// Which definition this is: its module path and name. Two uses of one definition have the same.
    #[serde(skip)]
    pub definition: &'a str,
    /// What it is made of.
    pub kind: AgentKind,
    /// Its doc comment; models see it.
    pub description: &'a str,
    /// Prompts: every placeholder in them is a read.
    #[serde(skip)]
    pub prompts: &'a [&'a str],
    /// Keys that it reads beside those of its prompts.
    pub reads: &'a [KeySpec<'a>],
    /// Keys that it has written whenever it ends normally; perhaps, where `optional`.
    pub writes: &'a [KeySpec<'a>],
    /// Whether it may end the innermost loop around it.
    pub may_exit: bool,
    /// Loops that it may end by name.
    pub exits: &'a [&'a str],
    /// Its tools.
    pub tools: &'a [ToolMeta<'a>],
    /// The most model calls of one of its turns; `None` is unbounded.
    pub max_turns: Option<u32>,
    /// The steps inside, when it is a workflow.
    #[serde(skip)]
    pub steps: &'a [Step<'a>],
}

impl<'a> AgentMeta<'a> {
    /// The description of an agent of some kind.
    pub const fn new(kind: AgentKind, name: &'a str) -> Self {
        Self {
            name,
            definition: name,
            kind,
            description: "",
            prompts: &[],
            reads: &[],
            writes: &[],
            may_exit: false,
            exits: &[],
            tools: &[],
            max_turns: None,
            steps: &[],
        }
    }

    /// The description of an `impl Agent` by hand.
    pub const fn custom(name: &'a str) -> Self {
        Self::new(AgentKind::Custom, name)
    }

    /// Says which definition this is.
    #[must_use]
    pub const fn definition(mut self, definition: &'a str) -> Self {
        self.definition = definition;
        self
    }

    /// What it does, in words that a model may see.
    #[must_use]
    pub const fn description(mut self, description: &'a str) -> Self {
        self.description = description;
        self
    }

    /// Its prompts.
    #[must_use]
    pub const fn prompts(mut self, prompts: &'a [&'a str]) -> Self {
        self.prompts = prompts;
        self
    }

    /// The keys that it reads.
    #[must_use]
    pub const fn reads(mut self, keys: &'a [KeySpec<'a>]) -> Self {
        self.reads = keys;
        self
    }

    /// The keys that it writes.
    #[must_use]
    pub const fn writes(mut self, keys: &'a [KeySpec<'a>]) -> Self {
        self.writes = keys;
        self
    }

    /// Says whether it may end the innermost loop.
    #[must_use]
    pub const fn may_exit(mut self, yes: bool) -> Self {
        self.may_exit = yes;
        self
    }

    /// The loops that it may end by name.
    #[must_use]
    pub const fn exits(mut self, loops: &'a [&'a str]) -> Self {
        self.exits = loops;
        self
    }

    /// Its tools: with one that may end a loop, it may end a loop.
    #[must_use]
    pub const fn tools(mut self, tools: &'a [ToolMeta<'a>]) -> Self {
        self.tools = tools;
        let mut i = 0;
        while i < tools.len() {
            if tools[i].may_exit {
                self.may_exit = true;
            }
            i += 1;
        }
        self
    }

    /// The most model calls of one turn.
    #[must_use]
    pub const fn max_turns(mut self, turns: Option<u32>) -> Self {
        self.max_turns = turns;
        self
    }

    /// The steps inside a workflow.
    #[must_use]
    pub const fn steps(mut self, steps: &'a [Step<'a>]) -> Self {
        self.steps = steps;
        self
    }
}

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
    /// Keys that it may write.
    pub writes: &'a [KeySpec<'a>],
    /// Whether its answer comes later.
    pub long_running: bool,
    /// Whether a person has to agree to each call.
    pub confirm: bool,
}

impl<'a> ToolMeta<'a> {
    /// A tool that does none of the special things.
    pub const fn new(name: &'a str, description: &'a str) -> Self {
        Self { name, description, may_exit: false, writes: &[], long_running: false, confirm: false }
    }

    /// Says whether it may end a loop.
    #[must_use]
    pub const fn may_exit(mut self, yes: bool) -> Self {
        self.may_exit = yes;
        self
    }

    /// The keys that it may write.
    #[must_use]
    pub const fn writes(mut self, keys: &'a [KeySpec<'a>]) -> Self {
        self.writes = keys;
        self
    }

    /// Says whether its answer comes later.
    #[must_use]
    pub const fn long_running(mut self, yes: bool) -> Self {
        self.long_running = yes;
        self
    }

    /// Says whether a person has to agree to each call.
    #[must_use]
    pub const fn confirm(mut self, yes: bool) -> Self {
        self.confirm = yes;
        self
    }
}
