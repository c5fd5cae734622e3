//! Conversion of SQLite's errors into errors of ADK with a remedy.

use adk_model::{Error, ErrorKind, StoreErrorKind};
use rusqlite::ErrorCode;
use std::path::Path;

/// Converts an error of SQLite. `doing` completes "SQLite failed to ...".
pub(crate) fn sqlite_error(doing: &str, error: &rusqlite::Error) -> Error {
    use StoreErrorKind as Kind;
    let (kind, help) = match error.sqlite_error_code() {
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => (
            Kind::Locked,
            "another program holds the file: end its transaction, or raise `busy_timeout`",
        ),
        Some(ErrorCode::DiskFull) => (Kind::Full, "free some space; no acknowledged write is lost"),
        Some(ErrorCode::ReadOnly | ErrorCode::PermissionDenied) => {
            (Kind::ReadOnly, "make the file and its folder writable")
        }
        Some(ErrorCode::CannotOpen) => (
            Kind::ReadOnly,
            "name a file in a folder that exists, and make both writable",
        ),
        Some(ErrorCode::NotADatabase) => (
            Kind::Corrupt,
            "check the path; if the file was a database, restore it from a backup",
        ),
        Some(ErrorCode::DatabaseCorrupt) => (
            Kind::Corrupt,
            "restore the file from a backup; `sqlite3 FILE .recover` saves the readable rows",
        ),
        Some(ErrorCode::SystemIoFailure) => {
            (Kind::Unavailable, "check the disk and its file system")
        }
        _ => (Kind::Other, ""),
    };
    let error = Error::new(
        ErrorKind::Store(kind),
        format!("SQLite failed to {doing}: {error}"),
    );
    match help {
        "" => error,
        help => error.with_help(help),
    }
}

/// Converts the error of a statement; the argument completes "SQLite failed to ...".
pub(crate) trait Doing<T> {
    fn doing(self, what: &str) -> adk_model::Result<T>;
}

impl<T> Doing<T> for rusqlite::Result<T> {
    fn doing(self, what: &str) -> adk_model::Result<T> {
        self.map_err(|error| sqlite_error(what, &error))
    }
}

/// Adds the name of the file to errors that concern the file.
pub(crate) fn with_file(path: &Path, error: Error) -> Error {
    use StoreErrorKind::{Exists, Fenced, Missing};
    match error.kind() {
        ErrorKind::Store(kind) if !matches!(kind, Exists | Missing | Fenced) => {
            let named = Error::new(
                error.kind(),
                format!("`{}`: {}", path.display(), error.message()),
            );
            with_help_of(named, &error)
        }
        _ => error,
    }
}

/// Returns the kind of store error for a failed operation on the folder of the database.
pub(crate) fn kind_of_io(error: &std::io::Error) -> StoreErrorKind {
    match error.kind() {
        std::io::ErrorKind::StorageFull => StoreErrorKind::Full,
        std::io::ErrorKind::ReadOnlyFilesystem | std::io::ErrorKind::PermissionDenied => {
            StoreErrorKind::ReadOnly
        }
        _ => StoreErrorKind::Unavailable,
    }
}

/// Copies an error for a further receiver.
pub(crate) fn copy(error: &Error) -> Error {
    with_help_of(Error::new(error.kind(), error.message()), error)
}

fn with_help_of(error: Error, by: &Error) -> Error {
    match by.help() {
        Some(help) => error.with_help(help),
        None => error,
    }
}

/// Returns the error for stored data that this crate cannot have written.
pub(crate) fn corrupt_error(message: String) -> Error {
    Error::new(ErrorKind::Store(StoreErrorKind::Corrupt), message)
        .with_help("check whether another program wrote the file; if so, restore it from a backup")
}

/// Returns the error for a file that SQLite has opened read-only because it is write-protected.
pub(crate) fn read_only() -> Error {
    Error::new(
        ErrorKind::Store(StoreErrorKind::ReadOnly),
        "the file is write-protected",
    )
    .with_help("make the file and its folder writable")
}

/// Returns the error for a store whose writer thread has ended.
pub(crate) fn closed_error() -> Error {
    Error::new(
        ErrorKind::Store(StoreErrorKind::Unavailable),
        "the store is closed",
    )
}
