//! A workflow as data, with its checks and its diagrams.
//!
//! This is an internal crate of `adk-workflow`, for its macros and for `adk-workflow-core`, which
//! re-exports [`spec`] and [`check`]. Users depend on `adk-workflow` and write `use adk::...`.

// Without the feature `workflow`, some of these functions have no caller.
#![cfg_attr(not(feature = "workflow"), allow(dead_code))]

#[macro_use]
mod macros;

#[cfg(feature = "workflow")]
#[doc(hidden)]
#[macro_use]
pub mod __private;
#[cfg(feature = "workflow")]
mod audit;
#[cfg(feature = "workflow")]
mod bounds;
#[cfg(feature = "workflow")]
pub mod check;
pub mod duration;
#[cfg(feature = "workflow")]
pub mod effects;
pub mod hash;
#[cfg(feature = "workflow")]
mod lints;
#[cfg(feature = "workflow")]
mod message;
mod money;
#[cfg(feature = "workflow")]
mod name;
pub mod nearest;
pub mod number;
mod on_error;
#[cfg(feature = "workflow")]
mod sets;
#[cfg(feature = "workflow")]
pub mod spec;
mod table;
mod text;
#[cfg(feature = "workflow")]
mod type_names;

pub use money::Budget;
#[cfg(feature = "workflow")]
pub use name::Name;
pub use on_error::{OnError, SkipLimit};
#[cfg(feature = "workflow")]
pub use spec::{AgentKind, AgentMeta, KeySpec, Spec, ToolMeta};
pub use table::Check;
