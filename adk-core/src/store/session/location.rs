//! [`Location`]: where a store keeps its data.

use std::fmt;
use std::sync::Arc;

/// The memory of this process, or a database.
///
/// A session, the events of its runs and its artifacts are parts of one whole, so a
/// [`Runner`](crate::Runner) refuses stores that keep them in different locations.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Location {
    /// The memory of this process. All stores in memory fit each other: an engine there appends to the session that it is
    /// given.
    Memory,
    /// A database. Two stores of one name are of one database. Errors show the name, so it holds no password.
    Database(Arc<str>),
}

impl Location {
    /// The database of that name.
    pub fn database(name: impl Into<Arc<str>>) -> Self {
        Self::Database(name.into())
    }
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Memory => f.write_str("memory"),
            Self::Database(name) => write!(f, "`{name}`"),
        }
    }
}
