//! [`StepTable`], in which the walk looks up the agents, limits and callbacks of steps.

use crate::runtime::agent::DynAgent;
use crate::runtime::callback::AgentCallbacks;
use crate::runtime::workflow::form::Form;
use crate::runtime::workflow::keys::{Keys, Values};
use crate::spec::Spec;
use crate::{Name, Result};

/// The data of a workflow that the walk needs besides its [`Spec`]. The code that the macro
/// generates for it is thin.
// The trait has no bounds `Send` and `Sync`, so that rustc reports a workflow that lacks them only
// once.
pub trait StepTable {
    /// Returns the whole tree.
    fn spec(&self) -> &Spec<'_>;

    /// Returns the name of a step.
    fn name(&self, step: usize) -> Name {
        self.spec()
            .steps
            .get(step)
            .map_or_else(Name::default, |step| Name::shared(step.name))
    }

    /// Returns the agent of a step.
    fn agent(&self, step: usize) -> Option<&dyn DynAgent>;

    /// Returns the agent with this name, if it is a target of transfers and not a step.
    fn target(&self, _name: &str) -> Option<&dyn DynAgent> {
        None
    }

    /// Returns the maximum number of rounds of a loop: the number that was set on its field,
    /// otherwise the declared one.
    fn max(&self, _step: usize) -> Option<u32> {
        None
    }

    /// Returns the callbacks from the field of a block.
    fn callbacks(&self, _step: usize) -> Option<&AgentCallbacks> {
        None
    }

    /// Returns the arm of a `match` that the value of its key selects, counted from 0.
    ///
    /// # Errors
    /// Returns the reason if the value does not have the type of the patterns. The walk adds the
    /// key, the block and the path.
    fn select(&self, _step: usize, _value: &serde_json::Value) -> Result<usize> {
        Ok(0)
    }

    /// Returns `true` if the workflow has keys of its own. A tree that was built at run time uses
    /// the keys of the enclosing workflow or the session, as in ADK.
    fn is_closed(&self) -> bool {
        true
    }

    /// Returns the step that is the workflow itself: a root block has no path of its own below the
    /// workflow.
    fn root(&self) -> Option<usize> {
        None
    }

    /// Returns `true` if the walk accepts unannounced exits and exits outside of any loop, as in a
    /// tree that was built without checks of its flow.
    fn is_unchecked(&self) -> bool {
        false
    }

    /// Evaluates the `let` items.
    fn lets(&self, _keys: &mut Keys) -> Result<()> {
        Ok(())
    }

    /// Writes the defaults of the inputs to a form that collects defaults.
    fn form(&self, _form: &mut Form) {}

    /// Checks that each `state` key holds a value of its type.
    fn check_state(&self, _values: &Values<'_>) -> Result<()> {
        Ok(())
    }
}
