//! Agents that macros make: one `impl Agent` for all of them.
//!
//! rustc checks the methods here once. Each method of an `impl` in an expansion took it one to three million instructions for each
//! agent in the user's crate, though all of them say the same.

use crate::__private::function::{self, Begin};
use crate::runtime::agent::Handover;
use crate::runtime::callback::AgentCallbacks;
use crate::runtime::run::{Context, Prepare};
use crate::runtime::workflow::wired::{self, Wired};
use crate::runtime::workflow::{Form, Keys, Values, Workflow};
use crate::{Agent, AgentMeta, BoxFuture, Content, DynAgent, Event, Flow, Result};

/// What a macro says of an agent. rustc names it in its error for `x.run(cx)` where `x` is no agent.
pub trait GeneratedAgent: Send + Sync {
    /// [`Agent::META`]: a reference, since it is made once for all who ask in a generic impl.
    const META: &'static AgentMeta<'static>;

    /// What it does.
    fn behavior(&self) -> Behavior<'_>;
}

/// What `workflow!` says of the ends of a workflow: see [`Workflow`], which it is with this. One that was refused says nothing, and
/// does not compile.
pub trait GeneratedWorkflow {
    /// What a run takes.
    type Input: Send;
    /// What a run gives.
    type Output: Send + 'static;

    /// Turns the input into the keys that the run begins with.
    ///
    /// # Errors
    /// When a value has no form in JSON.
    fn begin(&self, _: Self::Input, _: &mut Keys) -> Result<()> {
        unreachable!("it does not compile")
    }

    /// Reads the output from the keys that the run ended with.
    ///
    /// # Errors
    /// When an output was not written, or is of another type.
    fn finish(&self, _: &Values<'_>) -> Result<Self::Output> {
        unreachable!("it does not compile")
    }

    /// Says inputs and outputs to a form, and reads the input of one.
    fn form(_: &mut Form) -> Option<Self::Input> {
        unreachable!("it does not compile")
    }
}

#[diagnostic::do_not_recommend]
impl<T: GeneratedAgent + GeneratedWorkflow> Workflow for T {
    type Input = <T as GeneratedWorkflow>::Input;
    type Output = <T as GeneratedWorkflow>::Output;

    fn as_agent(&self) -> &dyn DynAgent {
        self
    }

    fn begin(&self, input: Self::Input, keys: &mut Keys) -> Result<()> {
        GeneratedWorkflow::begin(self, input, keys)
    }

    fn finish(&self, values: &Values<'_>) -> Result<Self::Output> {
        GeneratedWorkflow::finish(self, values)
    }

    fn form(&self, form: &mut Form) -> Option<Self::Input> {
        <T as GeneratedWorkflow>::form(form)
    }
}

/// What an agent does that a macro made.
#[allow(missing_debug_implementations, reason = "functions have no form")]
pub enum Behavior<'a> {
    /// What another one does: a type around the agent that was declared.
    Agent(&'a dyn DynAgent),
    /// It walks its steps.
    Workflow(&'a (dyn Wired + Sync)),
    /// It calls a function, whose value goes to a key; that is empty for none.
    Function(&'static str, Begin),
}

impl<'a> Behavior<'a> {
    /// It walks its steps. That it can be shared is known of what a macro made, and not asked for here.
    pub fn workflow<W: GeneratedAgent + Wired>(workflow: &'a W) -> Self {
        Self::Workflow(workflow)
    }

    fn agent(self) -> Option<&'a dyn DynAgent> {
        match self {
            Self::Agent(agent) => Some(agent),
            Self::Workflow(_) | Self::Function(..) => None,
        }
    }
}

// It is no candidate that rustc would list where a type is no agent.
#[diagnostic::do_not_recommend]
impl<T: GeneratedAgent> Agent for T {
    const META: AgentMeta<'static> = *T::META;
    const META_REF: &'static AgentMeta<'static> = T::META;

    async fn run(&self, cx: &mut Context) -> Result<Flow> {
        self.boxed(cx).await
    }

    fn boxed<'a>(&'a self, cx: &'a mut Context) -> BoxFuture<'a, Result<Flow>> {
        match self.behavior() {
            Behavior::Agent(agent) => agent.run_dyn(cx),
            Behavior::Workflow(workflow) => wired::run(workflow, cx),
            Behavior::Function(key, begin) => function::run(cx, key, T::META, begin),
        }
    }

    fn prepare(&self, prepare: &mut Prepare<'_>) {
        match self.behavior() {
            Behavior::Agent(agent) => agent.prepare_dyn(prepare),
            Behavior::Workflow(workflow) => wired::prepare(workflow, prepare),
            Behavior::Function(..) => {}
        }
    }

    fn handover(&self) -> Handover<'_> {
        self.behavior().agent().map(DynAgent::handover_dyn).unwrap_or_default()
    }

    fn callbacks(&self) -> Option<&AgentCallbacks> {
        self.behavior().agent().and_then(DynAgent::callbacks_dyn)
    }

    fn stand_in(&self, content: Content) -> Result<Event> {
        match self.behavior() {
            Behavior::Agent(agent) => agent.stand_in_dyn(content),
            Behavior::Workflow(_) | Behavior::Function(..) => Ok(Event::new().with_content(content)),
        }
    }
}
