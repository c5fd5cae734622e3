//! Trees of agents that are built at run time: ADK's agents as builders. The checks of the compiler
//! return their faults as values.
//!
//! ```
//! # use adk_build as adk;
//! use adk::llm::LlmAgent;
//! use adk::{LoopAgent, SequentialAgent};
//!
//! let writer = LlmAgent::builder("writer").instruction("Write a story.").output_key("draft");
//! let critic = LlmAgent::builder("critic").instruction("Review: {draft}").output_key("review");
//! let refiner = LlmAgent::builder("refiner")
//!     .instruction("Apply {review} to {draft}")
//!     .output_key("draft");
//! let tree = SequentialAgent::builder("writing")
//!     .sub_agent(writer)
//!     .sub_agent(LoopAgent::builder("refinement").max_iterations(3).sub_agents([critic, refiner]))
//!     .build()?;
//! assert_eq!(tree.spec().name, "writing");
//! # Ok::<(), adk::BuildError>(())
//! ```

mod block;
mod config;
mod error;
mod flat;
mod guards;
mod item;
mod llm;
mod tree;

pub use block::{
    BlockBuilder, LoopAgent, LoopAgentBuilder, ParallelAgent, ParallelAgentBuilder,
    SequentialAgent, SequentialAgentBuilder,
};
pub use config::Registry;
pub(crate) use config::key_of;
pub use error::BuildError;
pub use guards::TreeGuards;
pub use item::{AsPart, AsResult, ByPointer, ByValue, IntoAgent, IntoAgents, SubAgent};
pub use llm::{LlmAgent, LlmAgentBuilder};
pub use tree::Tree;
