//! [`LlmAgent`]: an LLM agent that was built at run time.

use super::LlmAgentBuilder;
use crate::build::error::{BuildError, place_result};
use crate::build::item::SubAgent;
use adk_core::__private::build::{self as core, LlmParts, agent_root, delegate_agent};
use adk_core::spec::AgentMeta;
use adk_core::{DynAgent, Name};
use std::fmt;
use std::sync::Arc;

/// An agent that calls a language model: ADK's `LlmAgent`.
///
/// A turn calls the model, executes the tools that the model calls, and calls the model again until
/// its reply has no tool calls. [`LlmAgent::builder`] builds an agent at run time; the macros
/// declare agents that rustc checks.
pub struct LlmAgent(core::LlmAgent);

impl LlmAgent {
    /// Creates a builder with a name.
    pub fn builder(name: impl Into<Name>) -> LlmAgentBuilder {
        LlmAgentBuilder {
            name: name.into(),
            ..LlmAgentBuilder::default()
        }
    }

    pub(super) fn from_parts(parts: LlmParts) -> Self {
        Self(core::llm_agent(parts))
    }

    /// Returns the sub-agents, to which the agent may hand over.
    pub fn sub_agents(&self) -> &[Arc<dyn DynAgent>] {
        self.0.sub_agents()
    }

    /// Reports whether the agent cannot hand over to its parent.
    pub fn disallow_transfer_to_parent(&self) -> bool {
        self.0.disallow_transfer_to_parent()
    }

    /// Reports whether the agent cannot hand over to the other agents of its parent.
    pub fn disallow_transfer_to_peers(&self) -> bool {
        self.0.disallow_transfer_to_peers()
    }
}

impl DynAgent for LlmAgent {
    fn meta(&self) -> &AgentMeta<'_> {
        self.0.meta()
    }

    delegate_agent!(self => self.0);
}

agent_root!(LlmAgent);
place_result!(LlmAgent);

impl fmt::Debug for LlmAgent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
