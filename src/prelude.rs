//! What a program of a user needs: `use adk::prelude::*`.

pub use crate::{
    Agent, Content, Context, Event, Flow, Outcome, Part, Rehearsal, Result, RunConfig, Runner, ToolContext,
    Workflow, agent, data, llm, tool, workflow,
};
