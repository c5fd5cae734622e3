//! Workflows: what `workflow!` implements, and the walk over the flat list of steps.

mod block;
mod keys;

pub use block::{Block, LoopBlock};
pub use keys::{Keys, Values};

use crate::Result;
use crate::agent::DynAgent;
use crate::spec::Spec;

/// A workflow as a program with a typed input and output; `workflow!` implements it.
pub trait Workflow: Send + Sync {
    /// What a run takes.
    type Input: Send;
    /// What a run gives.
    type Output: Send + 'static;

    /// The workflow as an agent.
    fn as_agent(&self) -> &dyn DynAgent;

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
}

/// A type that has a whole tree as a const: what `workflow!` makes.
pub trait Described {
    /// The whole tree.
    const SPEC: Spec<'static>;
}

/// What the walk needs to know of a workflow beside its [`Spec`]: thin code that the macro writes.
#[doc(hidden)]
pub trait Wired: Send + Sync {
    /// The whole tree.
    fn spec(&self) -> &Spec<'_>;

    /// The agent of a step.
    fn agent(&self, step: usize) -> Option<&dyn DynAgent>;

    /// The most rounds of a loop: what was set on its field, otherwise what was declared.
    fn max(&self, _step: usize) -> Option<u32> {
        None
    }

    /// Evaluates the `let` items.
    fn lets(&self, _keys: &mut Keys) -> Result<()> {
        Ok(())
    }

    /// Evaluates the default of an input; `false` when it has none.
    fn default_of(&self, _input: &str, _keys: &mut Keys) -> Result<bool> {
        Ok(false)
    }

    /// Sees that each `state` key holds a value of its type.
    fn check_state(&self, _values: &Values<'_>) -> Result<()> {
        Ok(())
    }
}
