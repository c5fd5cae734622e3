//! What a program of a user needs: `use adk::prelude::*`.

pub use crate::{Agent, Context, Flow, Result, ToolContext, Workflow, llm_agent, workflow};
