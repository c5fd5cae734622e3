//! [`GeneratedAgent`]: an agent that a macro generated. One `impl Agent` serves all of them.
//!
//! rustc checks the methods here once. In an expansion, each method cost rustc one to three million
//! instructions per agent of the user's crate, although all of them are equal.

use crate::__private::function::{self, Begin};
use crate::runtime::agent::Handover;
use crate::runtime::callback::AgentCallbacks;
use crate::runtime::run::{Context, Prepare};
use crate::runtime::workflow::{self, Form, Keys, StepTable, Values, Workflow};
use crate::spec::Spec;
use crate::{Agent, AgentMeta, BoxFuture, Content, DynAgent, Event, Flow, Result};

/// An agent that a macro generated. rustc names this trait in its error for `x.run(cx)` if `x` is
/// not an agent.
pub trait GeneratedAgent: Send + Sync {
    /// The value of [`Agent::META`], as a reference, so that generic impls share one evaluation.
    const META: &'static AgentMeta<'static>;

    /// Returns the behavior of the agent.
    fn behavior(&self) -> Behavior<'_>;
}

/// The input and output of a workflow that `workflow!` generated. The agent then implements
/// [`Workflow`]. A workflow with errors keeps the default methods; it does not compile.
pub trait GeneratedWorkflow {
    /// The input of a run.
    type Input: Send;
    /// The output of a run.
    type Output: Send + 'static;

    /// Writes the input to the keys with which the run begins.
    ///
    /// # Errors
    /// Fails if a value has no form in JSON.
    fn begin(&self, _: Self::Input, _: &mut Keys) -> Result<()> {
        unreachable!("it does not compile")
    }

    /// Reads the output from the keys at the end of the run.
    ///
    /// # Errors
    /// Fails if an output is not written or has another type.
    fn finish(&self, _: &Values<'_>) -> Result<Self::Output> {
        unreachable!("it does not compile")
    }

    /// Declares inputs and outputs in a form, and reads the input from the form.
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

    fn spec(&self) -> Spec<'_> {
        match self.behavior() {
            Behavior::Workflow(workflow) => *workflow.spec(),
            // A workflow with errors does not compile.
            Behavior::Agent(_) | Behavior::Function(..) => Spec::new(T::META.name, "", &[]),
        }
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

/// The behavior of a generated agent.
#[allow(missing_debug_implementations, reason = "functions have no form")]
pub enum Behavior<'a> {
    /// Delegates to the declared agent inside of the type.
    Agent(&'a dyn DynAgent),
    /// Executes the steps of a workflow.
    Workflow(&'a (dyn StepTable + Sync)),
    /// Calls a function and writes its value to a key; an empty key means that no value is written.
    Function(&'static str, Begin),
}

impl<'a> Behavior<'a> {
    /// Returns the behavior of a workflow. The bounds omit `Sync`, because every generated workflow
    /// has it.
    pub fn workflow<W: GeneratedAgent + StepTable>(workflow: &'a W) -> Self {
        Self::Workflow(workflow)
    }

    fn agent(self) -> Option<&'a dyn DynAgent> {
        match self {
            Self::Agent(agent) => Some(agent),
            Self::Workflow(_) | Self::Function(..) => None,
        }
    }
}

// The attribute keeps this impl out of rustc's list of candidates for a type that is not an agent.
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
            Behavior::Workflow(workflow) => workflow::run(workflow, cx),
            Behavior::Function(key, begin) => function::run(cx, key, T::META, begin),
        }
    }

    fn prepare(&self, prepare: &mut Prepare<'_>) {
        match self.behavior() {
            Behavior::Agent(agent) => agent.prepare_dyn(prepare),
            Behavior::Workflow(workflow) => workflow::prepare(workflow, prepare),
            Behavior::Function(..) => {}
        }
    }

    fn handover(&self) -> Handover<'_> {
        self.behavior()
            .agent()
            .map(DynAgent::handover_dyn)
            .unwrap_or_default()
    }

    fn callbacks(&self) -> Option<&AgentCallbacks> {
        self.behavior().agent().and_then(DynAgent::callbacks_dyn)
    }

    fn stand_in(&self, content: Content) -> Result<Event> {
        match self.behavior() {
            Behavior::Agent(agent) => agent.stand_in_dyn(content),
            Behavior::Workflow(_) | Behavior::Function(..) => {
                Ok(Event::new().with_content(content))
            }
        }
    }
}
