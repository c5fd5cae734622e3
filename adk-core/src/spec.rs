//! What a workflow is, as data: a flat list of steps that macros write and that checks, rendering and the runtime read.
//!
//! Nothing here computes, except what a text says, [`ident`] and [`placeholder`], and what a picture of a workflow shows. An agent, wherever it was written, is described by an [`AgentMeta`]; a workflow is a [`Spec`].

mod agent;
pub(crate) mod hash;
pub mod ident;
mod input;
mod key;
pub(crate) mod number;
pub mod placeholder;
mod render;
pub(crate) mod schema;
#[cfg(test)]
pub(crate) mod sketch;
mod step;
mod tool;
mod topology;
mod tree;

#[doc(hidden)]
pub use agent::Accepts;
pub(crate) use agent::Module;
pub use agent::{AgentKind, AgentMeta, PromptKey};
pub use input::InputSpec;
pub use key::KeySpec;
pub(crate) use key::has_prefix;
#[doc(hidden)]
pub use schema::ValueSchema;
pub use step::{Limits, Renames, Spec, Step, StepKind};
pub use tool::ToolMeta;
pub use topology::Topology;
pub use tree::{Node, NodeKind};
