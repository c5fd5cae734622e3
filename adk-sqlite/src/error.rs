//! What SQLite says, as an error that says what to do.

use adk_core::{Error, ErrorKind, StoreErrorKind};
use rusqlite::ErrorCode;
use std::path::Path;

/// What went wrong, while this was done.
pub(crate) fn failed(doing: &str, error: &rusqlite::Error) -> Error {
    use StoreErrorKind as Kind;
    let (kind, help) = match error.sqlite_error_code() {
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => (
            Kind::Locked,
            "another program holds the file: end its transaction, or wait longer with `busy_timeout`",
        ),
        Some(ErrorCode::DiskFull) => (Kind::Full, "make room; nothing that was acknowledged is lost"),
        Some(ErrorCode::ReadOnly | ErrorCode::PermissionDenied) => {
            (Kind::ReadOnly, "the file and its folder have to be writable")
        }
        Some(ErrorCode::CannotOpen) => (
            Kind::ReadOnly,
            "the path has to be that of a file; its folder has to be there, and both have to be writable",
        ),
        Some(ErrorCode::NotADatabase) => {
            (Kind::Corrupt, "check the path; if this was a database, take it from a backup")
        }
        Some(ErrorCode::DatabaseCorrupt) => {
            (Kind::Corrupt, "take the file from a backup; `sqlite3 FILE .recover` saves what can be read")
        }
        Some(ErrorCode::SystemIoFailure) => (Kind::Unavailable, "look at the disk and its file system"),
        _ => (Kind::Other, ""),
    };
    let error = Error::new(ErrorKind::Store(kind), format!("SQLite failed to {doing}: {error}"));
    match help {
        "" => error,
        help => error.with_help(help),
    }
}

/// The result of a statement, with what it was for.
pub(crate) trait Doing<T> {
    fn doing(self, what: &str) -> adk_core::Result<T>;
}

impl<T> Doing<T> for rusqlite::Result<T> {
    fn doing(self, what: &str) -> adk_core::Result<T> {
        self.map_err(|error| failed(what, &error))
    }
}

/// The same error, with the file where that is what is wrong.
pub(crate) fn of_file(path: &Path, error: Error) -> Error {
    use StoreErrorKind::{Exists, Fenced, Missing};
    match error.kind() {
        ErrorKind::Store(kind) if !matches!(kind, Exists | Missing | Fenced) => {
            let named = Error::new(error.kind(), format!("`{}`: {}", path.display(), error.message()));
            helped(named, &error)
        }
        _ => error,
    }
}

/// What kind of failure of the store an error of its folder is.
pub(crate) fn kind_of_io(error: &std::io::Error) -> StoreErrorKind {
    match error.kind() {
        std::io::ErrorKind::StorageFull => StoreErrorKind::Full,
        std::io::ErrorKind::ReadOnlyFilesystem | std::io::ErrorKind::PermissionDenied => {
            StoreErrorKind::ReadOnly
        }
        _ => StoreErrorKind::Unavailable,
    }
}

/// A copy of the error for another receiver.
pub(crate) fn copy(error: &Error) -> Error {
    helped(Error::new(error.kind(), error.message()), error)
}

fn helped(error: Error, by: &Error) -> Error {
    match by.help() {
        Some(help) => error.with_help(help),
        None => error,
    }
}

/// What is stored is not what is written here.
pub(crate) fn corrupt(message: String) -> Error {
    Error::new(ErrorKind::Store(StoreErrorKind::Corrupt), message)
        .with_help("was the file written by another program?")
}

/// SQLite opens a file that may not be written as one to read.
pub(crate) fn read_only() -> Error {
    Error::new(ErrorKind::Store(StoreErrorKind::ReadOnly), "the file may not be written")
        .with_help("the file and its folder have to be writable")
}

/// The thread that writes has ended.
pub(crate) fn closed() -> Error {
    Error::new(ErrorKind::Store(StoreErrorKind::Unavailable), "the store is closed")
}
