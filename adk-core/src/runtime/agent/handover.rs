//! [`Handover`]: how an agent takes part in transfers between agents.

use super::DynAgent;
use crate::model::ModelRef;
use crate::runtime::run::PromptSource;
use std::sync::Arc;

/// How an agent takes part in transfers. Only agents that ask a model can hand over; any agent can
/// be the target of a handover.
#[derive(Clone, Copy, Default)]
#[allow(missing_debug_implementations)]
pub struct Handover<'a> {
    /// Whether the agent asks a model, which may decide to hand over.
    pub(crate) decides: bool,
    /// Whether the agent cannot hand over to its parent.
    pub(crate) not_to_parent: bool,
    /// Whether the agent cannot hand over to the other children of its parent.
    pub(crate) not_to_peers: bool,
    /// Maximum number of model calls that the agent may make at one path.
    pub(crate) max_calls: Option<u32>,
    /// Model of the agent. Agents below it that have no model use this one.
    pub(crate) model: Option<&'a ModelRef>,
    /// Instruction for all agents below this agent, unless an agent above it sets one.
    pub(crate) global: Option<&'a Arc<dyn PromptSource>>,
    /// Agents below this agent, if it holds them itself.
    pub(crate) agents: &'a [Arc<dyn DynAgent>],
    /// Whether a macro declares the agent. The names inside a workflow below it are then the names
    /// of that workflow only.
    pub(crate) is_declared: bool,
}
