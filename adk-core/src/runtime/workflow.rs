//! [`Workflow`], which `workflow!` implements, and the walk over the flat list of its steps.
//!
//! From the bottom up: the types that generated code fills (`keys`, `form`, `block`); the `steps`
//! of a workflow; the `turn` of an agent and the `blocks` with parts; the `walk` over the steps;
//! the `entry` of a whole workflow. A test enforces this order.

mod block;
mod blocks;
mod descend;
pub(crate) mod entry;
pub(crate) mod form;
mod keys;
mod nested;
pub(crate) mod prepare;
mod root;
pub(crate) mod steps;
mod turn;
mod walk;

pub use block::{Block, BlockField, Described, LoopBlock};
pub(crate) use entry::run;
pub use form::{FieldFault, Form, FormField, MakeSchema};
pub use keys::{Keys, Values};
pub(crate) use prepare::prepare;
pub(crate) use steps::StepTable;

use crate::Result;
use crate::runtime::agent::DynAgent;
use crate::runtime::resources::Needs;
use crate::spec::Spec;

pub(crate) use root::{prepare_root, run_branch, run_root};

/// A workflow as a program with a typed input and output; `workflow!` implements this trait.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a workflow, so it cannot be run by itself",
    label = "not a workflow",
    note = "place an agent or a function in a `workflow! {{ ... }}`, and run that; where \
        `new(...)` gives a `Result`, take the workflow out of it with `?`; the workflow comes \
        first, its input second"
)]
pub trait Workflow: Send + Sync {
    /// The input of a run.
    type Input: Send;
    /// The output of a run.
    type Output: Send + 'static;

    /// Returns the workflow as an agent.
    fn as_agent(&self) -> &dyn DynAgent;

    /// Returns the whole tree: what [`as_agent`](Self::as_agent) says, and of a `workflow!` and of
    /// a tree that was built at run time also the rest, such as limits and the place of the source.
    fn spec(&self) -> Spec<'_> {
        let meta = self.as_agent().meta();
        Spec::new(meta.name, meta.description, meta.steps)
            .states(meta.states)
            .lets(meta.lets)
            .outputs(meta.writes)
            .guards(meta.guards)
    }

    /// Returns `true` if the keys of the workflow hold only values that its own run has written,
    /// except `state` keys and keys with a prefix. The default is `true`; a tree that was built at
    /// run time sees the values of the session, as in ADK.
    fn is_closed(&self) -> bool {
        true
    }

    /// Turns the input into the keys that the run begins with.
    ///
    /// # Errors
    /// Returns an error if a value cannot be represented as JSON.
    fn begin(&self, input: Self::Input, keys: &mut Keys) -> Result<()>;

    /// Reads the output from the keys that the run ended with.
    ///
    /// # Errors
    /// Returns an error if an output was not written, or is of another type.
    fn finish(&self, values: &Values<'_>) -> Result<Self::Output>;

    /// Describes the inputs and outputs to a form, and reads the input from a form that holds one,
    /// for programs that know the workflow by name. Returns `None` if the form holds no input, or
    /// an input that does not fit.
    fn form(&self, form: &mut Form) -> Option<Self::Input>;
}

impl<W: Workflow + ?Sized> Workflow for std::sync::Arc<W> {
    type Input = W::Input;
    type Output = W::Output;

    fn as_agent(&self) -> &dyn DynAgent {
        (**self).as_agent()
    }

    fn spec(&self) -> Spec<'_> {
        (**self).spec()
    }

    fn is_closed(&self) -> bool {
        (**self).is_closed()
    }

    fn begin(&self, input: Self::Input, keys: &mut Keys) -> Result<()> {
        (**self).begin(input, keys)
    }

    fn finish(&self, values: &Values<'_>) -> Result<Self::Output> {
        (**self).finish(values)
    }

    fn form(&self, form: &mut Form) -> Option<W::Input> {
        (**self).form(form)
    }
}

crate::__agent_root!(dyn DynAgent);

/// The resources of a workflow that is known only at run time are checked when a run begins.
impl<R: ?Sized, I: Send, O: Send + 'static> Needs<R> for dyn Workflow<Input = I, Output = O> {}

/// A workflow that [`Runner::run_live`](crate::Runner::run_live) accepts.
///
/// `workflow!` implements it for a workflow without a loop, a parallel block, an `each` or a `try`,
/// also in its nested workflows. By hand, write an empty `impl`; steps that are known only at run
/// time are then checked when the run begins.
#[diagnostic::on_unimplemented(
    message = "live-loop: workflow `{Self}` holds a loop, a `parallel` or an `each`, or a workflow \
        with one inside, which cannot run live; help: run it with `run(...)`, or run live a \
        workflow that holds only agents and sequences",
    label = "cannot run live",
    note = "a live run is one conversation, which its agents take over one after the other"
)]
pub trait Live {}

#[diagnostic::do_not_recommend]
impl<W: LiveIf<true> + ?Sized> Live for W {}

/// Implemented by `workflow!` for each workflow: `YES` is whether the workflow can run live.
pub trait LiveIf<const YES: bool> {}
