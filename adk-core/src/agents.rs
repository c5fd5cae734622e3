//! Agents of this crate: LLM agents, `await` steps, and agents as tools.

pub(crate) mod agent_tool;
pub(crate) mod ask;
pub(crate) mod description;
pub mod llm;
pub mod tools;
