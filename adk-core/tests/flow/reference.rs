//! The possible executions of a workflow, derived from the meaning of its steps and not from the
//! rules of the checker.
//!
//! The machine follows all executions at once. No decision of an execution (exit, arm, number of
//! elements, another round, order of branches) depends on the written keys, so keys are
//! independent: for each place and each key, it is enough to know whether some execution arrives
//! without the key, and whether some execution arrives with it. Rounds repeat until they change
//! nothing, so no execution is omitted.
//!
//! Nested workflows run as part of the workflow; their declarations are not trusted.

mod blocks;
mod cells;
mod run;
mod states;

pub use cells::{SESSION, Scope, Storage, Stored};
pub use run::{Found, look};

/// Assumptions beyond the possible executions. Each is a rule that makes the checker stricter than
/// the executions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Relaxed {
    /// Rule 4: an agent that may end a loop may end it before its own write.
    pub early_exits: bool,
    /// Unreachable code counts for races and exits, for example code after a `break`.
    pub dead_code: bool,
    /// A nested workflow reads its `state` keys, even if no agent in it does.
    pub states_are_read: bool,
    /// A nested workflow writes its outputs, even those that exist from the start and stay
    /// unchanged.
    pub outputs_are_written: bool,
    /// A `state` key of a nested workflow does not exist in the enclosing workflow.
    pub states_inside: bool,
    /// Writes of a nested workflow to the session are conditional.
    pub session_perhaps: bool,
    /// A renaming claims that the key exists: if no step of the workflow writes it, an optional
    /// read of it fails like any other.
    pub renamings_count: bool,
    /// Rounds are not counted against `max`: there may be one more.
    pub more_rounds: bool,
}

/// No assumption beyond the possible executions.
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
