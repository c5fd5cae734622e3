//! What an agent reads, writes and may do.

use super::{AnsweredBy, KeySpec, ResourceSpec, Step, ToolMeta};
use crate::hash::{hash, same};
use std::any::Any;
use std::time::Duration;

/// Says what is wrong with a value that is written to a key: a `serde_json::Value`, which this crate does not know.
pub type Accepts = fn(&dyn Any) -> Result<(), String>;

/// The schema of a value that a model or a person gives, by its hash.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum ValueSchema {
    /// That of a type. The schema is made when it is needed.
    Type {
        /// Its hash.
        hash: fn() -> u64,
        /// The schema itself, as JSON.
        text: fn() -> String,
    },
    /// One that came from outside.
    Hash(u64),
}

impl ValueSchema {
    /// The hash.
    pub fn hash(self) -> u64 {
        match self {
            Self::Type { hash, .. } => hash(),
            Self::Hash(hash) => hash,
        }
    }

    /// The schema as JSON, where it is that of a type.
    pub fn text(self) -> Option<String> {
        match self {
            Self::Type { text, .. } => Some(text()),
            Self::Hash(_) => None,
        }
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
    /// An `await`: it waits for a value from outside, and writes it.
    Await,
}

/// How much of the conversation the model of an agent is shown: the field `include_contents`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Conversation {
    /// All of it, or its last turns.
    #[default]
    Shown,
    /// The current turn, with the last message before it: `none`.
    CurrentTurn,
    /// Nothing but the agent's own calls of this turn: `prompt`.
    Hidden,
}

/// The description of an agent, one shape for all: a function, an LLM agent, a workflow, an `impl Agent` by hand.
///
/// The macros write it; by hand it is a const, with the keys that `#[agent(...)]` on the `impl` does not declare:
///
/// ```
/// # use adk_spec as adk;
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
    /// The module in which it is defined. The path is empty where `definition` contains it; see [`module`](Self::module).
    #[serde(skip)]
    pub module: Module<'a>,
    /// What it is made of.
    pub kind: AgentKind,
    /// Its doc comment; models see it.
    pub description: &'a str,
    /// Prompts: every placeholder in them is a read.
    #[serde(skip)]
    pub prompts: &'a [&'a str],
    /// Where each prompt was written, when it is no literal: `include_str!("critic.md")` or the name of a const.
    #[serde(skip)]
    pub sources: &'a [&'a str],
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
    /// Whether more tools may be added to it at run time: `tools: [find, ..]`.
    pub more_tools: bool,
    /// Whether its model may be asked for a summary before each of its calls: `compact: { after: 40, keep: 10 }`.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub compacts: bool,
    /// How much of the conversation its model is shown.
    #[serde(skip)]
    pub conversation: Conversation,
    /// Whether callbacks, or functions that make its instruction, run in its turns: no `timeout` ends them.
    #[serde(skip)]
    pub own_code: bool,
    /// What it takes from the program, beside what its tools do.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    pub resources: &'a [ResourceSpec<'a>],
    /// The agents that it may transfer to.
    #[serde(skip)]
    pub transfer: &'a [&'a AgentMeta<'a>],
    /// The most model calls of one of its turns; `None` is unbounded.
    pub max_turns: Option<u32>,
    /// The longest that a function or an `await` may take, or one model call with its retries; `None` for no limit. An agent that is written by hand says what it keeps to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeout: Option<Duration>,
    /// The most tokens of one answer; `None` is unbounded.
    pub max_output_tokens: Option<u32>,
    /// The model that it asks, where its declaration names one as a text; otherwise empty.
    #[serde(skip_serializing_if = "str::is_empty")]
    pub model: &'a str,
    /// Keys of the session that a workflow needs.
    pub states: &'a [KeySpec<'a>],
    /// Keys to which a workflow gives a value when it starts.
    #[serde(skip)]
    pub lets: &'a [KeySpec<'a>],
    /// The steps inside, when it is a workflow.
    #[serde(skip)]
    pub steps: &'a [Step<'a>],
    /// Who may answer an `await`; `None` for the user who began the run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by: Option<AnsweredBy<&'a str>>,
    /// Says what is wrong with a value that an `await` is answered with.
    #[serde(skip)]
    pub accepts: Option<Accepts>,
    /// The schema of the value that a model or a person gives and that it writes.
    #[serde(skip)]
    pub schema: Option<ValueSchema>,
    /// The definition as a number; 0 when it is the name alone, which two definitions may share.
    #[serde(skip)]
    pub(crate) identity: u64,
    /// All keys of its prompts, where the macros have read them.
    #[serde(skip)]
    pub prompt_keys: Option<&'a [PromptKey<'a>]>,
}

impl<'a> AgentMeta<'a> {
    /// The description of an agent of some kind.
    pub const fn new(kind: AgentKind, name: &'a str) -> Self {
        Self {
            name,
            definition: name,
            module: NOWHERE,
            kind,
            description: "",
            prompts: &[],
            sources: &[],
            reads: &[],
            writes: &[],
            may_exit: false,
            exits: &[],
            tools: &[],
            more_tools: false,
            compacts: false,
            conversation: Conversation::Shown,
            own_code: false,
            resources: &[],
            transfer: &[],
            max_turns: match kind {
                AgentKind::Function | AgentKind::Await => Some(0),
                _ => None,
            },
            max_output_tokens: None,
            model: "",
            timeout: None,
            states: &[],
            lets: &[],
            steps: &[],
            by: None,
            accepts: None,
            schema: None,
            identity: 0,
            prompt_keys: None,
        }
    }

    /// The description of an `impl Agent` by hand.
    pub const fn custom(name: &'a str) -> Self {
        Self::new(AgentKind::Custom, name)
    }

    /// The module in which it is defined.
    pub const fn module(&self) -> Module<'a> {
        let (path, origin) = self.module;
        if !path.is_empty() {
            return self.module;
        }
        let mut end = self.definition.len();
        while end > 0 && self.definition.as_bytes()[end - 1] != b':' {
            end -= 1;
        }
        match self.definition.split_at_checked(end.saturating_sub(2)) {
            Some((path, _)) => (path, origin),
            None => NOWHERE,
        }
    }

    /// Says which definition this is, and the number of its module.
    #[must_use]
    pub const fn defined(mut self, definition: &'a str, origin: u64) -> Self {
        self.module = ("", origin);
        self.definition(definition)
    }

    /// Gives it the name of its step.
    #[must_use]
    pub const fn named(mut self, name: &'a str) -> Self {
        self.name = name;
        self
    }

    /// Says which definition this is.
    #[must_use]
    pub const fn definition(mut self, definition: &'a str) -> Self {
        self.definition = definition;
        // With a path: by hand it is the name alone.
        self.identity =
            if definition.is_empty() || same(definition, self.name) { 0 } else { hash(definition) };
        self
    }

    /// Which definition it is, as a number, if that is known: by hand it is the name alone, which two types may share.
    pub const fn identity(&self) -> Option<u64> {
        match self.identity {
            0 => None,
            identity => Some(identity),
        }
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
        self.prompt_keys = None;
        self
    }

    setters! { [const]
        /// Where each prompt was written; empty for a literal.
        sources(sources: &'a [&'a str]) = sources;
        /// The keys that it reads.
        reads(keys: &'a [KeySpec<'a>]) = keys;
        /// The keys that it writes.
        writes(keys: &'a [KeySpec<'a>]) = keys;
        /// Says whether it may end the innermost loop.
        may_exit(yes: bool) = yes;
        /// The loops that it may end by name.
        exits(loops: &'a [&'a str]) = loops;
    }

    /// Its tools: with one that may end a loop, it may end a loop.
    #[must_use]
    pub const fn tools(mut self, tools: &'a [ToolMeta<'a>]) -> Self {
        self.tools = tools;
        self.may_exit = self.may_exit || any!(tool in tools => tool.may_exit);
        self
    }

    setters! { [const]
        /// Says whether more tools may be added to it at run time.
        more_tools(yes: bool) = yes;
        /// Whether its model may be asked for a summary before each of its calls.
        compacts(yes: bool) = yes;
        /// How much of the conversation its model is shown.
        conversation(shown: Conversation) = shown;
        /// Says whether callbacks, or functions that make its instruction, run in its turns.
        own_code(yes: bool) = yes;
        /// What it takes from the program, beside what its tools do.
        resources(taken: &'a [ResourceSpec<'a>]) = taken;
        /// The agents that it may transfer to.
        transfer(targets: &'a [&'a AgentMeta<'a>]) = targets;
        /// The most model calls of one turn; `None` when there is no limit.
        max_turns(turns: Option<u32>) = turns;
        /// The model that it asks.
        model(name: &'a str) = name;
        /// The longest that it may take.
        timeout(longest: Duration) = Some(longest);
        /// The most tokens of one answer.
        max_output_tokens(tokens: Option<u32>) = tokens;
        /// The keys of the session that a workflow needs.
        states(keys: &'a [KeySpec<'a>]) = keys;
        /// The keys to which a workflow gives a value when it starts.
        lets(keys: &'a [KeySpec<'a>]) = keys;
    }

    /// The keys that a workflow begins with: a run that was begun without one of them has no value for it.
    pub fn begins(&self) -> Vec<KeySpec<'a>> {
        if self.kind != AgentKind::Workflow {
            return Vec::new();
        }
        // A tree that was built at run time reads what it needs of the session, and has no inputs.
        let is_state = |key: &KeySpec<'_>| self.states.iter().any(|state| state.name == key.name);
        let inputs = self.reads.iter().filter(|key| !is_state(key));
        let mut keys: Vec<_> = inputs.chain(self.lets).copied().collect();
        // Their order is that of the source, and means nothing.
        keys.sort_unstable_by_key(|key| key.name);
        keys
    }

    /// The input that receives the request when it is used as a tool: the only input of a workflow, if that is a `String`.
    pub const fn request_input(&self) -> Option<&'a str> {
        match (self.kind, self.reads) {
            (AgentKind::Workflow, [input]) if is_string(input.ty) => Some(input.name),
            _ => None,
        }
    }

    /// Whether it is a stub.
    pub(crate) const fn is_stub(&self) -> bool {
        matches!(self.definition.as_bytes(), [])
    }

    setters! { [const]
        /// Says what is wrong with a value that an `await` is answered with.
        accepts(check: Accepts) = Some(check);
        /// Who may answer an `await`, where it is not the user who began the run.
        by(by: AnsweredBy<&'a str>) = Some(by);
        /// The steps inside a workflow.
        steps(steps: &'a [Step<'a>]) = steps;
    }
}

/// A plain placeholder of a prompt, as the macros read it: its key, that as a number, and whether nothing stands in its place
/// when there is nothing to read. A tuple, since a call for each costs time in the user's crate.
pub type PromptKey<'a> = (&'a str, u64, bool);

/// A module in which types are spelled: its path, which is empty if it is unknown, and a number that tells apart modules with one
/// path, such as those of two crates of one name, and the blocks of one module.
pub type Module<'a> = (&'a str, u64);

/// An unknown module.
pub(crate) const NOWHERE: Module<'static> = ("", 0);

const fn is_string(ty: &str) -> bool {
    matches!(ty.as_bytes(), b"String")
}
