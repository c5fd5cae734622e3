//! The plumbing that expansions of the macros call. Not for users: it changes without notice.

pub mod function;
mod made;
mod probe;
pub mod typed;
pub mod wire;

pub use crate::agents::agent_tool::AgentTooling;
pub use crate::agents::llm;
pub use crate::models::model;
pub use crate::runtime::agent::Handover;
pub use crate::runtime::tool::args;
pub use crate::runtime::{callback, workflow};
pub use crate::{
    Agent, AgentKind, AgentMeta, Context, DynAgent, Error, Event, Flow, KeySpec, Name, Result, Spec, Tool,
    ToolArgs, ToolContext, ToolError, ToolMeta, check, spec,
};
pub use made::{MadeByMacro, MadeWorkflow, Making};
pub use probe::{OfFlow, OfResult, Otherwise, Probe, refuse};
pub use {schemars, serde, serde_json};
