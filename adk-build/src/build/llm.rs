//! [`LlmAgentBuilder`]: LLM agents that are built at run time.

mod agent;
mod callbacks;
mod finish;
mod output;

pub use agent::LlmAgent;
pub(super) use output::OutputType;

use super::guards::TreeGuards;
use super::item::{AsPart, IntoAgent, IntoAgents, SubAgent};
use super::tree::TreeOptions;
use adk_core::__private::build::DescribedTools;
use adk_core::Name;
use adk_core::llm::{Compaction, IncludeContents, Instruction, LlmSettings, Retry};
use adk_core::model::ModelRef;
use adk_core::spec::Budget;
use adk_core::tool::{DeclaredToolset, DynTool};
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
    include_contents: IncludeContents,
    compact: Option<Compaction>,
    answer: AnswerOptions,
    tools: DescribedTools,
    sub_agents: Vec<SubAgent>,
    disallow_transfer: (bool, bool),
    settings: LlmSettings,
    options: TreeOptions,
}

/// The answer of an agent.
#[derive(Clone, Default)]
struct AnswerOptions {
    /// The key that receives the answer.
    key: Option<Name>,
    form: Option<OutputType>,
    /// The maximum of answers until one fits the form.
    attempts: Option<u32>,
}

impl LlmAgentBuilder {
    setters! { []
        /// Sets the description of the agent, which models see.
        description(description: impl Into<String>) = description.into();
        /// Sets the prompt. `{key}` is replaced with the value of a key, and `{key?}` with the
        /// value of a key that may be absent. [`Instruction::function`] wraps a function that
        /// returns the prompt.
        instruction(prompt: impl Into<Instruction>) = prompt.into();
        /// Sets an instruction for the agent and all agents below it. As in ADK, only the
        /// instruction of the root counts; an agent inside of a block does not use its own.
        global_instruction(prompt: impl Into<Instruction>) = prompt.into();
    }

    /// Sets the model: by name, or by value. Default: the model of the runner.
    #[must_use]
    pub fn model(mut self, model: impl Into<ModelRef>) -> Self {
        self.settings.model = Some(model.into());
        self
    }

    /// Sets the models to call, in this order, when a call has failed for good or was rejected for
    /// load (429, 5xx): by name, or by value. No fallback is called after a part of an answer was
    /// passed on. Default: the models of the runner.
    #[must_use]
    pub fn fallback<M: Into<ModelRef>>(mut self, models: impl IntoIterator<Item = M>) -> Self {
        self.settings.fallback = models.into_iter().map(Into::into).collect();
        self
    }

    /// Sets the budget of one turn: `"0.50 USD".parse()?`, or `"20_000 tokens".parse()?`. Default:
    /// no limit.
    #[must_use]
    pub fn budget(mut self, budget: Budget) -> Self {
        self.settings.budget = Some(budget);
        self
    }

    /// Sets the key that receives the answer.
    #[must_use]
    pub fn output_key(mut self, key: impl Into<Name>) -> Self {
        self.answer.key = Some(key.into());
        self
    }

    /// Sets the type of the answer, which the model writes as JSON. `String` means plain text.
    #[must_use]
    pub fn output_type<T: JsonSchema + Serialize + DeserializeOwned + 'static>(mut self) -> Self {
        self.answer.form = Some(OutputType::from_type::<T>());
        self
    }

    /// Sets the JSON schema of the answer. Without an output key the answer is not checked, as in
    /// ADK.
    #[must_use]
    pub fn output_schema(mut self, schema: Value) -> Self {
        self.answer.form = Some(OutputType::Schema(Arc::new(schema)));
        self
    }

    setters! { []
        /// Sets which part of the conversation the agent sees. Default: everything that its branch
        /// may see.
        include_contents(contents: IncludeContents) = contents;
        /// Sets when the older part of the conversation is summarized. Default: never.
        compact(compact: Compaction) = Some(compact);
    }

    /// Sets the model that summarizes, by name or by value. Default: the model of the compaction,
    /// otherwise the model of the agent.
    #[must_use]
    pub fn compact_by(mut self, model: impl Into<ModelRef>) -> Self {
        self.settings.compact_by = Some(model.into());
        self
    }

    /// Adds a tool.
    #[must_use]
    pub fn tool(mut self, tool: impl DynTool) -> Self {
        self.tools.own.push(Arc::new(tool));
        self
    }

    /// Adds tools.
    #[must_use]
    pub fn tools(mut self, tools: impl IntoIterator<Item = Arc<dyn DynTool>>) -> Self {
        self.tools.own.extend(tools);
        self
    }

    /// Adds a toolset, which supplies tools at run time. As a [`DeclaredToolset`] it has labels, or
    /// is restricted to the tools of a file.
    #[must_use]
    pub fn toolset(mut self, toolset: impl Into<DeclaredToolset>) -> Self {
        self.tools.sets.push(toolset.into());
        self
    }

    /// Adds an agent to which the agent may hand over.
    #[must_use]
    pub fn sub_agent<M>(mut self, agent: impl IntoAgent<M>) -> Self {
        self.sub_agents.push(agent.into_agent());
        self
    }

    /// Adds agents to which the agent may hand over: a list of one type, or a tuple of any types.
    #[must_use]
    pub fn sub_agents<M>(mut self, agents: impl IntoAgents<M>) -> Self {
        self.sub_agents.extend(agents.into_agents());
        self
    }

    /// Sets whether the agent must not hand back to its parent. Default: `false`.
    #[must_use]
    pub fn disallow_transfer_to_parent(mut self, yes: bool) -> Self {
        self.disallow_transfer.0 = yes;
        self
    }

    /// Sets whether the agent must not hand over to the other agents of its parent. Default:
    /// `false`.
    #[must_use]
    pub fn disallow_transfer_to_peers(mut self, yes: bool) -> Self {
        self.disallow_transfer.1 = yes;
        self
    }

    /// Sets the sampling temperature; 0 means no randomness.
    #[must_use]
    pub fn temperature(mut self, temperature: f64) -> Self {
        self.settings.generation.temperature = Some(temperature);
        self
    }

    /// Sets the probability mass of nucleus sampling, from 0 to 1.
    #[must_use]
    pub fn top_p(mut self, top_p: f64) -> Self {
        self.settings.generation.top_p = Some(top_p);
        self
    }

    /// Sets the maximum number of tokens in an answer.
    #[must_use]
    pub fn max_output_tokens(mut self, tokens: u32) -> Self {
        self.settings.generation.max_output_tokens = Some(tokens);
        self
    }

    /// Sets texts that end the answer.
    #[must_use]
    pub fn stop<S: Into<String>>(mut self, texts: impl IntoIterator<Item = S>) -> Self {
        self.settings.generation.stop = texts.into_iter().map(Into::into).collect();
        self
    }

    /// Sets a seed for repeatable sampling, if the provider supports seeds.
    #[must_use]
    pub fn seed(mut self, seed: u64) -> Self {
        self.settings.generation.seed = Some(seed);
        self
    }

    /// Sets the timeout of one model call. Default: no limit.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.settings.timeout = Some(timeout);
        self
    }

    /// Sets how often a failed call is repeated: a number, or a [`Retry`].
    #[must_use]
    pub fn retry(mut self, retry: impl Into<Retry>) -> Self {
        self.settings.retry = retry.into();
        self
    }

    /// Sets the maximum number of model calls in one turn, 1 or more. Default: no limit.
    #[must_use]
    pub fn max_turns(mut self, turns: u32) -> Self {
        self.settings.max_turns = Some(turns);
        self
    }

    /// Sets how many answers the model may give until one fits the output type, 1 or more. A retry
    /// shows the model the fault and its place. Default: 3. Each attempt counts as a turn.
    #[must_use]
    pub fn answer_attempts(mut self, attempts: u32) -> Self {
        self.answer.attempts = Some(attempts);
        self
    }

    /// Sets the output of a config.
    pub(super) fn output(mut self, output: OutputType) -> Self {
        self.answer.form = Some(output);
        self
    }

    /// Sets whether the agent, when it is built by itself, rejects faults of the flow; see
    /// [`BlockBuilder`](super::BlockBuilder).
    #[must_use]
    pub fn flow_checks(mut self, yes: bool) -> Self {
        self.options.flow_checks = yes;
        self
    }

    /// Sets the rules of the tree of this agent about text that strangers wrote, or whether the
    /// agent, when it is built by itself, rejects text of strangers that may steer an action; see
    /// [`BlockBuilder`](super::BlockBuilder).
    #[must_use]
    pub fn guards(mut self, guards: impl Into<TreeGuards>) -> Self {
        self.options.guards = guards.into();
        self
    }
}

impl fmt::Debug for LlmAgentBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LlmAgentBuilder")
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}

impl IntoAgent<AsPart> for LlmAgentBuilder {
    fn into_agent(self) -> SubAgent {
        self.part()
    }
}
