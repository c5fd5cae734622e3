//! An agent that a macro declared, as a type.

use super::LlmAgent;
use super::declare::{LlmDecl, LlmSettings, Retry, ToolsetList};
use crate::flow::Flow;
use crate::models::model::ModelRef;
use crate::runtime::agent::{Agent, Handover};
use crate::runtime::callback::{
    AfterAgent, AfterModel, AfterTool, AgentCallbacks, BeforeAgent, BeforeModel, BeforeTool, OnModelError,
    OnToolError, setters,
};
use crate::runtime::run::{Context, Prepare};
use crate::runtime::tool::{DynTool, Toolset};
use crate::spec::AgentMeta;
use crate::spec::Budget;
use crate::{Content, DynAgent, Event, Result};
use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;
use std::time::Duration;

/// The declarations of a type by number: what a macro implements for each `agent NAME { ... }`.
pub trait Declares<const N: usize> {
    /// The declaration.
    const DECL: LlmDecl;
    /// The description of the agent.
    const META: &'static AgentMeta<'static> = &Self::DECL.meta;
}

/// The `N`th agent that `W` declares.
///
/// Each declared agent is a type of its own, so that two of them cannot be exchanged. What would void a check is refused when
/// a run starts, before any model call, with an error of kind [`Unchecked`](crate::ErrorKind::Unchecked).
pub struct Declared<W, const N: usize = 0> {
    agent: LlmAgent,
    owner: PhantomData<fn() -> W>,
}

impl<W: Declares<N>, const N: usize> Default for Declared<W, N> {
    fn default() -> Self {
        Self { agent: LlmAgent::declared(const { &W::DECL }), owner: PhantomData }
    }
}

#[diagnostic::do_not_recommend]
impl<W: Declares<N>, const N: usize> Agent for Declared<W, N> {
    const META: AgentMeta<'static> = W::DECL.meta;

    fn run(&self, cx: &mut Context) -> impl Future<Output = Result<Flow>> + Send {
        run(&self.agent, cx)
    }

    fn prepare(&self, prepare: &mut Prepare<'_>) {
        self.agent.prepare_dyn(prepare);
    }

    fn handover(&self) -> Handover<'_> {
        self.agent.handover_dyn()
    }

    fn callbacks(&self) -> Option<&AgentCallbacks> {
        self.agent.callbacks_dyn()
    }

    fn stand_in(&self, content: Content) -> Result<Event> {
        self.agent.stand_in_dyn(content)
    }
}

/// Runs an agent that a macro declared. A function of its own, so that rustc knows its future to be `Send` without a proof
/// for each of these agents.
#[expect(clippy::manual_async_fn, reason = "`Send` is a part of the signature")]
fn run(agent: &dyn DynAgent, cx: &mut Context) -> impl Future<Output = Result<Flow>> + Send {
    async move { agent.run_dyn(cx).await }
}

/// What may be set.
impl<W, const N: usize> Declared<W, N> {
    /// The model: by name, or by value.
    pub fn set_model(&mut self, model: impl Into<ModelRef>) -> &mut Self {
        self.set(|settings| settings.model = Some(model.into()))
    }

    /// The models that are asked in this order when a call has failed for good, or was refused for load.
    pub fn set_fallback<M: Into<ModelRef>>(&mut self, models: impl IntoIterator<Item = M>) -> &mut Self {
        self.set(|settings| settings.fallback = models.into_iter().map(Into::into).collect())
    }

    /// The model that summarises the conversation, by name or by value, where the declaration has `compact`.
    pub fn set_compact_by(&mut self, model: impl Into<ModelRef>) -> &mut Self {
        self.set(|settings| settings.compact_by = Some(model.into()))
    }

    /// What one turn may use: `"0.50 USD".parse()?`, or `"20_000 tokens".parse()?`.
    pub fn set_budget(&mut self, budget: Budget) -> &mut Self {
        self.set(|settings| settings.budget = Some(budget))
    }

    /// Randomness, 0 for none.
    pub fn set_temperature(&mut self, temperature: f64) -> &mut Self {
        self.set(|settings| settings.generation.temperature = Some(temperature))
    }

    /// Nucleus sampling, 0 to 1.
    pub fn set_top_p(&mut self, top_p: f64) -> &mut Self {
        self.set(|settings| settings.generation.top_p = Some(top_p))
    }

    /// The most tokens to answer with.
    pub fn set_max_output_tokens(&mut self, tokens: u32) -> &mut Self {
        self.set(|settings| settings.generation.max_output_tokens = Some(tokens))
    }

    /// Texts that end the answer.
    pub fn set_stop<S: Into<String>>(&mut self, texts: impl IntoIterator<Item = S>) -> &mut Self {
        self.set(|settings| settings.generation.stop = texts.into_iter().map(Into::into).collect())
    }

    /// For repeatable sampling, where the provider has it.
    pub fn set_seed(&mut self, seed: u64) -> &mut Self {
        self.set(|settings| settings.generation.seed = Some(seed))
    }

    /// The longest that one call of the model may take.
    pub fn set_timeout(&mut self, timeout: Duration) -> &mut Self {
        self.set(|settings| settings.timeout = Some(timeout))
    }

    /// How often a failed call is made again: a number, or a [`Retry`].
    pub fn set_retry(&mut self, retry: impl Into<Retry>) -> &mut Self {
        self.set(|settings| settings.retry = retry.into())
    }

    /// The most model calls of one turn. Zero, and more than a declared `max_turns`, is refused when a run starts.
    pub fn set_max_turns(&mut self, turns: u32) -> &mut Self {
        self.set(|settings| settings.max_turns = Some(turns))
    }

    /// Adds a tool beside the declared ones, where the declaration says that more may come: `tools: [find, ..]`, or
    /// `tools: [..]`.
    ///
    /// When a run starts, it is refused at any other agent, and so is a tool whose name is taken, one that ends a loop where no
    /// declared tool does, one that writes a key without a prefix, and an agent that asks a model where `max_turns` limits
    /// those calls.
    pub fn add_tool(&mut self, tool: impl DynTool) -> &mut Self {
        self.set(|settings| settings.tools.0.push(Arc::new(tool)))
    }

    /// Adds a toolset, where the declaration says that more tools may come: `tools: [find, ..]`, or `tools: [..]`. At any other
    /// agent it is refused when a run starts.
    pub fn add_toolset(&mut self, toolset: impl Toolset) -> &mut Self {
        self.set(|settings| settings.toolsets.0.push(Arc::new(toolset)))
    }

    /// Gives it the toolsets that its declaration names.
    pub(crate) fn with_toolsets(mut self, toolsets: Vec<Arc<dyn Toolset>>) -> Self {
        self.agent.toolsets = ToolsetList(toolsets);
        self
    }

    setters! {
        [] (&mut self) -> &mut Self, (self.agent.settings);
        add_before_agent(impl BeforeAgent<M>),
        add_after_agent(impl AfterAgent<M>),
        add_before_model(impl BeforeModel<M>),
        add_after_model(impl AfterModel<M>),
        add_on_model_error(impl OnModelError<M>),
        add_before_tool(impl BeforeTool<M>),
        add_after_tool(impl AfterTool<M>),
        add_on_tool_error(impl OnToolError<M>),
    }

    fn set(&mut self, change: impl FnOnce(&mut LlmSettings)) -> &mut Self {
        change(&mut self.agent.settings);
        self
    }

    /// The agent as a trait object, as workflows hold it.
    pub fn as_dyn(&self) -> &dyn DynAgent {
        &self.agent
    }
}

impl<W, const N: usize> fmt::Debug for Declared<W, N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.agent.fmt(f)
    }
}
