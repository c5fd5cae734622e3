//! What can happen when a workflow runs, by the meaning of its steps and not by the rules of
//! the checker.
//!
//! It follows all executions at once. No decision of an execution (exit or not, which arm, how many elements, another
//! round, which branch comes first) depends on which keys are written, so that keys do not depend on each other: for
//! each place it is enough to know, key by key, whether some execution gets there without the key, and whether some
//! execution gets there with it. Rounds are followed until nothing new comes up, so nothing is left out.
//!
//! Nested workflows are not judged by what they promise: they run as part of the workflow.

mod blocks;
mod cells;
mod run;
mod states;

pub use cells::{SESSION, Scope, Storage, Stored};
pub use run::{Found, look};

/// Of what the machine may assume more than can happen. Each is a rule by which the checker is stricter than
/// the executions are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Relaxed {
    /// Rule 4: an agent that may end a loop may do so before its own write.
    pub early_exits: bool,
    /// Who races and who may exit is not asked of code that runs only: what stands behind a `break` counts.
    pub dead_code: bool,
    /// The `state` of a nested workflow is a read of it, whether an agent in it reads the key or not.
    pub states_are_read: bool,
    /// An output is written by the workflow, also when it is there from the start and nothing changes it.
    pub outputs_are_written: bool,
    /// A `state` of a nested workflow is none of the workflow around it.
    pub states_inside: bool,
    /// What a nested workflow writes to the session is written perhaps.
    pub session_perhaps: bool,
    /// A renaming says that the key is there: where nothing in the workflow writes it, an optional read of it fails as any other.
    pub renamings_count: bool,
    /// `max` is not counted: there may be one more round.
    pub more_rounds: bool,
}

/// No more than can happen.
pub const EXACT: Relaxed = Relaxed {
    early_exits: false,
    dead_code: false,
    states_are_read: false,
    outputs_are_written: false,
    states_inside: false,
    session_perhaps: false,
    renamings_count: false,
    more_rounds: false,
};
