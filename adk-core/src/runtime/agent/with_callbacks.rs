//! [`WithCallbacks`]: an agent with additional callbacks.

use super::{AgentCallbacks, AnnouncedKeys, Context, DynAgent, Prepare};
use crate::runtime::callback::{AfterAgent, BeforeAgent, setters};
use crate::spec::AgentMeta;
use crate::{BoxFuture, Content, Event, Flow, Result};
use std::fmt;

/// An agent with callbacks before and after it. The agent may be a function, a hand-written agent
/// or a whole workflow. The new callbacks run after the callbacks that the agent has already.
///
/// ```
/// # use adk_core as adk;
/// use adk::callback::CallbackContext;
/// use adk::{Agent, AgentMeta, Context, DynAgent, Flow, WithCallbacks};
///
/// struct Greeter;
///
/// impl Agent for Greeter {
///     const META: AgentMeta<'static> = AgentMeta::custom("greeter");
///
///     async fn run(&self, _: &mut Context) -> adk::Result<Flow> {
///         Ok(Flow::Continue)
///     }
/// }
///
/// let quiet = WithCallbacks::new(Greeter).before_agent(|cx: &mut CallbackContext| {
///     (cx.iteration() > Some(0)).then_some("greeted already")
/// });
/// assert_eq!(quiet.meta().name, "greeter");
/// ```
pub struct WithCallbacks<A> {
    agent: A,
    callbacks: AgentCallbacks,
}

impl<A: DynAgent> WithCallbacks<A> {
    /// Wraps an agent without additional callbacks.
    pub fn new(agent: A) -> Self {
        let callbacks = agent.callbacks_dyn().cloned().unwrap_or_default();
        Self { agent, callbacks }
    }

    setters! {
        [#[must_use]] (mut self) -> Self, (self);
        before_agent(impl BeforeAgent<M>), after_agent(impl AfterAgent<M>)
    }
}

impl<A: DynAgent> DynAgent for WithCallbacks<A> {
    fn meta(&self) -> &AgentMeta<'_> {
        self.agent.meta()
    }

    fn run_dyn<'a>(&'a self, cx: &'a mut Context) -> BoxFuture<'a, Result<Flow>> {
        self.agent.run_dyn(cx)
    }

    fn prepare_dyn(&self, prepare: &mut Prepare<'_>) {
        self.agent.prepare_dyn(prepare);
    }

    fn handover_dyn(&self) -> super::Handover<'_> {
        self.agent.handover_dyn()
    }

    fn callbacks_dyn(&self) -> Option<&AgentCallbacks> {
        Some(&self.callbacks)
    }

    fn stand_in_dyn(&self, content: Content) -> Result<Event> {
        self.agent.stand_in_dyn(content)
    }

    fn announced_dyn(&self) -> AnnouncedKeys {
        self.agent.announced_dyn()
    }
}

impl<A: DynAgent> fmt::Debug for WithCallbacks<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WithCallbacks")
            .field("agent", &self.agent.meta().name)
            .field("callbacks", &self.callbacks)
            .finish()
    }
}
