//! What is wrong with a tree: all of it, as values.

use super::item::SubAgent;
use crate::check::Diagnostic;
use crate::{Error, ErrorKind};
use std::fmt;

/// A tree that was refused: every fault of it.
///
/// It still holds the tree, so that a part that is refused by itself can be placed in another tree, where it is checked
/// as a whole.
#[derive(Clone)]
pub struct BuildError {
    faults: Vec<Diagnostic>,
    pub(super) part: SubAgent,
}

impl BuildError {
    pub(super) fn new(faults: Vec<Diagnostic>, part: SubAgent) -> Self {
        Self { faults, part }
    }

    /// Every fault, in the order of the tree.
    pub fn faults(&self) -> &[Diagnostic] {
        &self.faults
    }
}

/// One fault as its message, several one per line.
impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, fault) in self.faults.iter().enumerate() {
            if at > 0 {
                f.write_str("\n")?;
            }
            fault.fmt(f)?;
        }
        Ok(())
    }
}

impl fmt::Debug for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // `fn main() -> adk::Result<()>` prints this: people read it.
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for BuildError {}

impl From<BuildError> for Error {
    fn from(error: BuildError) -> Self {
        Self::new(ErrorKind::Config, error.to_string()).with_source(error)
    }
}
