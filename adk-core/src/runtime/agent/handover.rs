//! What has to be known of an agent where agents hand over to each other.

use super::DynAgent;
use crate::models::model::ModelRef;
use crate::runtime::run::PromptSource;
use std::sync::Arc;

/// How an agent takes part in transfers. Only agents that ask a model can hand over; any agent can be handed over to.
#[derive(Clone, Copy, Default)]
#[allow(missing_debug_implementations)]
pub struct Handover<'a> {
    /// It asks a model, which may decide to hand over.
    pub(crate) decides: bool,
    /// It cannot hand back to its parent.
    pub(crate) not_to_parent: bool,
    /// It cannot hand on to the other agents of its parent.
    pub(crate) not_to_peers: bool,
    /// The most model calls that it may make at one place.
    pub(crate) max_calls: Option<u32>,
    /// Its own model, which those below it use that have none.
    pub(crate) model: Option<&'a ModelRef>,
    /// What it says to all agents below it, where none above it does.
    pub(crate) global: Option<&'a Arc<dyn PromptSource>>,
    /// The agents below it, where it holds them itself.
    pub(crate) agents: &'a [Arc<dyn DynAgent>],
}
