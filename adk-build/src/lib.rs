//! Trees of agents that are built at run time, for `adk-workflow`: ADK's agents as builders, ADK's
//! config files, and [`AgentBuilder`]. Users depend on that crate and write `use adk::...`.
//!
//! The crate re-exports `adk-core`. [`build`] shows a tree, and [`AgentBuilder`] runs one.

pub mod build;
pub mod fluent;

pub use adk_core::*;
pub use build::{
    BuildError, IntoAgent, IntoAgents, LoopAgent, ParallelAgent, Registry, SequentialAgent, Tree,
};
pub use fluent::AgentBuilder;

/// Agents that ask a language model.
pub mod llm {
    pub use crate::build::{LlmAgent, LlmAgentBuilder};
    pub use adk_core::llm::*;
}
