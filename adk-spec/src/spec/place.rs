//! [`SourcePlace`]: the line of a definition.

use std::fmt;

/// The file and line of a definition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[non_exhaustive]
pub struct SourcePlace<'a> {
    /// The path as Cargo passes it to rustc, usually relative to the workspace.
    pub file: &'a str,
    /// The line, counted from 1.
    pub line: u32,
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
