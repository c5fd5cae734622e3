//! [`DatabaseFile`]: identity of the file of an open store, and checks that the file still exists.

use crate::error::{copy, kind_of_io};
use adk_model::{Error, ErrorKind, Result, StoreErrorKind};
use rusqlite::Connection;
use std::fs::Metadata;
use std::io::ErrorKind as IoErrorKind;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// The file of an open store. The checks read its metadata and never open it: closing any
/// descriptor of the file would release the locks that SQLite holds on it in this process.
#[derive(Debug)]
pub(crate) struct DatabaseFile {
    path: PathBuf,
    id: FileId,
    /// The write-ahead log, which stays the same file while a connection is open.
    wal: Option<(PathBuf, FileId)>,
    /// The error of the first check that found a file deleted or replaced. Set once: the store
    /// stays stopped.
    lost: OnceLock<Error>,
}

/// Device and inode. No other file has them while this file is open.
#[derive(Debug, PartialEq)]
struct FileId(u64, u64);

impl DatabaseFile {
    /// Identifies the file that a connection has opened, when its write-ahead log exists.
    pub(crate) fn identify(connection: &Connection, path: &Path) -> Result<Self> {
        // SQLite resolves symlinks when it opens a file, even dangling ones.
        let path = connection
            .path()
            .map_or_else(|| path.to_owned(), PathBuf::from);
        let Some(found) = metadata(&path)? else {
            return Err(file_gone_error());
        };
        check_links(&found)?;
        let mut wal = path.clone().into_os_string();
        wal.push("-wal");
        let wal = metadata(wal.as_ref())?.map(|found| (PathBuf::from(wal), id(&found)));
        Ok(Self {
            path,
            id: id(&found),
            wal,
            lost: OnceLock::new(),
        })
    }

    /// Returns an absolute path without symlinks, so that all processes find the same lock files
    /// next to it.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Reports whether the store has stopped for good.
    pub(crate) fn is_lost(&self) -> bool {
        self.lost.get().is_some()
    }

    /// Fails unless the path still leads to the open file. Costs one system call, and runs before
    /// each commit.
    pub(crate) fn check(&self) -> Result<()> {
        if let Some(error) = self.lost.get() {
            return Err(copy(error));
        }
        match metadata(&self.path)? {
            None => Err(self.stop(file_gone_error())),
            Some(found) if id(&found) != self.id => Err(self.stop(stopped_error(
                "the file was replaced by another while the store was open",
                BACK,
            ))),
            Some(found) => check_links(&found),
        }
    }

    /// Checks the file and its write-ahead log. Costs two system calls; used for reads and for some
    /// commits.
    pub(crate) fn check_with_log(&self) -> Result<()> {
        self.check()?;
        let Some((path, expected)) = &self.wal else {
            return Ok(());
        };
        match metadata(path)? {
            Some(found) if id(&found) == *expected => Ok(()),
            _ => {
                let message = "the `-wal` file was deleted or replaced while the store was open";
                Err(self.stop(stopped_error(message, CLOSE)))
            }
        }
    }

    fn stop(&self, error: Error) -> Error {
        copy(self.lost.get_or_init(|| error))
    }
}

/// Resolves symlinks of the folder, and of the file if it exists. Leaves a path that cannot be
/// resolved for SQLite to report.
pub(crate) fn resolve(path: &Path) -> PathBuf {
    let by_folder = || {
        let folder = path
            .parent()
            .filter(|folder| !folder.as_os_str().is_empty());
        let folder = folder.unwrap_or(Path::new(".")).canonicalize().ok()?;
        Some(folder.join(path.file_name()?))
    };
    path.canonicalize()
        .ok()
        .or_else(by_folder)
        .unwrap_or_else(|| path.to_owned())
}

/// Rejects a path that does not name a file, a file with several hard links (before SQLite creates
/// a log for this name), and, unless `create` is set, a file that does not exist.
pub(crate) fn check_before_open(path: &Path, create: bool) -> Result<()> {
    if path.as_os_str().is_empty() || path.ends_with(":memory:") {
        let help = "name a file; a runner without a store keeps its data in memory";
        return Err(misplaced_error("the path does not name a file").with_help(help));
    }
    match metadata(path)? {
        Some(found) => check_links(&found),
        None if create => Ok(()),
        None => {
            let message = format!("the file `{}` does not exist", path.display());
            Err(
                Error::new(ErrorKind::Store(StoreErrorKind::Missing), message).with_help(
                    "check the path; a program creates the file when it opens the store",
                ),
            )
        }
    }
}

/// Reads the metadata at a path. Does not follow symlinks: a symlink in place of the file is not
/// the file.
fn metadata(path: &Path) -> Result<Option<Metadata>> {
    match path.symlink_metadata() {
        Ok(found) => Ok(Some(found)),
        Err(error)
            if matches!(
                error.kind(),
                IoErrorKind::NotFound | IoErrorKind::NotADirectory
            ) =>
        {
            Ok(None)
        }
        Err(error) => {
            let message = format!("cannot check whether the file still exists: {error}");
            Err(Error::new(ErrorKind::Store(kind_of_io(&error)), message)
                .with_help("make the folder of the database exist, readable and writable"))
        }
    }
}

#[cfg(unix)]
fn id(found: &Metadata) -> FileId {
    use std::os::unix::fs::MetadataExt;
    FileId(found.dev(), found.ino())
}

/// On systems other than Unix, an open file cannot be renamed or deleted, so it needs no identity.
#[cfg(not(unix))]
fn id(_: &Metadata) -> FileId {
    FileId(0, 0)
}

#[cfg(unix)]
fn check_links(found: &Metadata) -> Result<()> {
    use std::os::unix::fs::MetadataExt;
    match found.nlink() {
        // The link count of a folder counts its subfolders.
        names if names > 1 && found.is_file() => {
            let message =
                format!("the file has {names} names (hard links), and SQLite keeps a log for each");
            Err(misplaced_error(message).with_help(
                "two logs damage a database: remove the other names, or use a symlink or a copy \
                 instead",
            ))
        }
        _ => Ok(()),
    }
}

#[cfg(not(unix))]
fn check_links(_: &Metadata) -> Result<()> {
    Ok(())
}

fn misplaced_error(message: impl Into<String>) -> Error {
    Error::new(ErrorKind::Store(StoreErrorKind::Misplaced), message)
}

/// Help when the file was replaced. A log of another file would be written into the new file.
const BACK: &str = "the store has stopped: put the right file in its place, without another `-wal` \
    file next to it, and open the store again";

/// Help when only the log was replaced. SQLite still holds the log, and the last connection writes
/// it into the file.
const CLOSE: &str = "the store has stopped: close it, which writes acknowledged data into the \
    file, and open it again";

fn stopped_error(message: &str, help: &str) -> Error {
    misplaced_error(message).with_help(help)
}

fn file_gone_error() -> Error {
    stopped_error(
        "the file was deleted or renamed while the store was open",
        BACK,
    )
}
