//! The turns of agents: one agent at the current path, a team whose members hand over to each
//! other, and the agent of a step.

mod agent;
pub(crate) mod checkpoint;
mod continuing;
mod handover;
pub(crate) mod lifecycle;
mod resume;
mod step;
mod team;

pub(crate) use agent::run;
pub(crate) use step::{instance_inside, is_plain, run_plain, run_turn, scope_inside};
pub(crate) use team::Team;
