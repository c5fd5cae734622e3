//! [`SourcePlace`]: the line of a definition.

use std::fmt;
use std::panic::Location;

/// The file and line of a definition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[non_exhaustive]
pub struct SourcePlace<'a> {
    /// The path as Cargo passes it to rustc, usually relative to the workspace.
    pub file: &'a str,
    /// The line, counted from 1.
    pub line: u32,
}

impl SourcePlace<'static> {
    /// Returns the place of the call.
    #[track_caller]
    pub const fn here() -> Self {
        let caller = Location::caller();
        Self::new(caller.file(), caller.line())
    }
}

impl<'a> SourcePlace<'a> {
    /// Creates a place.
    pub const fn new(file: &'a str, line: u32) -> Self {
        Self { file, line }
    }
}

impl fmt::Display for SourcePlace<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file, self.line)
    }
}
