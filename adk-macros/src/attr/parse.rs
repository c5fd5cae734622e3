//! Tokens into a tree. Nothing in here knows what is generated.

mod args;
mod by_hand;
mod function;
mod words;

pub(crate) use args::{AgentArgs, ByHandArgs, ToolArgs, TypedKey, agent_args, by_hand_args, tool_args};
pub(crate) use by_hand::{ByHand, by_hand};
pub(crate) use function::{Function, Param, begins, function, plain, unread};
