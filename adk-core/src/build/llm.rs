//! LLM agents that are made at run time.

use super::error::BuildError;
use super::item::{DEEPEST, IntoAgent, IntoAgents, Item, Placed, SubAgent};
use super::tree::{Tree, TreeOptions};
use crate::agent::{Key, Parts};
use crate::callback::{
    AgentCallbacks, CallbackContext, ModelCallbacks, Said, ToolCallbacks, With1, With2, With3,
};
use crate::check::Fault;
use crate::llm::{IncludeContents, Instruction, LlmAgent, LlmParts, LlmSettings, Output, OutputKey, Retry};
use crate::model::{ModelRef, ModelRequest, ModelResponse};
use crate::spec::AgentKind;
use crate::tool::DynTool;
use crate::{Error, FunctionCall, Name, Result};
use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::any::TypeId;
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
    tools: Vec<Arc<dyn DynTool>>,
    sub_agents: Vec<SubAgent>,
    disallow_transfer: (bool, bool),
    settings: LlmSettings,
    options: TreeOptions,
}

/// What an answer has to be.
#[derive(Clone)]
pub(super) enum OutputType {
    Type { output: OutputKey, key: fn(String) -> Key },
    Schema(Arc<Value>),
}

impl OutputType {
    /// `String` is text as it is.
    pub(super) fn of<T: JsonSchema + Serialize + DeserializeOwned + 'static>() -> Self {
        let is_text = TypeId::of::<T>() == TypeId::of::<String>();
        let output = if is_text { OutputKey::text("") } else { OutputKey::json::<T>("") };
        Self::Type { output, key: Key::of::<T> }
    }
}

impl LlmAgent {
    /// Begins an agent of that name.
    pub fn builder(name: impl Into<Name>) -> LlmAgentBuilder {
        LlmAgentBuilder { name: name.into(), ..LlmAgentBuilder::default() }
    }
}

impl LlmAgentBuilder {
    /// What it is for; models see it.
    #[must_use]
    pub fn description(mut self, description: impl Into<String>) -> Self {
        self.description = description.into();
        self
    }

    /// The prompt. `{key}` stands for the value of a key, `{key?}` for one that may be absent. A function that makes it
    /// is given as [`Instruction::function`].
    #[must_use]
    pub fn instruction(mut self, prompt: impl Into<Instruction>) -> Self {
        self.instruction = prompt.into();
        self
    }

    /// What it says to itself and to all agents below it. As in ADK, that of the root counts: of an agent inside of a
    /// block it is not looked at.
    #[must_use]
    pub fn global_instruction(mut self, prompt: impl Into<Instruction>) -> Self {
        self.global_instruction = prompt.into();
        self
    }

    /// The model: by name, or by value. Default: the runner's.
    #[must_use]
    pub fn model(mut self, model: impl Into<ModelRef>) -> Self {
        self.settings.model = Some(model.into());
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
        self.output = Some(OutputType::of::<T>());
        self
    }

    /// The JSON schema that its answer has to fit. Without an output key nobody looks whether it does, as in ADK.
    #[must_use]
    pub fn output_schema(mut self, schema: Value) -> Self {
        self.output = Some(OutputType::Schema(Arc::new(schema)));
        self
    }

    /// What it sees of the conversation. Default: all that its branch may see.
    #[must_use]
    pub fn include_contents(mut self, contents: IncludeContents) -> Self {
        self.include_contents = contents;
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

    /// Adds a callback that is called before the agent. Content of it stands in place of the agent, which does not run.
    #[must_use]
    pub fn before_agent<M>(
        mut self,
        callback: impl for<'a> With1<'a, &'a mut CallbackContext, Said, M> + Send + Sync + 'static,
    ) -> Self {
        self.settings.callbacks.before(callback);
        self
    }

    /// Adds a callback that is called after the agent. Content of it is one more event.
    #[must_use]
    pub fn after_agent<M>(
        mut self,
        callback: impl for<'a> With1<'a, &'a mut CallbackContext, Said, M> + Send + Sync + 'static,
    ) -> Self {
        self.settings.callbacks.after(callback);
        self
    }

    /// Adds a callback that is called before each call of the model. See [`ModelCallbacks::before`].
    ///
    /// [`ModelCallbacks::before`]: crate::callback::ModelCallbacks::before
    #[must_use]
    pub fn before_model<M>(
        mut self,
        callback: impl for<'a> With2<'a, &'a mut CallbackContext, &'a mut ModelRequest, ModelResponse, M>
        + Send
        + Sync
        + 'static,
    ) -> Self {
        self.settings.model_callbacks.before(callback);
        self
    }

    /// Adds a callback that is called with each response of the model. See [`ModelCallbacks::after`].
    ///
    /// [`ModelCallbacks::after`]: crate::callback::ModelCallbacks::after
    #[must_use]
    pub fn after_model<M>(
        mut self,
        callback: impl for<'a> With2<'a, &'a mut CallbackContext, &'a mut ModelResponse, ModelResponse, M>
        + Send
        + Sync
        + 'static,
    ) -> Self {
        self.settings.model_callbacks.after(callback);
        self
    }

    /// Adds a callback that is called when a call of the model has failed. See [`ModelCallbacks::on_error`].
    ///
    /// [`ModelCallbacks::on_error`]: crate::callback::ModelCallbacks::on_error
    #[must_use]
    pub fn on_model_error<M>(
        mut self,
        callback: impl for<'a> With3<'a, &'a mut CallbackContext, &'a ModelRequest, &'a Error, ModelResponse, M>
        + Send
        + Sync
        + 'static,
    ) -> Self {
        self.settings.model_callbacks.on_error(callback);
        self
    }

    /// Adds a callback that is called before each call of a tool. See [`ToolCallbacks::before`].
    ///
    /// [`ToolCallbacks::before`]: crate::callback::ToolCallbacks::before
    #[must_use]
    pub fn before_tool<M>(
        mut self,
        callback: impl for<'a> With2<'a, &'a mut CallbackContext, &'a mut FunctionCall, Value, M>
        + Send
        + Sync
        + 'static,
    ) -> Self {
        self.settings.tool_callbacks.before(callback);
        self
    }

    /// Adds a callback that is called with each result of a tool. See [`ToolCallbacks::after`].
    ///
    /// [`ToolCallbacks::after`]: crate::callback::ToolCallbacks::after
    #[must_use]
    pub fn after_tool<M>(
        mut self,
        callback: impl for<'a> With3<'a, &'a mut CallbackContext, &'a FunctionCall, &'a mut Value, Value, M>
        + Send
        + Sync
        + 'static,
    ) -> Self {
        self.settings.tool_callbacks.after(callback);
        self
    }

    /// Adds a callback that is called when a tool has failed. See [`ToolCallbacks::on_error`].
    ///
    /// [`ToolCallbacks::on_error`]: crate::callback::ToolCallbacks::on_error
    #[must_use]
    pub fn on_tool_error<M>(
        mut self,
        callback: impl for<'a> With3<'a, &'a mut CallbackContext, &'a FunctionCall, &'a Error, Value, M>
        + Send
        + Sync
        + 'static,
    ) -> Self {
        self.settings.tool_callbacks.on_error(callback);
        self
    }

    /// The output that a config names.
    pub(super) fn output(mut self, output: OutputType) -> Self {
        self.output = Some(output);
        self
    }

    /// The callbacks that a config names.
    pub(super) fn callbacks(
        mut self,
        agent: AgentCallbacks,
        model: ModelCallbacks,
        tool: ToolCallbacks,
    ) -> Self {
        let settings = &mut self.settings;
        (settings.callbacks, settings.model_callbacks, settings.tool_callbacks) = (agent, model, tool);
        self
    }

    /// Whether faults of the flow are refused when it is built by itself; see [`BlockBuilder`](super::BlockBuilder).
    #[must_use]
    pub fn flow_checks(mut self, yes: bool) -> Self {
        self.options.flow_checks = yes;
        self
    }

    /// All that is wrong with it and the agents below it.
    pub fn check(&self) -> Vec<Fault> {
        Tree::new(self.clone().part().0, self.options.clone()).check()
    }

    /// The agent.
    ///
    /// Placed in a tree it is checked with the whole, so what it reads is not looked at here.
    ///
    /// # Errors
    /// When something else is wrong with it: all of that.
    pub fn build(self) -> Result<LlmAgent, BuildError> {
        let mut faults = self.check();
        faults.retain(|fault| !fault.is_of_flow());
        match faults.is_empty() {
            true => Ok(LlmAgent::made(self.parts())),
            false => Err(BuildError::new(faults, self.part())),
        }
    }

    pub(super) fn part(self) -> SubAgent {
        let depth = 1 + self.sub_agents.iter().map(SubAgent::depth).max().unwrap_or_default();
        let faults = if depth > DEEPEST { Vec::new() } else { self.own_faults() };
        let agent = Arc::new(LlmAgent::made(self.parts()));
        SubAgent(Item::Agent(Placed::with_faults(agent, faults, depth)))
    }

    /// What is wrong with it by itself.
    fn own_faults(&self) -> Vec<Fault> {
        let mut faults = Vec::new();
        for tool in &self.tools {
            let declaration = tool.declaration_dyn();
            if declaration.parameters.get("type").is_none_or(|kind| kind != "object") {
                let fact = format!(
                    "tool `{}` of agent `{}` takes arguments that are no object; help: take a struct, whose fields the model fills in",
                    declaration.name, self.name
                );
                faults.push(Fault::new("tool-argument", &*self.name, fact));
            }
        }
        if self.settings.max_turns == Some(0) {
            let fact = format!(
                "`max_turns` of agent `{}` is 0; help: an agent makes at least one model call",
                self.name
            );
            faults.push(Fault::new("syntax", &*self.name, fact));
        }
        // Blocks below it are trees of their own.
        let blocks = self.sub_agents.iter().filter(|part| matches!(part.0, Item::Block(_)));
        let inner = blocks.flat_map(|part| Tree::part(part.0.clone()).check());
        faults.extend(inner.filter(|fault| !fault.is_of_flow()));
        faults
    }

    fn parts(self) -> LlmParts {
        let mut parts = Parts::new(AgentKind::Llm, &*self.name);
        parts.description = self.description;
        let prompts =
            [&self.instruction, &self.global_instruction].into_iter().filter_map(Instruction::prompt);
        parts.prompts = prompts.filter(|prompt| !prompt.is_empty()).map(str::to_owned).collect();
        let kept = self.sub_agents.iter().filter(|part| part.depth() < DEEPEST);
        parts.transfer = kept.map(SubAgent::to_agent).collect();
        let short = self.tools.is_empty() && parts.transfer.is_empty();
        let is_text = !matches!(&self.output, Some(OutputType::Schema(_)))
            && !matches!(&self.output, Some(OutputType::Type { output, .. }) if output.schema.is_some());
        parts.max_turns = if short && is_text { Some(1) } else { self.settings.max_turns };
        parts.may_exit = self.tools.iter().any(|tool| tool.meta().may_exit);
        parts.tools = self.tools;
        let name = self.output_key;
        let key = name.as_deref();
        let (output, key) = match self.output {
            None => (name.clone().map(Output::text), key.map(Key::of::<String>)),
            Some(OutputType::Type { output, key: typed }) => {
                (Some(Output::typed(name.clone(), output)), key.map(|key| typed(key.to_owned())))
            }
            Some(OutputType::Schema(schema)) => {
                (Some(Output::schema_of(name.clone(), schema)), key.map(Key::any))
            }
        };
        parts.writes.extend(key);
        LlmParts {
            parts,
            instruction: self.instruction,
            global: self.global_instruction,
            output,
            include_contents: self.include_contents,
            disallow_transfer: self.disallow_transfer,
            settings: self.settings,
        }
    }
}

pub(super) fn too_deep(name: &str) -> Fault {
    let fact = format!(
        "more than {DEEPEST} blocks and agents stand inside of each other, `{name}` the outermost; help: make the tree flatter"
    );
    Fault::new("syntax", name, fact)
}

impl fmt::Debug for LlmAgentBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LlmAgentBuilder").field("name", &self.name).finish_non_exhaustive()
    }
}
