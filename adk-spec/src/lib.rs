//! A workflow as data, its checks and its pictures.
//!
//! An internal crate of `adk-workflow`, for its macros and for `adk-workflow-core`, which re-exports [`spec`] and [`check`]. Users
//! depend on `adk-workflow` and write `use adk::...`.

#[doc(hidden)]
pub mod __private;
mod bounds;
pub mod check;
pub mod duration;
pub mod hash;
mod lints;
mod message;
mod money;
mod name;
pub mod nearest;
pub mod number;
mod sets;
pub mod spec;
mod text;
mod type_names;

pub use name::Name;
pub use spec::{AgentKind, AgentMeta, KeySpec, Spec, ToolMeta};
