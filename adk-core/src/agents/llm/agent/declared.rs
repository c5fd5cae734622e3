//! [`Declared`]: an agent that a macro declares, as a type.

use super::LlmAgent;
use super::declare::{LlmDecl, LlmSettings, Retry, ToolsetList};
use crate::Flow;
use crate::model::ModelRef;
use crate::runtime::agent::{Agent, Handover};
use crate::runtime::callback::{
    AfterAgent, AfterModel, AfterTool, AgentCallbacks, BeforeAgent, BeforeModel, BeforeTool,
    OnModelError, OnToolError, setters,
};
use crate::runtime::run::{Context, Prepare};
use crate::runtime::tool::{DeclaredToolset, DynTool, Toolset};
use crate::spec::AgentMeta;
use crate::{Content, DynAgent, Event, Result};
use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;
use std::time::Duration;

/// A type that declares agents. A macro implements this trait for each `agent NAME { ... }` of the
/// type; `N` is the number of the agent within the type.
pub trait Declares<const N: usize> {
    /// The declaration.
    const DECL: LlmDecl;
    /// The description of the agent.
    const META: &'static AgentMeta<'static> = &Self::DECL.meta;
}

/// The `N`th agent that `W` declares.
///
/// Each declared agent has its own type, so that two agents cannot be exchanged by mistake. A run
/// does not start if a setting contradicts a check: it fails before any model call with an error of
/// kind [`Unchecked`](crate::ErrorKind::Unchecked).
pub struct Declared<W, const N: usize = 0> {
    agent: LlmAgent,
    owner: PhantomData<fn() -> W>,
}

impl<W: Declares<N>, const N: usize> Default for Declared<W, N> {
    fn default() -> Self {
        Self {
            agent: LlmAgent::from_declaration(const { &W::DECL }),
            owner: PhantomData,
        }
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

/// Runs an agent that a macro declares. This function is separate so that rustc proves only once
/// that its future is `Send`, and not for each declared agent.
#[expect(clippy::manual_async_fn, reason = "`Send` is a part of the signature")]
fn run(agent: &dyn DynAgent, cx: &mut Context) -> impl Future<Output = Result<Flow>> + Send {
    async move { agent.run_dyn(cx).await }
}

/// Settings that can change at run time.
impl<W, const N: usize> Declared<W, N> {
    /// Sets the model, by name or by value.
    pub fn set_model(&mut self, model: impl Into<ModelRef>) -> &mut Self {
        self.set(|settings| settings.model = Some(model.into()))
    }

    /// Sets the fallback models, which are called in this order when a call failed permanently or
    /// the provider rejected it because of load.
    pub fn set_fallback<M: Into<ModelRef>>(
        &mut self,
        models: impl IntoIterator<Item = M>,
    ) -> &mut Self {
        self.set(|settings| settings.fallback = models.into_iter().map(Into::into).collect())
    }

    /// Sets the model that summarizes the conversation, by name or by value. Used if the
    /// declaration has `compact`.
    pub fn set_compact_by(&mut self, model: impl Into<ModelRef>) -> &mut Self {
        self.set(|settings| settings.compact_by = Some(model.into()))
    }

    /// Sets the randomness; 0 for none.
    pub fn set_temperature(&mut self, temperature: f64) -> &mut Self {
        self.set(|settings| settings.generation.temperature = Some(temperature))
    }

    /// Sets nucleus sampling, from 0 to 1.
    pub fn set_top_p(&mut self, top_p: f64) -> &mut Self {
        self.set(|settings| settings.generation.top_p = Some(top_p))
    }

    /// Sets the maximum number of tokens in a reply.
    pub fn set_max_output_tokens(&mut self, tokens: u32) -> &mut Self {
        self.set(|settings| settings.generation.max_output_tokens = Some(tokens))
    }

    /// Sets texts that end the reply.
    pub fn set_stop<S: Into<String>>(&mut self, texts: impl IntoIterator<Item = S>) -> &mut Self {
        self.set(|settings| settings.generation.stop = texts.into_iter().map(Into::into).collect())
    }

    /// Sets the seed for repeatable sampling, if the provider supports it.
    pub fn set_seed(&mut self, seed: u64) -> &mut Self {
        self.set(|settings| settings.generation.seed = Some(seed))
    }

    /// Sets the maximum duration of one model call.
    pub fn set_timeout(&mut self, timeout: Duration) -> &mut Self {
        self.set(|settings| settings.timeout = Some(timeout))
    }

    /// Sets how often a failed call is retried: a number, or a [`Retry`].
    pub fn set_retry(&mut self, retry: impl Into<Retry>) -> &mut Self {
        self.set(|settings| settings.retry = retry.into())
    }

    /// Sets the maximum number of model calls per turn. A run does not start if the number is zero
    /// or exceeds the declared `max_turns`.
    pub fn set_max_turns(&mut self, turns: u32) -> &mut Self {
        self.set(|settings| settings.max_turns = Some(turns))
    }

    /// Adds a tool. The declaration must permit more tools: `tools: [find, ..]`, or `tools: [..]`.
    ///
    /// A run does not start if the declaration does not permit more tools, if the name is already
    /// used, if the tool ends a loop and no declared tool does, if it writes a key without a
    /// prefix, or if it is an agent that calls a model while `max_turns` limits those calls.
    pub fn add_tool(&mut self, tool: impl DynTool) -> &mut Self {
        self.set(|settings| settings.tools.0.push(Arc::new(tool)))
    }

    /// Adds a toolset, perhaps as a [`DeclaredToolset`] with labels. A run does not start unless
    /// the declaration permits more tools: `tools: [find, ..]`, or `tools: [..]`.
    pub fn add_toolset(&mut self, toolset: impl Into<DeclaredToolset>) -> &mut Self {
        let toolset = toolset.into().into_dyn();
        self.set(|settings| settings.toolsets.0.push(toolset))
    }

    /// Sets the toolsets that the declaration names.
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

    /// Returns the agent as a trait object, as workflows hold it.
    pub fn as_dyn(&self) -> &dyn DynAgent {
        &self.agent
    }
}

impl<W, const N: usize> fmt::Debug for Declared<W, N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.agent.fmt(f)
    }
}
