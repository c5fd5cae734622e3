//! What a workflow is, as data: a flat list of steps that macros write and that checks, rendering and the runtime read.
//!
//! Nothing here computes, except what a text says: [`ident`] and [`placeholder`]. An agent, wherever it was written, is described by an [`AgentMeta`]; a workflow is a [`Spec`].

mod agent;
pub mod ident;
pub mod placeholder;
mod step;
mod tree;

pub use agent::{AgentKind, AgentMeta, KeySpec, ToolMeta};
pub use step::{InputSpec, Spec, Step, StepKind};
pub use tree::{Node, NodeKind};
