//! The execution of one run: its context, the walk over the steps of a workflow, callbacks, and the
//! runner that starts and resumes runs.
//!
//! This module knows agents and tools only as traits.

pub mod agent;
pub mod callback;
pub(crate) mod live;
pub(crate) mod resources;
pub(crate) mod run;
pub mod runner;
pub mod tool;
pub mod workflow;
