//! [`Location`]: the place where a store keeps its data.

use std::fmt;
use std::sync::Arc;

/// The memory of this process, or a database.
///
/// A session, the events of its runs and its artifacts are parts of one whole, so a
/// `Runner` refuses stores that keep them in different locations.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Location {
    /// The memory of this process. All stores in memory fit each other: an engine in memory appends
    /// to any given session.
    Memory,
    /// A database. Two stores with the same name belong to one database. Errors show the name, so
    /// it must not contain a password.
    Database(Arc<str>),
}

impl Location {
    /// Creates the location of the database with that name.
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
