//! Trees of agents that are made at run time, and the chain from an agent to its answer.

pub mod build;
pub mod fluent;
