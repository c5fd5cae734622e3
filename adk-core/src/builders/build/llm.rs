//! LLM agents that are made at run time.

mod callbacks;
mod finish;
mod output;

pub(super) use finish::depth_fault;
pub(super) use output::OutputType;

use super::item::{IntoAgent, IntoAgents, SubAgent};
use super::tree::TreeOptions;
use crate::Name;
use crate::agents::llm::{Compaction, IncludeContents, Instruction, LlmAgent, LlmSettings, Retry};
use crate::models::model::ModelRef;
use crate::runtime::tool::{DynTool, Toolset};
use crate::spec::Budget;
use adk_spec::setters;
use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// Builds an [`LlmAgent`], with ADK's names of the fields.
#[derive(Clone, Default)]
pub struct LlmAgentBuilder {
    name: Name,
    description: String,
    instruction: Instruction,
    global_instruction: Instruction,
    output_key: Option<Name>,
    output: Option<OutputType>,
    include_contents: IncludeContents,
    compact: Option<Compaction>,
    answer_attempts: Option<u32>,
    tools: Vec<Arc<dyn DynTool>>,
    sub_agents: Vec<SubAgent>,
    disallow_transfer: (bool, bool),
    settings: LlmSettings,
    options: TreeOptions,
}

impl LlmAgent {
    /// Begins an agent of that name.
    pub fn builder(name: impl Into<Name>) -> LlmAgentBuilder {
        LlmAgentBuilder { name: name.into(), ..LlmAgentBuilder::default() }
    }
}

impl LlmAgentBuilder {
    setters! { []
        /// What it is for; models see it.
        description(description: impl Into<String>) = description.into();
        /// The prompt. `{key}` is replaced with the value of a key, `{key?}` with one that may be absent. A function that makes it
        /// is given as [`Instruction::function`].
        instruction(prompt: impl Into<Instruction>) = prompt.into();
        /// What it says to itself and to all agents below it. As in ADK, that of the root counts: of an agent inside of a
        /// block it is not looked at.
        global_instruction(prompt: impl Into<Instruction>) = prompt.into();
    }

    /// The model: by name, or by value. Default: the runner's.
    #[must_use]
    pub fn model(mut self, model: impl Into<ModelRef>) -> Self {
        self.settings.model = Some(model.into());
        self
    }

    /// The models that are asked in this order when a call has failed for good, or was refused for load (429, 5xx): by name,
    /// or by value. Never after a part of an answer was handed on. Default: the runner's.
    #[must_use]
    pub fn fallback<M: Into<ModelRef>>(mut self, models: impl IntoIterator<Item = M>) -> Self {
        self.settings.fallback = models.into_iter().map(Into::into).collect();
        self
    }

    /// What one turn may use: `"0.50 USD".parse()?`, or `"20_000 tokens".parse()?`. Default: no limit.
    #[must_use]
    pub fn budget(mut self, budget: Budget) -> Self {
        self.settings.budget = Some(budget);
        self
    }

    /// The key that its answer is written to.
    #[must_use]
    pub fn output_key(mut self, key: impl Into<Name>) -> Self {
        self.output_key = Some(key.into());
        self
    }

    /// The type that its answer has to be, as JSON. `String` is text as it is.
    #[must_use]
    pub fn output_type<T: JsonSchema + Serialize + DeserializeOwned + 'static>(mut self) -> Self {
        self.output = Some(OutputType::from_type::<T>());
        self
    }

    /// The JSON schema that its answer has to fit. Without an output key nobody looks whether it does, as in ADK.
    #[must_use]
    pub fn output_schema(mut self, schema: Value) -> Self {
        self.output = Some(OutputType::Schema(Arc::new(schema)));
        self
    }

    setters! { []
        /// What it sees of the conversation. Default: all that its branch may see.
        include_contents(contents: IncludeContents) = contents;
        /// When the older part of the conversation is summarised. Default: never.
        compact(compact: Compaction) = Some(compact);
    }

    /// The model that summarises, by name or by value. Default: the one that the compaction names, otherwise the agent's.
    #[must_use]
    pub fn compact_by(mut self, model: impl Into<ModelRef>) -> Self {
        self.settings.compact_by = Some(model.into());
        self
    }

    /// Adds a tool.
    #[must_use]
    pub fn tool(mut self, tool: impl DynTool) -> Self {
        self.tools.push(Arc::new(tool));
        self
    }

    /// Adds tools.
    #[must_use]
    pub fn tools(mut self, tools: impl IntoIterator<Item = Arc<dyn DynTool>>) -> Self {
        self.tools.extend(tools);
        self
    }

    /// Adds a toolset, whose tools are known at run time only.
    #[must_use]
    pub fn toolset(mut self, toolset: impl Toolset) -> Self {
        self.settings.toolsets.0.push(Arc::new(toolset));
        self
    }

    /// Adds an agent to which it may hand on.
    #[must_use]
    pub fn sub_agent(mut self, agent: impl IntoAgent) -> Self {
        self.sub_agents.push(agent.into_agent());
        self
    }

    /// Adds agents to which it may hand on: a list of one type, or a tuple of any types.
    #[must_use]
    pub fn sub_agents(mut self, agents: impl IntoAgents) -> Self {
        self.sub_agents.extend(agents.into_agents());
        self
    }

    /// Whether it cannot hand back to its parent. Default `false`.
    #[must_use]
    pub fn disallow_transfer_to_parent(mut self, yes: bool) -> Self {
        self.disallow_transfer.0 = yes;
        self
    }

    /// Whether it cannot hand on to the other agents of its parent. Default `false`.
    #[must_use]
    pub fn disallow_transfer_to_peers(mut self, yes: bool) -> Self {
        self.disallow_transfer.1 = yes;
        self
    }

    /// Randomness, 0 for none.
    #[must_use]
    pub fn temperature(mut self, temperature: f64) -> Self {
        self.settings.generation.temperature = Some(temperature);
        self
    }

    /// Nucleus sampling, 0 to 1.
    #[must_use]
    pub fn top_p(mut self, top_p: f64) -> Self {
        self.settings.generation.top_p = Some(top_p);
        self
    }

    /// The most tokens to answer with.
    #[must_use]
    pub fn max_output_tokens(mut self, tokens: u32) -> Self {
        self.settings.generation.max_output_tokens = Some(tokens);
        self
    }

    /// Texts that end the answer.
    #[must_use]
    pub fn stop<S: Into<String>>(mut self, texts: impl IntoIterator<Item = S>) -> Self {
        self.settings.generation.stop = texts.into_iter().map(Into::into).collect();
        self
    }

    /// For repeatable sampling, where the provider has it.
    #[must_use]
    pub fn seed(mut self, seed: u64) -> Self {
        self.settings.generation.seed = Some(seed);
        self
    }

    /// The longest that one call of the model may take. Default: no limit.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.settings.timeout = Some(timeout);
        self
    }

    /// How often a failed call is made again: a number, or a [`Retry`].
    #[must_use]
    pub fn retry(mut self, retry: impl Into<Retry>) -> Self {
        self.settings.retry = retry.into();
        self
    }

    /// The most model calls of one turn, 1 or more. Default: no limit.
    #[must_use]
    pub fn max_turns(mut self, turns: u32) -> Self {
        self.settings.max_turns = Some(turns);
        self
    }

    /// How often the model may answer until an answer fits the output type, 1 or more: it hears what is wrong and where, and
    /// asked again. Default 3. Each attempt counts as a turn.
    #[must_use]
    pub fn answer_attempts(mut self, attempts: u32) -> Self {
        self.answer_attempts = Some(attempts);
        self
    }

    /// The output that a config names.
    pub(super) fn output(mut self, output: OutputType) -> Self {
        self.output = Some(output);
        self
    }

    /// Whether faults of the flow are refused when it is built by itself; see [`BlockBuilder`](super::BlockBuilder).
    #[must_use]
    pub fn flow_checks(mut self, yes: bool) -> Self {
        self.options.flow_checks = yes;
        self
    }
}

impl fmt::Debug for LlmAgentBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LlmAgentBuilder").field("name", &self.name).finish_non_exhaustive()
    }
}
