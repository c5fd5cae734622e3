//! What a workflow is, as data: a flat list of steps that macros write and that checks, rendering and the runtime read.
//!
//! Nothing here computes, except what a text says, [`ident`] and [`placeholder`], and what a picture of a workflow shows. An agent, wherever it was written, is described by an [`AgentMeta`]; a workflow is a [`Spec`].

mod agent;
#[doc(hidden)]
pub mod hash;
pub mod ident;
mod input;
mod key;
#[doc(hidden)]
pub mod number;
pub mod placeholder;
mod render;
#[cfg(test)]
pub(crate) mod sketch;
mod step;
mod tool;
mod tree;

#[doc(hidden)]
pub use agent::Accepts;
#[doc(hidden)]
pub use agent::Module;
#[doc(hidden)]
pub use agent::ValueSchema;
pub use agent::{AgentKind, AgentMeta, PromptKey};
pub use input::InputSpec;
pub use key::KeySpec;
#[doc(hidden)]
pub use key::has_prefix;
pub use step::{Limits, Renames, Spec, Step, StepKind};
pub use tool::ToolMeta;
pub use tree::{Node, NodeKind};
