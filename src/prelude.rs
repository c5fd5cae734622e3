//! The items that most programs need: `use adk::prelude::*`.

pub use crate::{
    Agent, CallbackContext, Content, Context, Error, Event, Flow, LiveQueue, Out, Outcome, Part,
    Plugin, Rehearsal, Result, RunConfig, RunEnd, Runner, ToolContext, Value, Workflow, agent,
    data, json, llm, tool, workflow,
};

/// The method `dev_ui` of a server.
#[cfg(feature = "server")]
pub use crate::server::DevUi as _;
