//! A workflow as data, its checks and its pictures. Users depend on `adk-workflow` and write `use adk::...`.

mod bounds;
pub mod check;
pub mod duration;
pub mod hash;
mod lints;
#[doc(hidden)]
pub mod message;
mod name;
pub mod nearest;
pub mod number;
mod sets;
pub mod spec;
mod text;
mod type_names;

pub use name::Name;
pub use spec::{AgentKind, AgentMeta, KeySpec, Spec, ToolMeta};
