//! [`LlmDecl`]: the declaration of an LLM agent. The fixed part is the basis of checks; the
//! [`LlmSettings`] may change.

use super::conversation::{Compaction, IncludeContents};
use super::instruction::Instruction;
use crate::encode::to_json;
use crate::model::{GenerationConfig, ModelRef};
use crate::runtime::agent::DynAgent;
use crate::runtime::callback::{AgentCallbacks, ModelCallbacks, ToolCallbacks};
use crate::runtime::tool::{DynTool, Toolset};
use crate::spec::{Accepts, AgentMeta, Budget, Labels, ToolMeta, ValueSchema, accepts, schema};
use adk_spec::__private::{sees_all, stub_if};
use adk_spec::setters;
use backon::BackoffBuilder;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// Default maximum of answers until one fits the type.
pub const ANSWER_ATTEMPTS: u32 = 3;

/// An instruction that an [`LlmDecl`] contains.
#[derive(Clone, Copy, Debug)]
pub(crate) enum DeclaredInstruction {
    /// A prompt with its placeholders; empty for none.
    Prompt(&'static str),
    /// A function that creates the instruction.
    Function(fn() -> Instruction),
}

impl DeclaredInstruction {
    const fn is_empty(self) -> bool {
        match self {
            Self::Prompt(prompt) => prompt.is_empty(),
            Self::Function(_) => false,
        }
    }

    pub(super) fn create(self) -> Instruction {
        match self {
            Self::Prompt(prompt) => prompt.into(),
            Self::Function(create) => create(),
        }
    }
}

/// The declaration of an LLM agent. `workflow!` has checked it, so it cannot change.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct LlmDecl {
    /// The description: name, keys and tools.
    pub meta: AgentMeta<'static>,
    pub(crate) instruction: DeclaredInstruction,
    /// The instruction for the agent and all agents below it.
    pub(crate) global_instruction: DeclaredInstruction,
    /// The key that receives the answer.
    pub output: Option<OutputKey>,
    /// The part of the conversation that the agent sees.
    pub include_contents: IncludeContents,
    /// The condition for summaries; `None` for no summaries.
    pub compact: Option<Compaction>,
    /// The declared maximum of model calls per turn.
    pub max_turns: Option<u32>,
    /// Maximum number of answers per turn that may not fit the output type. The last one is an
    /// error.
    pub answer_attempts: u32,
    /// Whether the agent, as a target of a handover, cannot hand over to its parent, and to the
    /// other targets.
    pub(crate) disallow_transfer: (bool, bool),
    /// Creates the tools.
    pub tools: fn() -> Vec<Arc<dyn DynTool>>,
    /// Creates the agents to which the agent may hand over, if no workflow holds them.
    pub(crate) sub_agents: fn() -> Vec<Arc<dyn DynAgent>>,
    /// Creates the declared settings.
    pub settings: fn() -> LlmSettings,
}

impl LlmDecl {
    /// Creates a declaration without instruction, output, tools and settings.
    pub const fn new(meta: AgentMeta<'static>) -> Self {
        Self {
            meta,
            instruction: DeclaredInstruction::Prompt(""),
            global_instruction: DeclaredInstruction::Prompt(""),
            output: None,
            include_contents: IncludeContents::Default,
            compact: None,
            max_turns: None,
            answer_attempts: ANSWER_ATTEMPTS,
            disallow_transfer: (false, false),
            tools: Vec::new,
            sub_agents: Vec::new,
            settings: LlmSettings::default,
        }
    }

    /// Sets the descriptions of the tools.
    #[must_use]
    pub const fn tool_metas(mut self, tools: &'static [ToolMeta<'static>]) -> Self {
        self.meta = self.meta.tools(tools);
        let (mut i, ends) = (0, self.meta.may_exit);
        while ends && i < tools.len() {
            // A tool without a name is the stub for a value that is not a tool. Such a value might
            // end a loop, so the agent becomes a stub too.
            self.meta = stub_if(tools[i].name.is_empty(), self.meta);
            i += 1;
        }
        self
    }

    /// Permits more tools at run time.
    #[must_use]
    pub const fn more_tools(mut self) -> Self {
        self.meta = self.meta.more_tools(true);
        self
    }

    /// Sets the labels of the toolsets whose tools only the run knows. `LOCAL` among them says that
    /// all of these tools have labels.
    #[must_use]
    pub const fn labels(mut self, labels: Labels) -> Self {
        self.meta = self.meta.labels(self.meta.labels.and(labels));
        self
    }

    /// Sets the agents to which the agent may hand over.
    #[must_use]
    pub const fn transfer(mut self, targets: &'static [&'static AgentMeta<'static>]) -> Self {
        self.meta = self.meta.transfer(targets);
        self
    }

    setters! { [const]
        /// Sets the prompt.
        instruction(prompt: &'static str) = DeclaredInstruction::Prompt(prompt);
        /// Sets the prompt for the agent and all agents below it.
        global_instruction(prompt: &'static str) = DeclaredInstruction::Prompt(prompt);
    }

    /// Sets the function that creates the instruction, if it is not a prompt.
    #[must_use]
    pub const fn make_instruction(mut self, make: fn() -> Instruction) -> Self {
        self.meta.own_code = self.meta.own_code || self.instruction.is_empty();
        self.meta = sees_all(self.meta, self.instruction.is_empty());
        self.instruction = DeclaredInstruction::Function(make);
        self
    }

    /// Sets the function that creates the global instruction, if it is not a prompt.
    #[must_use]
    pub const fn make_global_instruction(mut self, make: fn() -> Instruction) -> Self {
        self.meta.own_code = self.meta.own_code || self.global_instruction.is_empty();
        self.meta = sees_all(self.meta, self.global_instruction.is_empty());
        self.global_instruction = DeclaredInstruction::Function(make);
        self
    }

    /// Marks the agent as one with callbacks.
    #[must_use]
    pub const fn callbacks(mut self) -> Self {
        self.meta.own_code = true;
        self
    }

    /// Sets the key that receives the answer.
    #[must_use]
    pub const fn output(mut self, output: OutputKey) -> Self {
        self.output = Some(output);
        self.meta.schema = output.described;
        self
    }

    /// Sets the part of the conversation that the agent sees.
    ///
    /// # Panics
    /// Panics if the value shows 0 turns, or if the agent also has a compaction.
    #[must_use]
    #[track_caller]
    pub const fn include_contents(mut self, contents: IncludeContents) -> Self {
        self.include_contents = contents;
        self.meta.conversation = contents.shown();
        self.with_history()
    }

    /// Sets the condition for summaries of the older part of the conversation.
    ///
    /// # Panics
    /// Panics if the compaction has no condition, if it would keep all events, or if the agent does
    /// not see the whole conversation.
    #[must_use]
    #[track_caller]
    pub const fn compact(mut self, compact: Compaction) -> Self {
        self.compact = Some(compact);
        self.meta.compacts = true;
        self.with_history()
    }

    #[track_caller]
    const fn with_history(self) -> Self {
        match self.include_contents.fault(self.compact) {
            Some(fault) => panic!("{}", fault),
            None => self,
        }
    }

    /// Sets the maximum of model calls per turn.
    #[must_use]
    pub const fn max_turns(mut self, turns: u32) -> Self {
        self.max_turns = Some(turns);
        self
    }

    /// Sets how many answers of the model may be of the wrong type before the agent fails. Call it
    /// last: for an agent without tools, it also sets the maximum number of model calls.
    ///
    /// # Panics
    /// Panics if the number is zero.
    #[must_use]
    pub const fn answer_attempts(mut self, attempts: u32) -> Self {
        assert!(
            attempts > 0,
            "syntax: `answer_attempts` is 0; help: set 1 or more, as in `answer_attempts: 3`"
        );
        self.answer_attempts = attempts;
        if self.max_turns.is_none() && self.meta.max_turns.is_some() {
            self.meta.max_turns = Some(attempts);
        }
        self
    }

    /// Sets the maximum duration of one attempt of a model call, the number of retries, and the
    /// number of fallback models.
    #[must_use]
    pub const fn timeout(mut self, attempt: Duration, retry: u32, fallback: u32) -> Self {
        self.meta.timeout = Some(
            Retry::new(retry)
                .longest(attempt)
                .saturating_mul(fallback.saturating_add(1)),
        );
        self
    }

    /// Sets the model's name.
    #[must_use]
    pub const fn model(mut self, name: &'static str) -> Self {
        self.meta.model = name;
        self
    }

    /// Sets the maximum number of tokens in a reply.
    #[must_use]
    pub const fn max_output_tokens(mut self, tokens: u32) -> Self {
        self.meta.max_output_tokens = Some(tokens);
        self
    }

    /// Sets whether handovers are disallowed to the parent and to the peers.
    #[must_use]
    pub const fn disallow_transfer(mut self, to_parent: bool, to_peers: bool) -> Self {
        self.disallow_transfer = (to_parent, to_peers);
        self
    }

    setters! { [const]
        /// Sets the function that creates the tools.
        tools(tools: fn() -> Vec<Arc<dyn DynTool>>) = tools;
        /// Sets the function that creates the agents to which the agent may hand over, in the order
        /// of their descriptions.
        sub_agents(agents: fn() -> Vec<Arc<dyn DynAgent>>) = agents;
        /// Sets the function that creates the settings.
        settings(settings: fn() -> LlmSettings) = settings;
    }
}

/// The key that receives an answer, and the type of the answer.
#[derive(Clone, Copy)]
pub struct OutputKey {
    /// The key, with its prefix.
    pub key: &'static str,
    /// The JSON schema of the answer; `None` for text, which is stored unchanged.
    pub schema: Option<fn() -> Arc<Value>>,
    /// Returns the value as its type serializes it, without fields that the type does not have; or
    /// the reason why the value does not fit.
    pub read: fn(&Value) -> Result<Value, String>,
    /// As `read`, but only checks the value. The description of the agent holds this function.
    pub(crate) accepts: Accepts,
    /// The schema for the description.
    pub(crate) described: Option<ValueSchema>,
}

impl OutputKey {
    /// Creates a key for text, which is stored unchanged.
    pub const fn text(key: &'static str) -> Self {
        Self {
            key,
            schema: None,
            read: |value| Ok(value.clone()),
            accepts: |_| Ok(()),
            described: None,
        }
    }

    /// Creates a key for JSON that fits the type `T`.
    pub const fn json<T: schemars::JsonSchema + Serialize + DeserializeOwned>(
        key: &'static str,
    ) -> Self {
        Self {
            key,
            schema: Some(schema::<T>),
            read: read::<T>,
            accepts: accepts::<T>,
            described: Some(ValueSchema::Type {
                hash: || schema::cached_hash(self::schema::<T>),
                text: || self::schema::<T>().to_string(),
            }),
        }
    }
}

fn schema<T: schemars::JsonSchema>() -> Arc<Value> {
    let mut settings = schemars::generate::SchemaSettings::draft2020_12();
    settings.inline_subschemas = true;
    settings.meta_schema = None;
    Arc::new(settings.into_generator().into_root_schema_for::<T>().into())
}

fn read<T: Serialize + DeserializeOwned>(value: &Value) -> Result<Value, String> {
    let value = T::deserialize(value).map_err(|error| error.to_string())?;
    to_json(&value).map_err(|error| format!("it {error}"))
}

impl fmt::Debug for OutputKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "OutputKey({}, {})",
            self.key,
            if self.schema.is_some() {
                "json"
            } else {
                "text"
            }
        )
    }
}

/// Settings of an agent that can change without affecting the checks.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct LlmSettings {
    /// The model; `None` for the runner's model.
    pub model: Option<ModelRef>,
    /// The models that are called in this order when a call failed; the runner's fallback models
    /// if empty.
    pub fallback: Vec<ModelRef>,
    /// Sampling parameters and limits.
    pub generation: GenerationConfig,
    /// The model that summarizes the conversation; `None` for the model of the compaction, or the
    /// agent's model.
    pub compact_by: Option<ModelRef>,
    /// The maximum duration of one model call; `None` for no limit.
    pub timeout: Option<Duration>,
    /// How often a failed call is retried.
    pub retry: Retry,
    /// The budget of one turn, in money or tokens; `None` for no limit.
    pub budget: Option<Budget>,
    /// The maximum of model calls per turn; `None` for no limit.
    pub max_turns: Option<u32>,
    /// Additional tools, if the declaration permits them: `tools: [find, ..]`.
    pub tools: ToolList,
    /// Toolsets, if the declaration permits them: `tools: [files]`, or `tools: [..]`.
    pub toolsets: ToolsetList,
    /// Callbacks before and after the agent.
    pub callbacks: AgentCallbacks,
    /// Callbacks around model calls.
    pub model_callbacks: ModelCallbacks,
    /// Callbacks around tool calls.
    pub tool_callbacks: ToolCallbacks,
}

impl LlmSettings {
    /// Returns the maximum duration of a model call with all attempts and fallback models.
    pub(in crate::agents::llm) fn longest(&self, attempt: Duration) -> Duration {
        let models = u32::try_from(self.fallback.len())
            .unwrap_or(u32::MAX)
            .saturating_add(1);
        self.retry.longest(attempt).saturating_mul(models)
    }
}

/// Tools by value.
#[derive(Clone, Default)]
pub struct ToolList(pub Vec<Arc<dyn DynTool>>);

impl fmt::Debug for ToolList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list()
            .entries(self.0.iter().map(|tool| tool.meta().name))
            .finish()
    }
}

/// Toolsets by value.
#[derive(Clone, Default)]
pub struct ToolsetList(pub Vec<Arc<dyn Toolset>>);

impl fmt::Debug for ToolsetList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list()
            .entries(self.0.iter().map(|toolset| toolset.name()))
            .finish()
    }
}

/// How often a call is retried after a transient failure (429, 5xx, connection, timeout).
///
/// Waits grow from `delay` by a factor of two up to `max_delay`, with jitter. A time that the
/// provider requests takes precedence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Retry {
    /// Number of retries after the first attempt. Default 2.
    pub times: u32,
    /// The first wait. Default 1 s.
    pub delay: Duration,
    /// The longest wait. The call fails if the provider requests a longer one. Default 60 s.
    pub max_delay: Duration,
}

impl Default for Retry {
    fn default() -> Self {
        Self::new(2)
    }
}

impl Retry {
    /// Creates a value with this number of retries and the default waits.
    pub const fn new(times: u32) -> Self {
        Self {
            times,
            delay: Duration::from_secs(1),
            max_delay: Duration::from_secs(60),
        }
    }

    /// Returns the maximum duration of a call with all its attempts and the waits between them.
    pub(crate) const fn longest(&self, attempt: Duration) -> Duration {
        attempt
            .saturating_mul(self.times.saturating_add(1))
            .saturating_add(self.max_delay.saturating_mul(self.times))
    }

    /// Sets the first wait.
    #[must_use]
    pub const fn delay(mut self, wait: Duration) -> Self {
        self.delay = wait;
        self
    }

    /// Returns the waits before further attempts.
    pub(in crate::agents::llm) fn waits(self) -> impl Iterator<Item = Duration> + Send {
        let waits = backon::ExponentialBuilder::new()
            .with_min_delay(self.delay)
            .with_max_delay(self.max_delay)
            .with_max_times(self.times as usize)
            .with_jitter()
            .build();
        waits.map(move |wait| wait.min(self.max_delay))
    }

    /// Sets the longest wait.
    #[must_use]
    pub const fn max_delay(mut self, wait: Duration) -> Self {
        self.max_delay = wait;
        self
    }
}

impl From<u32> for Retry {
    fn from(times: u32) -> Self {
        Self::new(times)
    }
}
