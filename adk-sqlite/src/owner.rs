//! Who drives a run: a process that lives. It holds the lock of a file, and the system takes it away with the process.

use adk_core::{Error, ErrorKind, Result, StoreErrorKind};
use std::fs::{File, OpenOptions};
use std::path::{Path, PathBuf};

/// The lock of this store, held for as long as it lives.
#[derive(Debug)]
pub(crate) struct Owner {
    pub(crate) name: String,
    path: PathBuf,
    _lock: File,
}

fn beside(database: &Path, name: &str) -> PathBuf {
    let mut path = database.as_os_str().to_owned();
    path.push(format!("-owner-{name}"));
    path.into()
}

impl Owner {
    pub(crate) fn new(database: &Path) -> Result<Self> {
        // Of this process and this moment, and random.
        let random = std::hash::BuildHasher::hash_one(&std::hash::RandomState::new(), std::process::id());
        let name = format!("{}-{random:016x}", std::process::id());
        let path = beside(database, &name);
        let lock = OpenOptions::new().create_new(true).write(true).open(&path);
        match lock.and_then(|file| file.lock().map(|()| file)) {
            Ok(lock) => Ok(Self { name, path, _lock: lock }),
            Err(error) => {
                let message = format!("cannot make `{}`: {error}", path.display());
                let kind = match error.kind() {
                    std::io::ErrorKind::StorageFull => StoreErrorKind::Full,
                    std::io::ErrorKind::ReadOnlyFilesystem | std::io::ErrorKind::PermissionDenied => {
                        StoreErrorKind::ReadOnly
                    }
                    _ => StoreErrorKind::Unavailable,
                };
                Err(Error::new(ErrorKind::Store(kind), message)
                    .with_help("the folder of the database has to be writable"))
            }
        }
    }

    /// Whether the process of that name lives. The file of one that does not is removed.
    pub(crate) fn lives(&self, database: &Path, other: &str) -> bool {
        if other == self.name {
            return true;
        }
        let path = beside(database, other);
        let Ok(file) = OpenOptions::new().write(true).open(&path) else { return path.exists() };
        match file.try_lock() {
            Ok(()) => {
                let _ = std::fs::remove_file(&path);
                false
            }
            Err(_) => true,
        }
    }
}

impl Drop for Owner {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.path);
    }
}
