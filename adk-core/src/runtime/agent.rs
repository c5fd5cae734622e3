//! [`Agent`]: async functions over a [`Context`], and the object-safe form [`DynAgent`].

mod handover;
mod with_callbacks;

pub use handover::Handover;
pub use with_callbacks::WithCallbacks;

use crate::runtime::callback::AgentCallbacks;
pub use crate::runtime::run::AnnouncedKeys;
use crate::runtime::run::{Context, Prepare};
use crate::spec::AgentMeta;
use crate::{BoxFuture, Content, Event, Flow, Result};
use std::any::Any;

/// An agent, in the form in which users write it.
///
/// Most agents are functions with `#[agent]`. An agent can also be a type that implements this
/// trait. `#[agent(reads(...), writes(...))]` on the `impl` then declares its keys with their
/// types, so that the check `key-type` compares them at compile time. The agent of this example has
/// no keys:
///
/// ```
/// # use adk_core as adk;
/// use adk::{Agent, AgentMeta, Content, Context, Event, Flow};
///
/// /// Says hello.
/// #[derive(Default)]
/// struct Greeter;
///
/// impl Agent for Greeter {
///     const META: AgentMeta<'static> = AgentMeta::custom("greeter").description("Says hello.");
///
///     async fn run(&self, cx: &mut Context) -> adk::Result<Flow> {
///         cx.emit(Event::new().with_content(Content::model("Hello."))).await?;
///         Ok(Flow::Continue)
///     }
/// }
/// ```
///
/// All data of a run is in its [`Context`], so one value serves any number of concurrent runs.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an agent",
    label = "cannot be a step of a workflow",
    note = "put `#[agent]` on the function, declare it with `agent NAME {{ ... }}`, or implement \
        `Agent`"
)]
pub trait Agent: Send + Sync {
    /// The name of the agent, the keys that it reads and writes, and whether it may end a loop.
    const META: AgentMeta<'static>;

    /// A reference to [`META`](Self::META), which workflows read without a copy. Implementations
    /// keep the default.
    const META_REF: &'static AgentMeta<'static> = &Self::META;

    /// Executes one turn of the agent.
    ///
    /// # Errors
    /// Any error fails the run; committed events stay.
    // The bound on `Self` repeats the bound of the trait. Without it, rustc reports a second error,
    // about the future, for a type that is not `Send` and `Sync`.
    fn run(&self, cx: &mut Context) -> impl Future<Output = Result<Flow>> + Send
    where
        Self: Send + Sync;

    /// Returns the boxed future of [`Agent::run`] for trait objects. Override it where the future
    /// is boxed already.
    fn boxed<'a>(&'a self, cx: &'a mut Context) -> BoxFuture<'a, Result<Flow>> {
        Box::pin(self.run(cx))
    }

    /// Checks the agent before the first step of a run. An agent that cannot run reports it here,
    /// before any model call costs money.
    fn prepare(&self, _prepare: &mut Prepare<'_>) {}

    /// Describes how the agent takes part in transfers. A type that wraps another agent returns the
    /// description of that agent.
    fn handover(&self) -> Handover<'_> {
        Handover::default()
    }

    /// Returns the callbacks before and after the agent.
    fn callbacks(&self) -> Option<&AgentCallbacks> {
        None
    }

    /// Returns the event that replaces a turn when a callback has answered. The event of an LLM
    /// agent also writes the key of the agent.
    ///
    /// # Errors
    /// Returns an error if the answer does not fit the key.
    fn stand_in(&self, content: Content) -> Result<Event> {
        Ok(Event::new().with_content(content))
    }
}

/// An agent as a trait object, as workflows hold it and as the run-time builders take it.
pub trait DynAgent: Send + Sync {
    /// Returns the name of the agent, the keys that it reads and writes, and whether it may end a
    /// loop.
    fn meta(&self) -> &AgentMeta<'_>;

    /// Executes one turn of the agent.
    fn run_dyn<'a>(&'a self, cx: &'a mut Context) -> BoxFuture<'a, Result<Flow>>;

    /// See [`Agent::prepare`].
    fn prepare_dyn(&self, prepare: &mut Prepare<'_>);

    /// See [`Agent::handover`].
    fn handover_dyn(&self) -> Handover<'_> {
        Handover::default()
    }

    /// See [`Agent::callbacks`].
    fn callbacks_dyn(&self) -> Option<&AgentCallbacks> {
        None
    }

    /// See [`Agent::stand_in`].
    ///
    /// # Errors
    /// Returns an error if the answer does not fit the key of the agent.
    fn stand_in_dyn(&self, content: Content) -> Result<Event> {
        Ok(Event::new().with_content(content))
    }

    /// Returns the keys that the agent may write according to its description. The runtime calls
    /// this at the start of each turn.
    fn announced_dyn(&self) -> AnnouncedKeys {
        AnnouncedKeys::of(self.meta())
    }

    /// Returns the agent as [`Any`], for a tree that includes the steps of a block and therefore
    /// needs the block's concrete type. Other agents return `None`.
    fn as_any(&self) -> Option<&dyn Any> {
        None
    }
}

impl<A: Agent> DynAgent for A {
    fn meta(&self) -> &AgentMeta<'_> {
        A::META_REF
    }

    fn run_dyn<'a>(&'a self, cx: &'a mut Context) -> BoxFuture<'a, Result<Flow>> {
        self.boxed(cx)
    }

    fn prepare_dyn(&self, prepare: &mut Prepare<'_>) {
        prepare.needs_resources(A::META_REF.resources);
        self.prepare(prepare);
    }

    fn handover_dyn(&self) -> Handover<'_> {
        self.handover()
    }

    fn callbacks_dyn(&self) -> Option<&AgentCallbacks> {
        self.callbacks()
    }

    fn stand_in_dyn(&self, content: Content) -> Result<Event> {
        self.stand_in(content)
    }

    fn announced_dyn(&self) -> AnnouncedKeys {
        AnnouncedKeys::constant(A::META_REF)
    }
}

/// Implements [`DynAgent`] for a pointer to an agent whose type is known only at run time.
macro_rules! pointer {
    ($pointer:ty) => {
        impl DynAgent for $pointer {
            fn meta(&self) -> &AgentMeta<'_> {
                (**self).meta()
            }

            crate::__delegate_agent!(self => (**self));
        }
    };
}
pointer!(Box<dyn DynAgent>);
pointer!(std::sync::Arc<dyn DynAgent>);
