//! A workflow as data: a flat list of steps that macros write, and that checks, rendering and the
//! runtime read.
//!
//! An [`AgentMeta`] describes any agent, however it is written; a [`Spec`] describes a workflow.
//! Only parsing ([`ident`] and [`placeholder`]) and diagrams compute anything.

mod agent;
mod answered_by;
pub mod ident;
mod input;
mod key;
mod labels;
mod place;
pub mod placeholder;
mod render;
mod resource;
#[cfg(test)]
pub(crate) mod sketch;
mod step;
mod tool;
mod tree;

pub use crate::money::{Budget, BudgetError, Currency, Money, Price, Prices, Quote};
pub use crate::on_error::{OnError, SkipLimit};
pub use agent::{Accepts, AgentKind, AgentMeta, Conversation, Module, PromptKey, ValueSchema};
pub use answered_by::AnsweredBy;
pub use input::InputSpec;
pub use key::KeySpec;
pub(crate) use key::{OPENED, has_prefix, layout};
pub use labels::{Guards, Labels};
pub use place::SourcePlace;
pub use render::DotLook;
pub(crate) use render::{NodePaint, Overlay};
pub use resource::ResourceSpec;
pub use step::{Attempts, ERROR_KEY, Limits, Over, Renames, Spec, Step, StepKind};
pub use tool::ToolMeta;
pub use tree::{Node, NodeKind};
