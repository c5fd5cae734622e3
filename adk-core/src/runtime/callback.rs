//! Callbacks of agents and blocks, and the plugins of a runner: what is asked before and after each agent, model call
//! and tool call.
//!
//! Plugins are asked first, in the order in which they were registered, then the callbacks of the agent's own, in the
//! order of their list. The first that gives something wins: no further one is asked, and the guarded action is not
//! done (ADK's rules).
//!
//! Callbacks of agents and models run in the agent, so that a run that is taken up again runs them again: they are code
//! over the state, and I/O in them goes through [`CallbackContext::step`]. Callbacks of tools are a part of the recorded
//! call: they may do what a tool may.

pub(crate) mod accept;
mod hooks;
mod lists;
mod setters;

pub use crate::runtime::run::{CallbackContext, Plugin};
pub use accept::{
    AfterAgent, AfterModel, AfterTool, Answer, Asked, BeforeAgent, BeforeModel, BeforeTool, Call, Later, Now,
    OnModelError, OnToolError, Said,
};
pub use lists::{AgentCallbacks, ModelCallbacks, ToolCallbacks};

pub(crate) use hooks::{
    after_agent, after_model, after_run, after_tool, before_agent, before_model, before_run, before_tool,
    on_agent_error, on_model_error, on_tool_error, on_user_message,
};
pub(crate) use setters::setters;
