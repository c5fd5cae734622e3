//! A workflow as data, its checks and its pictures. Users depend on `adk-workflow` and write `use adk::...`.

pub mod check;
mod name;
pub mod spec;

pub use name::Name;
pub use spec::{AgentKind, AgentMeta, KeySpec, Spec, ToolMeta};
