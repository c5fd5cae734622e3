//! [`AgentMeta`]: the keys, tools and limits of an agent.

use super::{AnsweredBy, Guards, KeySpec, Labels, ResourceSpec, SourcePlace, Step, ToolMeta};
use crate::hash::{hash, same};
use std::any::Any;
use std::time::Duration;

/// A check of a value that is written to a key. The value is a `serde_json::Value`, which this
/// crate does not know. The error says what is wrong.
pub type Accepts = fn(&dyn Any) -> Result<(), String>;

/// The schema of a value from a model or a person. Schemas are compared by their hashes.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum ValueSchema {
    /// The schema of a type, which is made on demand.
    Type {
        /// Returns the hash of the schema.
        hash: fn() -> u64,
        /// Returns the schema as JSON.
        text: fn() -> String,
    },
    /// The hash of a schema from outside the program.
    Hash(u64),
}

impl ValueSchema {
    /// Returns the hash.
    pub fn hash(self) -> u64 {
        match self {
            Self::Type { hash, .. } => hash(),
            Self::Hash(hash) => hash,
        }
    }

    /// Returns the schema as JSON, if it is the schema of a type.
    pub fn text(self) -> Option<String> {
        match self {
            Self::Type { text, .. } => Some(text()),
            Self::Hash(_) => None,
        }
    }
}

/// The kind of an agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum AgentKind {
    /// An agent that asks a language model.
    Llm,
    /// A function.
    Function,
    /// A workflow.
    Workflow,
    /// An `impl Agent` by hand.
    Custom,
    /// An `await`, which waits for a value from outside and writes it.
    Await,
}

/// The part of the conversation that an agent's model sees: the field `include_contents`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Conversation {
    /// The whole conversation, or its last turns.
    #[default]
    Shown,
    /// The current turn, with the last message before it: `none`.
    CurrentTurn,
    /// Only the agent's own calls of this turn: `prompt`.
    Hidden,
}

/// The description of an agent. All kinds of agents have the same description: functions, LLM
/// agents, workflows, and each `impl Agent` by hand.
///
/// The macros write the description. By hand, it is a const with the keys that `#[agent(...)]` on
/// the `impl` does not declare:
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
    /// The module path and name of the definition. Two uses of one definition share them.
    #[serde(skip)]
    pub definition: &'a str,
    /// The module of the definition. The path is empty if `definition` contains it; see
    /// [`module`](Self::module).
    #[serde(skip)]
    pub module: Module<'a>,
    /// The kind of the agent.
    pub kind: AgentKind,
    /// The doc comment. Models see it.
    pub description: &'a str,
    /// The prompts. Every placeholder in a prompt is a read.
    #[serde(skip)]
    pub prompts: &'a [&'a str],
    /// The source of each prompt that is not a literal: `include_str!("critic.md")` or the name of
    /// a const.
    #[serde(skip)]
    pub sources: &'a [&'a str],
    /// The keys that the agent reads in addition to those of its prompts.
    pub reads: &'a [KeySpec<'a>],
    /// The keys that the agent has written whenever it ends normally. It may leave out `optional`
    /// keys.
    pub writes: &'a [KeySpec<'a>],
    /// Whether the agent may end the innermost loop around it.
    pub may_exit: bool,
    /// The loops that the agent may end by name.
    pub exits: &'a [&'a str],
    /// The tools.
    pub tools: &'a [ToolMeta<'a>],
    /// Whether more tools may be added at run time: `tools: [find, ..]`.
    pub more_tools: bool,
    /// Whether the model may be asked for a summary before each of the agent's calls: `compact: {
    /// after: 40, keep: 10 }`.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub compacts: bool,
    /// The part of the conversation that the model sees.
    #[serde(skip)]
    pub conversation: Conversation,
    /// Whether callbacks, or functions that make the instruction, run in the agent's turns. No
    /// `timeout` ends them.
    #[serde(skip)]
    pub own_code: bool,
    /// The resources that the agent takes, without those of its tools.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    pub resources: &'a [ResourceSpec<'a>],
    /// The agents that the agent may transfer to.
    #[serde(skip)]
    pub transfer: &'a [&'a AgentMeta<'a>],
    /// The largest number of model calls in one turn; `None` is unbounded.
    pub max_turns: Option<u32>,
    /// The longest time of a function or an `await`, or of one model call with its retries; `None`
    /// is unbounded. An agent by hand states the time that it keeps to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeout: Option<Duration>,
    /// The largest number of tokens of one answer; `None` is unbounded.
    pub max_output_tokens: Option<u32>,
    /// The model, if the declaration names it as text; otherwise empty.
    #[serde(skip_serializing_if = "str::is_empty")]
    pub model: &'a str,
    /// The session keys that a workflow needs.
    pub states: &'a [KeySpec<'a>],
    /// The keys that a workflow initializes when it starts.
    #[serde(skip)]
    pub lets: &'a [KeySpec<'a>],
    /// The steps of a workflow.
    #[serde(skip)]
    pub steps: &'a [Step<'a>],
    /// The users who may answer an `await`; `None` for the user who began the run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by: Option<AnsweredBy<&'a str>>,
    /// The check of an answer to an `await`.
    #[serde(skip)]
    pub accepts: Option<Accepts>,
    /// The schema of the value that a model or a person gives and that the agent writes.
    #[serde(skip)]
    pub schema: Option<ValueSchema>,
    /// The labels of a function or an `impl Agent`; of an LLM agent, those of its toolsets whose
    /// tools only the run knows.
    #[serde(skip_serializing_if = "Labels::is_empty")]
    pub labels: Labels,
    /// The rules of a workflow about text that strangers wrote.
    #[serde(skip)]
    pub guards: Option<&'a Guards<'a>>,
    /// The place of the definition of a function with the label `trusts`; `None` if it is unknown.
    #[serde(skip)]
    pub place: Option<SourcePlace<'a>>,
    /// The default of an `await` as the user spelled it; empty without a default.
    #[serde(skip)]
    pub default: &'a str,
    /// The hash of `definition`; 0 if `definition` is only the name, which two definitions may
    /// share.
    #[serde(skip)]
    pub(crate) identity: u64,
    /// All keys of the prompts, if the macros have parsed them.
    #[serde(skip)]
    pub prompt_keys: Option<&'a [PromptKey<'a>]>,
}

impl<'a> AgentMeta<'a> {
    /// Creates the description of an agent of a kind.
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
            labels: Labels::NONE,
            guards: None,
            place: None,
            default: "",
            identity: 0,
            prompt_keys: None,
        }
    }

    /// Creates the description of an `impl Agent` by hand.
    pub const fn custom(name: &'a str) -> Self {
        Self::new(AgentKind::Custom, name)
    }

    /// Returns the module of the definition.
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

    /// Sets the definition, and the number of the module that contains it.
    #[must_use]
    pub const fn defined(mut self, definition: &'a str, origin: u64) -> Self {
        self.module = ("", origin);
        self.definition(definition)
    }

    /// Sets the name to that of the step.
    #[must_use]
    pub const fn named(mut self, name: &'a str) -> Self {
        self.name = name;
        self
    }

    /// Sets the definition.
    #[must_use]
    pub const fn definition(mut self, definition: &'a str) -> Self {
        self.definition = definition;
        // Only a definition with a path identifies the agent. The definition of a handwritten agent
        // is only its name.
        self.identity = if definition.is_empty() || same(definition, self.name) {
            0
        } else {
            hash(definition)
        };
        self
    }

    /// Returns the hash of the definition, if the definition identifies the agent. The definition
    /// of a handwritten agent is only its name, which two types may share.
    pub const fn identity(&self) -> Option<u64> {
        match self.identity {
            0 => None,
            identity => Some(identity),
        }
    }

    /// Sets the description, which models may see.
    #[must_use]
    pub const fn description(mut self, description: &'a str) -> Self {
        self.description = description;
        self
    }

    /// Sets the prompts.
    #[must_use]
    pub const fn prompts(mut self, prompts: &'a [&'a str]) -> Self {
        self.prompts = prompts;
        self.prompt_keys = None;
        self
    }

    setters! { [const]
        /// Sets the source of each prompt; empty for a literal.
        sources(sources: &'a [&'a str]) = sources;
        /// Sets the keys that the agent reads.
        reads(keys: &'a [KeySpec<'a>]) = keys;
        /// Sets the keys that the agent writes.
        writes(keys: &'a [KeySpec<'a>]) = keys;
        /// Sets whether the agent may end the innermost loop.
        may_exit(yes: bool) = yes;
        /// Sets the loops that the agent may end by name.
        exits(loops: &'a [&'a str]) = loops;
    }

    /// Sets the tools. If a tool may end a loop, the agent may end a loop too.
    #[must_use]
    pub const fn tools(mut self, tools: &'a [ToolMeta<'a>]) -> Self {
        self.tools = tools;
        self.may_exit = self.may_exit || any!(tool in tools => tool.may_exit);
        self
    }

    setters! { [const]
        /// Sets whether more tools may be added at run time.
        more_tools(yes: bool) = yes;
        /// Sets whether the model may be asked for a summary before each of the agent's calls.
        compacts(yes: bool) = yes;
        /// Sets the part of the conversation that the model sees.
        conversation(shown: Conversation) = shown;
        /// Sets whether callbacks, or functions that make the instruction, run in the agent's
        /// turns.
        own_code(yes: bool) = yes;
        /// Sets the resources that the agent takes, without those of its tools.
        resources(taken: &'a [ResourceSpec<'a>]) = taken;
        /// Sets the agents that the agent may transfer to.
        transfer(targets: &'a [&'a AgentMeta<'a>]) = targets;
        /// Sets the largest number of model calls in one turn; `None` is unbounded.
        max_turns(turns: Option<u32>) = turns;
        /// Sets the model.
        model(name: &'a str) = name;
        /// Sets the longest time that the agent may take.
        timeout(longest: Duration) = Some(longest);
        /// Sets the largest number of tokens of one answer.
        max_output_tokens(tokens: Option<u32>) = tokens;
        /// Sets the session keys that a workflow needs.
        states(keys: &'a [KeySpec<'a>]) = keys;
        /// Sets the keys that a workflow initializes when it starts.
        lets(keys: &'a [KeySpec<'a>]) = keys;
    }

    /// Returns the keys that a workflow sets when a run begins: its inputs and `let`s. A run that
    /// began with an older version of the workflow may lack some of them.
    pub fn begins(&self) -> Vec<KeySpec<'a>> {
        if self.kind != AgentKind::Workflow {
            return Vec::new();
        }
        // A tree that was built at run time has no inputs. Its reads are the session keys that it
        // needs.
        let is_state = |key: &KeySpec<'_>| self.states.iter().any(|state| state.name == key.name);
        let inputs = self.reads.iter().filter(|key| !is_state(key));
        let mut keys: Vec<_> = inputs.chain(self.lets).copied().collect();
        // The order in the source has no meaning.
        keys.sort_unstable_by_key(|key| key.name);
        keys
    }

    /// Returns the input that receives the request if the agent is used as a tool: the only input
    /// of a workflow, if its type is `String`.
    pub const fn request_input(&self) -> Option<&'a str> {
        match (self.kind, self.reads) {
            (AgentKind::Workflow, [input]) if is_string(input.ty) => Some(input.name),
            _ => None,
        }
    }

    /// Returns whether the description is a stub.
    pub(crate) const fn is_stub(&self) -> bool {
        matches!(self.definition.as_bytes(), [])
    }

    setters! { [const]
        /// Sets the check of an answer to an `await`.
        accepts(check: Accepts) = Some(check);
        /// Sets the users who may answer an `await`, instead of the user who began the run.
        by(by: AnsweredBy<&'a str>) = Some(by);
        /// Sets the labels.
        labels(labels: Labels) = labels;
        /// Sets the rules of a workflow about text that strangers wrote.
        guards(guards: Option<&'a Guards<'a>>) = guards;
        /// Sets the place of the definition.
        place(place: SourcePlace<'a>) = Some(place);
        /// Sets the default of an `await`, as the user spelled it.
        default(text: &'a str) = text;
        /// Sets the steps of a workflow.
        steps(steps: &'a [Step<'a>]) = steps;
    }
}

/// A plain placeholder of a prompt, parsed by the macros: the key, its hash, and whether the key
/// may be absent. The type is a tuple, because a call for each placeholder would cost time in the
/// user's crate.
pub type PromptKey<'a> = (&'a str, u64, bool);

/// A module in which types are spelled: its path and a number. The path is empty if the module is
/// unknown. The number distinguishes modules with the same path, such as those of two crates with
/// the same name, and the blocks of one module.
pub type Module<'a> = (&'a str, u64);

/// An unknown module.
pub(crate) const NOWHERE: Module<'static> = ("", 0);

const fn is_string(ty: &str) -> bool {
    matches!(ty.as_bytes(), b"String")
}
