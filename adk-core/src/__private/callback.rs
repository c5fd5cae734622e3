//! Callbacks that a declaration names.

pub mod block;
pub mod closure;
mod ends;

pub use crate::runtime::callback::AgentCallbacks;
