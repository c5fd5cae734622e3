//! Workflows: what `workflow!` implements, and the walk over the flat list of steps.

mod attempts;
mod block;
mod checkpoint;
mod discard;
mod first;
pub(crate) mod form;
mod join;
mod keys;
mod lifecycle;
mod nested;
mod parallel;
mod reads;
mod remote;
mod resume;
mod root;
mod scopes;
pub(crate) mod step_table;
mod team;
mod turn;
mod walk;

pub use block::{Block, BlockField, LoopBlock};
pub use form::{FieldFault, Form, FormField, MakeSchema};
pub use keys::{Keys, Values};

use crate::Result;
use crate::runtime::agent::DynAgent;
use crate::runtime::resources::Needs;
use crate::spec::Spec;

pub(crate) use root::{prepare_root, run_branch, run_root};

/// A workflow as a program with a typed input and output; `workflow!` implements it.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no workflow, so it cannot be run by itself",
    label = "not a workflow",
    note = "place an agent or a function in a `workflow! {{ ... }}`, and run that; where `new(...)` gives a `Result`, take the workflow out of it with `?`; the workflow comes first, its input second"
)]
pub trait Workflow: Send + Sync {
    /// What a run takes.
    type Input: Send;
    /// What a run gives.
    type Output: Send + 'static;

    /// The workflow as an agent.
    fn as_agent(&self) -> &dyn DynAgent;

    /// Whether its keys hold what its own run has written and nothing else, but for `state` and keys with a prefix. Default
    /// `true`; a tree that was built at run time sees what the session holds, as in ADK.
    fn is_closed(&self) -> bool {
        true
    }

    /// Turns the input into the keys that the run begins with.
    ///
    /// # Errors
    /// When a value has no form in JSON.
    fn begin(&self, input: Self::Input, keys: &mut Keys) -> Result<()>;

    /// Reads the output from the keys that the run ended with.
    ///
    /// # Errors
    /// When an output was not written, or is of another type.
    fn finish(&self, values: &Values<'_>) -> Result<Self::Output>;

    /// Says its inputs and outputs to a form, and reads its input from a form that holds one: for programs that know it by
    /// name. `None` when the form holds no input, or one that does not fit.
    fn form(&self, form: &mut Form) -> Option<Self::Input>;
}

impl<W: Workflow + ?Sized> Workflow for std::sync::Arc<W> {
    type Input = W::Input;
    type Output = W::Output;

    fn as_agent(&self) -> &dyn DynAgent {
        (**self).as_agent()
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

/// What is known at run time only is looked at when a run begins.
impl<R: ?Sized, I: Send, O: Send + 'static> Needs<R> for dyn Workflow<Input = I, Output = O> {}

/// A workflow that [`Runner::run_live`](crate::Runner::run_live) takes.
///
/// `workflow!` implements it for a workflow that holds no loop, no parallel block, no `each` and no `try`, nor a workflow with one
/// inside. By hand it is an empty `impl`; what is known at run time only is then looked at when the run begins.
#[diagnostic::on_unimplemented(
    message = "live-loop: workflow `{Self}` holds a loop, a `parallel` or an `each`, or a workflow with one inside, which cannot run live; help: run it with `run(...)`, or run live a workflow that holds agents and sequences alone",
    label = "cannot run live",
    note = "a live run is one conversation, which its agents take over one after the other"
)]
pub trait Live {}

#[diagnostic::do_not_recommend]
impl<W: LiveIf<true> + ?Sized> Live for W {}

/// What `workflow!` implements for each workflow: whether it can run live.
pub trait LiveIf<const YES: bool> {}

/// A type that has a whole tree as a const: what `workflow!` makes.
pub trait Described {
    /// The whole tree.
    const SPEC: Spec<'static>;
}
