//! A workflow as data, its checks and its pictures. Users depend on `adk-workflow` and write `use adk::...`.

pub mod check;
pub mod duration;
pub mod hash;
mod name;
pub mod nearest;
pub mod number;
pub mod spec;
mod text;

pub use name::Name;
pub use spec::{AgentKind, AgentMeta, KeySpec, Spec, ToolMeta};
