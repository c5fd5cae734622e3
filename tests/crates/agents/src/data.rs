//! Types of keys, and numbers for limits.

/// The severity.
#[adk::data]
#[derive(Copy, PartialEq)]
pub enum Severity {
    /// A person must act at once.
    High,
    /// The ticket can wait.
    Low,
}

/// A type of another crate that is not data: it has no JSON form and no schema.
#[derive(Debug, Default)]
pub struct Opaque;

/// Zero rounds.
pub const NO_ROUNDS: u32 = 0;

/// A number of rounds.
pub const ROUNDS: u32 = 3;
