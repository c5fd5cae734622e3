//! Agents: async functions over a [`Context`].

mod handover;
mod with;

pub use handover::Handover;
pub use with::WithCallbacks;

use crate::runtime::callback::AgentCallbacks;
pub use crate::runtime::run::AnnouncedKeys;
use crate::runtime::run::{Context, Prepare};
use crate::spec::AgentMeta;
use crate::{BoxFuture, Content, Event, Flow, Result};
use std::any::Any;

/// An agent, in the form in which it is written.
///
/// Most are functions with `#[agent]`. By hand it is a type, whose keys `#[agent(reads(...), writes(...))]` on the `impl`
/// says with their types, so that `key-type` compares them at compile time. This one has none:
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
/// All that belongs to one run lives in the [`Context`], so one value serves any number of runs at once.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an agent",
    label = "cannot be a step of a workflow",
    note = "put `#[agent]` on the function, declare it with `agent NAME {{ ... }}`, or implement `Agent`"
)]
pub trait Agent: Send + Sync {
    /// What it is called, what it reads and writes, and whether it may end a loop.
    const META: AgentMeta<'static>;

    /// A reference to [`META`](Self::META), which workflows read without a copy. There is no need to write it.
    const META_REF: &'static AgentMeta<'static> = &Self::META;

    /// Runs once.
    ///
    /// # Errors
    /// Any error fails the run; events that are committed stay.
    // The bound is that of the trait: with it here, rustc tells an agent that is not `Send` and `Sync` of the type alone, and not
    // of the future as well.
    fn run(&self, cx: &mut Context) -> impl Future<Output = Result<Flow>> + Send
    where
        Self: Send + Sync;

    /// [`Agent::run`] as trait objects call it. Write it where the future is boxed already.
    fn boxed<'a>(&'a self, cx: &'a mut Context) -> BoxFuture<'a, Result<Flow>> {
        Box::pin(self.run(cx))
    }

    /// Looked at before the first step of a run: an agent that cannot run says so here, before anything is paid for.
    fn prepare(&self, _prepare: &mut Prepare<'_>) {}

    /// How it takes part in transfers. A type around another agent returns what that one does.
    fn handover(&self) -> Handover<'_> {
        Handover::default()
    }

    /// What is asked before and after it.
    fn callbacks(&self) -> Option<&AgentCallbacks> {
        None
    }

    /// The event that replaces a turn when a callback has answered. That of an LLM agent also writes the
    /// agent's key.
    ///
    /// # Errors
    /// When the answer does not fit the key.
    fn stand_in(&self, content: Content) -> Result<Event> {
        Ok(Event::new().with_content(content))
    }
}

/// An agent as a trait object: what workflows hold, and what the run-time builders take.
pub trait DynAgent: Send + Sync {
    /// What it is called, what it reads and writes, and whether it may end a loop.
    fn meta(&self) -> &AgentMeta<'_>;

    /// Runs once.
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
    /// When the answer does not fit the agent's key.
    fn stand_in_dyn(&self, content: Content) -> Result<Event> {
        Ok(Event::new().with_content(content))
    }

    /// What it may write, as its description says. It is asked at the start of each turn.
    fn announced_dyn(&self) -> AnnouncedKeys {
        AnnouncedKeys::of(self.meta())
    }

    /// Itself, where a tree that it is placed in has to know what it is made of: blocks are taken in as steps.
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

/// An agent that is known at run time only.
macro_rules! pointer {
    ($pointer:ty) => {
        impl DynAgent for $pointer {
            fn meta(&self) -> &AgentMeta<'_> {
                (**self).meta()
            }

            fn run_dyn<'a>(&'a self, cx: &'a mut Context) -> BoxFuture<'a, Result<Flow>> {
                (**self).run_dyn(cx)
            }

            fn prepare_dyn(&self, prepare: &mut Prepare<'_>) {
                (**self).prepare_dyn(prepare);
            }

            fn handover_dyn(&self) -> Handover<'_> {
                (**self).handover_dyn()
            }

            fn callbacks_dyn(&self) -> Option<&AgentCallbacks> {
                (**self).callbacks_dyn()
            }

            fn stand_in_dyn(&self, content: Content) -> Result<Event> {
                (**self).stand_in_dyn(content)
            }

            fn announced_dyn(&self) -> AnnouncedKeys {
                (**self).announced_dyn()
            }

            fn as_any(&self) -> Option<&dyn Any> {
                (**self).as_any()
            }
        }
    };
}
pointer!(Box<dyn DynAgent>);
pointer!(std::sync::Arc<dyn DynAgent>);
