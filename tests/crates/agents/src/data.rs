//! Types of keys, and numbers for limits.

/// How bad it is.
#[adk::data]
#[derive(Copy, PartialEq)]
pub enum Severity {
    /// Somebody has to get up.
    High,
    /// It can wait.
    Low,
}

/// A type of another crate that is not data: it has no form in JSON and no schema.
#[derive(Debug, Default)]
pub struct Opaque;

/// No round at all.
pub const NO_ROUNDS: u32 = 0;

/// A number of rounds.
pub const ROUNDS: u32 = 3;
