//! What the declaration of an LLM agent says: the fixed part that checks depend on, and settings that may change.

use super::{Compaction, Instruction};
use crate::encode::to_json;
use crate::models::model::{GenerationConfig, ModelRef};
use crate::runtime::callback::{AgentCallbacks, ModelCallbacks, ToolCallbacks};
use crate::runtime::tool::{DynTool, Toolset};
use crate::spec::{Accepts, AgentMeta, Budget, Conversation, ToolMeta, ValueSchema, accepts, schema};
use adk_spec::__private::stub_if;
use adk_spec::setters;
use backon::BackoffBuilder;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// How often a model may answer until an answer fits its type, where nothing else is said.
pub(crate) const ANSWER_ATTEMPTS: u32 = 3;

/// The declaration of an LLM agent. `workflow!` has checked it, so nothing can change it.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct LlmDecl {
    /// Name, description, keys, tools.
    pub meta: AgentMeta<'static>,
    /// The prompt with its placeholders; empty for none.
    pub instruction: &'static str,
    /// Makes the instruction, where it is no prompt.
    pub make_instruction: Option<fn() -> Instruction>,
    /// The prompt for the agent and all those below it; empty for none.
    pub global_instruction: &'static str,
    /// Makes that, where it is no prompt.
    pub make_global_instruction: Option<fn() -> Instruction>,
    /// The key that the answer is written to.
    pub output: Option<OutputKey>,
    /// What the agent sees of the conversation.
    pub include_contents: IncludeContents,
    /// When the older part of it is summarised; never for `None`.
    pub compact: Option<Compaction>,
    /// The most model calls of one turn, as it was declared.
    pub max_turns: Option<u32>,
    /// The most answers of one turn that may not fit the output type, and the last is the error.
    pub answer_attempts: u32,
    /// As a target of a transfer, it cannot hand back to its parent.
    pub disallow_transfer_to_parent: bool,
    /// As a target of a transfer, it cannot hand on to the other targets.
    pub disallow_transfer_to_peers: bool,
    /// Makes its tools.
    pub tools: fn() -> Vec<Arc<dyn DynTool>>,
    /// Makes its settings as declared.
    pub settings: fn() -> LlmSettings,
}

impl LlmDecl {
    /// An agent without instruction, output, tools or settings.
    pub const fn new(meta: AgentMeta<'static>) -> Self {
        Self {
            meta,
            instruction: "",
            make_instruction: None,
            global_instruction: "",
            make_global_instruction: None,
            output: None,
            include_contents: IncludeContents::Default,
            compact: None,
            max_turns: None,
            answer_attempts: ANSWER_ATTEMPTS,
            disallow_transfer_to_parent: false,
            disallow_transfer_to_peers: false,
            tools: Vec::new,
            settings: LlmSettings::default,
        }
    }

    /// The description of its tools.
    #[must_use]
    pub const fn tool_metas(mut self, tools: &'static [ToolMeta<'static>]) -> Self {
        self.meta = self.meta.tools(tools);
        let (mut i, ends) = (0, self.meta.may_exit);
        while ends && i < tools.len() {
            // A stub for something that is no tool has no name, and may end a loop.
            self.meta = stub_if(tools[i].name.is_empty(), self.meta);
            i += 1;
        }
        self
    }

    /// More tools may be added to it at run time.
    #[must_use]
    pub const fn more_tools(mut self) -> Self {
        self.meta = self.meta.more_tools(true);
        self
    }

    /// The agents that it may transfer to.
    #[must_use]
    pub const fn transfer(mut self, targets: &'static [&'static AgentMeta<'static>]) -> Self {
        self.meta = self.meta.transfer(targets);
        self
    }

    setters! { [const]
        /// The prompt.
        instruction(prompt: &'static str) = prompt;
        /// The prompt for the agent and all those below it.
        global_instruction(prompt: &'static str) = prompt;
    }

    /// Makes the instruction, where it is no prompt.
    #[must_use]
    pub const fn make_instruction(mut self, make: fn() -> Instruction) -> Self {
        self.make_instruction = Some(make);
        self.meta.own_code = self.meta.own_code || self.instruction.is_empty();
        self
    }

    /// Makes the global one, where that is no prompt.
    #[must_use]
    pub const fn make_global_instruction(mut self, make: fn() -> Instruction) -> Self {
        self.make_global_instruction = Some(make);
        self.meta.own_code = self.meta.own_code || self.global_instruction.is_empty();
        self
    }

    /// It has callbacks.
    #[must_use]
    pub const fn callbacks(mut self) -> Self {
        self.meta.own_code = true;
        self
    }

    /// The key that the answer is written to.
    #[must_use]
    pub const fn output(mut self, output: OutputKey) -> Self {
        self.output = Some(output);
        self.meta.schema = output.described;
        self
    }

    /// What the agent sees of the conversation.
    ///
    /// # Panics
    /// When it is nothing.
    #[must_use]
    pub const fn include_contents(mut self, contents: IncludeContents) -> Self {
        self.include_contents = contents;
        self.meta.conversation = match contents {
            IncludeContents::Default | IncludeContents::Last(_) => Conversation::Shown,
            IncludeContents::None => Conversation::CurrentTurn,
            IncludeContents::Prompt => Conversation::Hidden,
        };
        self.with_history()
    }

    /// When the older part of the conversation is summarised.
    ///
    /// # Panics
    /// When it does not say when, would keep all, or is beside other contents.
    #[must_use]
    pub const fn compact(mut self, compact: Compaction) -> Self {
        self.compact = Some(compact);
        self.meta.compacts = true;
        self.with_history()
    }

    const fn with_history(self) -> Self {
        match self.include_contents.fault(self.compact) {
            Some(fault) => panic!("{}", fault),
            None => self,
        }
    }

    /// The most model calls of one turn.
    #[must_use]
    pub const fn max_turns(mut self, turns: u32) -> Self {
        self.max_turns = Some(turns);
        self
    }

    /// The most answers that may not fit the output type, of an agent that is declared whole otherwise: they are all its
    /// model calls where nothing else makes it ask again.
    ///
    /// # Panics
    /// When there are none.
    #[must_use]
    pub const fn answer_attempts(mut self, attempts: u32) -> Self {
        assert!(attempts > 0, "syntax: `answer_attempts` is 0; help: 1 or more, as in `answer_attempts: 3`");
        self.answer_attempts = attempts;
        if self.max_turns.is_none() && self.meta.max_turns.is_some() {
            self.meta.max_turns = Some(attempts);
        }
        self
    }

    /// The longest that one attempt of a model call may take, how often it is made again, and how many other models are asked
    /// after that.
    #[must_use]
    pub const fn timeout(mut self, attempt: Duration, retry: u32, fallback: u32) -> Self {
        self.meta.timeout =
            Some(Retry::new(retry).longest(attempt).saturating_mul(fallback.saturating_add(1)));
        self
    }

    /// The model, as a text.
    #[must_use]
    pub const fn model(mut self, name: &'static str) -> Self {
        self.meta.model = name;
        self
    }

    /// The most tokens of one answer.
    #[must_use]
    pub const fn max_output_tokens(mut self, tokens: u32) -> Self {
        self.meta.max_output_tokens = Some(tokens);
        self
    }

    /// Where it cannot transfer to.
    #[must_use]
    pub const fn disallow_transfer(mut self, to_parent: bool, to_peers: bool) -> Self {
        (self.disallow_transfer_to_parent, self.disallow_transfer_to_peers) = (to_parent, to_peers);
        self
    }

    setters! { [const]
        /// Makes its tools.
        tools(tools: fn() -> Vec<Arc<dyn DynTool>>) = tools;
        /// Makes its settings.
        settings(settings: fn() -> LlmSettings) = settings;
    }
}

/// The key that an answer is written to, and how.
#[derive(Clone, Copy)]
pub struct OutputKey {
    /// The key, with its prefix if it has one.
    pub key: &'static str,
    /// The JSON schema that the model has to keep to; `None` writes the text as it is.
    pub schema: Option<fn() -> Arc<Value>>,
    /// Reads a value, and gives it as its type serializes it, without fields that the type does not have; or says why it does
    /// not fit.
    pub read: fn(&Value) -> Result<Value, String>,
    /// Whether `read` takes a value, for a description, which does not know what a JSON value is.
    pub(crate) accepts: Accepts,
    /// The schema, as a description has it.
    pub(crate) described: Option<ValueSchema>,
}

impl OutputKey {
    /// Text as it is.
    pub const fn text(key: &'static str) -> Self {
        Self { key, schema: None, read: |value| Ok(value.clone()), accepts: |_| Ok(()), described: None }
    }

    /// JSON that fits a type.
    pub const fn json<T: schemars::JsonSchema + Serialize + DeserializeOwned>(key: &'static str) -> Self {
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
        write!(f, "OutputKey({}, {})", self.key, if self.schema.is_some() { "json" } else { "text" })
    }
}

/// What an agent sees of the conversation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum IncludeContents {
    /// All that its branch may see.
    #[default]
    Default,
    /// The current turn only: from the latest message of the user, or the latest reply of another agent, which is a part of it.
    None,
    /// Its own calls of this turn and their answers, and nothing else: neither the message of the user nor what others said. In a
    /// live run it is the same as `None`, since what the user says there is the turn.
    Prompt,
    /// The last so many turns, 1 or more: each begins with a message of the user. Nothing older is read.
    Last(u32),
}

impl IncludeContents {
    /// What is wrong with it, and with the compaction of the same agent.
    pub(crate) const fn fault(self, compact: Option<Compaction>) -> Option<&'static str> {
        match (self, compact) {
            (Self::Last(0), _) => {
                Some("syntax: `include_contents` shows the last 0 turns; help: 1 or more, as in `last(8)`")
            }
            (Self::Default, Some(compact)) => compact.fault(),
            (_, Some(_)) => Some(
                "syntax: `compact` summarises what the agent sees, and `include_contents` shows it the newest turns alone; help: remove one of them",
            ),
            (_, None) => None,
        }
    }
}

/// What may be set on an agent without touching what was checked.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct LlmSettings {
    /// The model; the runner's for `None`.
    pub model: Option<ModelRef>,
    /// The models that are asked in this order when a call has failed; the runner's where there are none.
    pub fallback: Vec<ModelRef>,
    /// Sampling and limits.
    pub generation: GenerationConfig,
    /// The model that summarises the conversation; for `None` the one that the compaction names, or the agent's.
    pub compact_by: Option<ModelRef>,
    /// The longest that one call of the model may take; no limit for `None`.
    pub timeout: Option<Duration>,
    /// How often a failed call is made again.
    pub retry: Retry,
    /// What one turn may use, in money or in tokens; no limit for `None`.
    pub budget: Option<Budget>,
    /// The most model calls of one turn; no limit for `None`.
    pub max_turns: Option<u32>,
    /// Tools beside the declared ones, where the declaration says that there may be some: `tools: [find, ..]`.
    pub tools: ToolList,
    /// Toolsets, where the declaration says that there may be some: `tools: [files]`, or `tools: [..]`.
    pub toolsets: ToolsetList,
    /// What is asked before and after the agent.
    pub callbacks: AgentCallbacks,
    /// What is asked around its model calls.
    pub model_callbacks: ModelCallbacks,
    /// What is asked around its tool calls.
    pub tool_callbacks: ToolCallbacks,
}

impl LlmSettings {
    /// The longest that a model call may take when one attempt takes so long.
    pub(super) fn longest(&self, attempt: Duration) -> Duration {
        let models = u32::try_from(self.fallback.len()).unwrap_or(u32::MAX).saturating_add(1);
        self.retry.longest(attempt).saturating_mul(models)
    }
}

/// Tools by value.
#[derive(Clone, Default)]
pub struct ToolList(pub Vec<Arc<dyn DynTool>>);

impl fmt::Debug for ToolList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.0.iter().map(|tool| tool.meta().name)).finish()
    }
}

/// Toolsets by value.
#[derive(Clone, Default)]
pub struct ToolsetList(pub Vec<Arc<dyn Toolset>>);

impl fmt::Debug for ToolsetList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.0.iter().map(|toolset| toolset.name())).finish()
    }
}

/// How often a call that failed for a passing reason is made again (429, 5xx, connection, timeout).
///
/// Waits grow from `delay` by a factor of two up to `max_delay`, with jitter; a time that the provider asks for wins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Retry {
    /// How many times after the first. Default 2.
    pub times: u32,
    /// The first wait. Default 1 s.
    pub delay: Duration,
    /// The longest wait, also where the provider asks for a longer one: then the call fails. Default 60 s.
    pub max_delay: Duration,
}

impl Default for Retry {
    fn default() -> Self {
        Self::new(2)
    }
}

impl Retry {
    /// That many times, with the default waits.
    pub const fn new(times: u32) -> Self {
        Self { times, delay: Duration::from_secs(1), max_delay: Duration::from_secs(60) }
    }

    /// The longest that a call may take with all its attempts and the waits between them.
    pub(crate) const fn longest(&self, attempt: Duration) -> Duration {
        attempt
            .saturating_mul(self.times.saturating_add(1))
            .saturating_add(self.max_delay.saturating_mul(self.times))
    }

    /// The first wait.
    #[must_use]
    pub const fn delay(mut self, wait: Duration) -> Self {
        self.delay = wait;
        self
    }

    /// The waits before further attempts.
    pub(super) fn waits(self) -> impl Iterator<Item = Duration> + Send {
        let waits = backon::ExponentialBuilder::new()
            .with_min_delay(self.delay)
            .with_max_delay(self.max_delay)
            .with_max_times(self.times as usize)
            .with_jitter()
            .build();
        waits.map(move |wait| wait.min(self.max_delay))
    }

    /// The longest wait.
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
