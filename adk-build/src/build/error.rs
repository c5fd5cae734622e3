//! [`BuildError`]: the faults of a tree, as values.

use super::item::SubAgent;
use adk_core::check::Diagnostic;
use adk_core::{Error, ErrorKind};
use std::fmt;

/// A rejected tree with all its faults.
///
/// The error still holds the tree, so a part that is rejected by itself can be placed in another
/// tree, which is then checked as a whole.
#[derive(Clone)]
pub struct BuildError {
    faults: Vec<Diagnostic>,
    pub(super) part: SubAgent,
}

impl BuildError {
    pub(super) fn new(faults: Vec<Diagnostic>, part: SubAgent) -> Self {
        Self { faults, part }
    }

    /// Returns all faults, in the order of the tree.
    pub fn faults(&self) -> &[Diagnostic] {
        &self.faults
    }
}

/// Writes each fault as its message, one per line.
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
        // `fn main() -> adk::Result<()>` prints the debug form, which users read.
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for BuildError {}

impl From<BuildError> for Error {
    fn from(error: BuildError) -> Self {
        Self::new(ErrorKind::Config, error.to_string()).with_source(error)
    }
}

/// Implements [`IntoAgent`] for the result of a builder. A part that was rejected by itself is
/// checked again in the tree that contains it.
macro_rules! place_result {
    ($agent:ty) => {
        impl crate::build::IntoAgent<crate::build::AsResult> for Result<$agent, BuildError> {
            fn into_agent(self) -> SubAgent {
                match self {
                    Ok(agent) => agent.into_agent(),
                    Err(error) => error.part,
                }
            }
        }
    };
}
pub(super) use place_result;
