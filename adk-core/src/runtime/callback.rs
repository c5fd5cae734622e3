//! Callbacks of agents and blocks, and plugins of a runner. The runtime calls them before and after
//! each agent, model call and tool call.
//!
//! Plugins are called first, in the order in which they were registered, then the callbacks of the
//! agent, in the order of their list. The first answer ends the sequence and replaces the guarded
//! action, as in ADK.
//!
//! Callbacks of agents and models run as part of the agent, so a resumed run executes them again.
//! They should only use the state; I/O in them goes through [`CallbackContext::step`]. Callbacks of
//! tools are part of the recorded call and may do anything that a tool may do.

pub(crate) mod accept;
mod lists;

pub use crate::runtime::run::{CallbackContext, Plugin, Said};
pub use accept::{
    AfterAgent, AfterModel, AfterTool, Answer, Asked, BeforeAgent, BeforeModel, BeforeTool, Call,
    Later, Now, OnModelError, OnToolError,
};
pub use lists::{AgentCallbacks, ModelCallbacks, ToolCallbacks};

pub(crate) use crate::__callback_setters as setters;
