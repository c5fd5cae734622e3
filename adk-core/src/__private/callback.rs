//! Callbacks in declarations of `workflow!`.

pub mod block;
pub mod closure;
mod inferred_return;

pub use crate::runtime::callback::AgentCallbacks;
