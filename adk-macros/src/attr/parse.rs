//! Tokens into a tree. Nothing in here knows what is generated.

mod args;
mod function;
mod words;

pub(crate) use args::{AgentArgs, ToolArgs, agent_args, tool_args};
pub(crate) use function::{Function, Param, function};
