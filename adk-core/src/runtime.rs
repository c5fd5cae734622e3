//! One run: its context, the walk over the steps of a workflow, callbacks, and the runner that begins and resumes it.
//!
//! It knows agents and tools only as traits.

pub mod agent;
pub mod callback;
pub(crate) mod live;
pub(crate) mod resources;
pub(crate) mod run;
pub mod runner;
pub mod tool;
pub mod workflow;
