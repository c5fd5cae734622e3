//! Items that expansions of the macros call. They are not for users and change without notice.

#![doc(hidden)]

mod agent_root;
pub mod args;
mod awaits;
pub mod build;
pub mod callback;
mod callback_setters;
mod delegate_agent;
mod flowing;
pub mod function;
mod generated;
mod holder;
mod key_struct;
pub mod llm;
pub mod param;
pub mod resources;
mod type_facts;
pub mod typed;
pub mod wire;
pub mod workflow;

pub use crate::model;
#[cfg(adk_counts)]
pub use crate::sync::LOCKS;
pub use crate::{
    Agent, AgentKind, AgentMeta, Context, DynAgent, Error, Flow, KeySpec, Name, Out, Result, Spec,
    Tool, ToolArgs, ToolContext, ToolError, ToolMeta, spec,
};
pub use adk_spec::__private::{self as check, key, stub_if};
pub use generated::{Behavior, GeneratedAgent, GeneratedWorkflow};
pub use key_struct::key_struct;
pub use type_facts::{OfFlow, OfResult, TypeFactDefaults, TypeFacts, refuse};
pub use wire::AgentTooling;
pub use {schemars, serde, serde_json};
