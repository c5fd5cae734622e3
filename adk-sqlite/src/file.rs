//! [`DatabaseFile`]: the file of an open store, under one name, and whether it is still there.

use crate::error::{copy, kind_of_io};
use adk_core::{Error, ErrorKind, Result, StoreErrorKind};
use rusqlite::Connection;
use std::fs::Metadata;
use std::io::ErrorKind as IoErrorKind;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// The file of an open store. It is looked at and never opened: closing any descriptor of it would drop the locks that
/// SQLite holds on it in this process.
#[derive(Debug)]
pub(crate) struct DatabaseFile {
    path: PathBuf,
    id: FileId,
    /// The write-ahead log, which keeps its file for as long as a connection is open.
    wal: Option<(PathBuf, FileId)>,
    /// Set once one of them was found deleted or replaced: the store stays stopped.
    lost: OnceLock<Error>,
}

/// Device and inode, which no other file has while this one is open.
#[derive(Debug, PartialEq)]
struct FileId(u64, u64);

impl DatabaseFile {
    /// The file that a connection has opened by this path, once it has its write-ahead log.
    pub(crate) fn of(connection: &Connection, path: &Path) -> Result<Self> {
        // SQLite resolves symlinks when it opens a file, also one that led nowhere before.
        let path = connection.path().map_or_else(|| path.to_owned(), PathBuf::from);
        let Some(found) = look(&path)? else { return Err(gone()) };
        check_links(&found)?;
        let mut wal = path.clone().into_os_string();
        wal.push("-wal");
        let wal = look(wal.as_ref())?.map(|found| (PathBuf::from(wal), id(&found)));
        Ok(Self { path, id: id(&found), wal, lost: OnceLock::new() })
    }

    /// Absolute, and without symlinks: lock files are beside it.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Whether the store has stopped for good.
    pub(crate) fn is_lost(&self) -> bool {
        self.lost.get().is_some()
    }

    /// An error unless the open file is the one that others find at its path: one look, before each commit.
    pub(crate) fn check(&self) -> Result<()> {
        if let Some(error) = self.lost.get() {
            return Err(copy(error));
        }
        match look(&self.path)? {
            None => Err(self.stop(gone())),
            Some(found) if id(&found) != self.id => {
                Err(self.stop(lost("the file was replaced by another while the store was open", BACK)))
            }
            Some(found) => check_links(&found),
        }
    }

    /// The same, and of the write-ahead log: a second look, for reads and for some of the commits.
    pub(crate) fn check_with_log(&self) -> Result<()> {
        self.check()?;
        let Some((path, expected)) = &self.wal else { return Ok(()) };
        match look(path)? {
            Some(found) if id(&found) == *expected => Ok(()),
            _ => {
                let message = "its `-wal` file was deleted or replaced while the store was open";
                Err(self.stop(lost(message, CLOSE)))
            }
        }
    }

    fn stop(&self, error: Error) -> Error {
        copy(self.lost.get_or_init(|| error))
    }
}

/// The path to open a file by: its folder, and the file where it exists, without symlinks. SQLite says what is wrong with
/// one that cannot be resolved.
pub(crate) fn resolve(path: &Path) -> PathBuf {
    let by_folder = || {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        let folder = folder.unwrap_or(Path::new(".")).canonicalize().ok()?;
        Some(folder.join(path.file_name()?))
    };
    path.canonicalize().ok().or_else(by_folder).unwrap_or_else(|| path.to_owned())
}

/// Refuses a path that is none, a file with several names before SQLite makes a log for this one, and one that is not there
/// unless it is made.
pub(crate) fn check_before_open(path: &Path, create: bool) -> Result<()> {
    if path.as_os_str().is_empty() || path.ends_with(":memory:") {
        let help = "name a file; a runner without a store keeps all in memory";
        return Err(misplaced("it is no path of a file").with_help(help));
    }
    match look(path)? {
        Some(found) => check_links(&found),
        None if create => Ok(()),
        None => {
            let message = format!("there is no file `{}`", path.display());
            Err(Error::new(ErrorKind::Store(StoreErrorKind::Missing), message)
                .with_help("check the path; a program makes the file when it opens the store"))
        }
    }
}

/// What is at a path. A symlink that has taken the place of the file is not the file.
fn look(path: &Path) -> Result<Option<Metadata>> {
    match path.symlink_metadata() {
        Ok(found) => Ok(Some(found)),
        Err(error) if matches!(error.kind(), IoErrorKind::NotFound | IoErrorKind::NotADirectory) => Ok(None),
        Err(error) => {
            let message = format!("cannot see whether the file is still there: {error}");
            Err(Error::new(ErrorKind::Store(kind_of_io(&error)), message)
                .with_help("the folder of the database has to be there, readable and writable"))
        }
    }
}

#[cfg(unix)]
fn id(found: &Metadata) -> FileId {
    use std::os::unix::fs::MetadataExt;
    FileId(found.dev(), found.ino())
}

/// Other systems keep a file that is open under its name.
#[cfg(not(unix))]
fn id(_: &Metadata) -> FileId {
    FileId(0, 0)
}

#[cfg(unix)]
fn check_links(found: &Metadata) -> Result<()> {
    use std::os::unix::fs::MetadataExt;
    match found.nlink() {
        // Of a folder they are those of its subfolders.
        names if names > 1 && found.is_file() => {
            let message = format!("the file has {names} names (hard links), and SQLite keeps a log for each");
            Err(misplaced(message).with_help(
                "two logs damage a database: remove the other names, or make a symlink or a copy instead",
            ))
        }
        _ => Ok(()),
    }
}

#[cfg(not(unix))]
fn check_links(_: &Metadata) -> Result<()> {
    Ok(())
}

fn misplaced(message: impl Into<String>) -> Error {
    Error::new(ErrorKind::Store(StoreErrorKind::Misplaced), message)
}

/// A log of another file would be written into this one.
const BACK: &str = "the store has stopped: open it again once the right file is in its place, with no other `-wal` beside it";

/// SQLite still has the log: the last connection that is closed brings it into the file.
const CLOSE: &str =
    "the store has stopped: close it, which brings what was acknowledged into the file, and open it again";

fn lost(message: &str, help: &str) -> Error {
    misplaced(message).with_help(help)
}

fn gone() -> Error {
    lost("the file was deleted or renamed while the store was open", BACK)
}
