//! [`Owner`]: a process that drives runs. The process holds the lock of its own file as long as it
//! lives, and the operating system releases the lock when the process ends.

use crate::error::kind_of_io;
use adk_journal::engine::ClaimId;
use adk_model::{Error, ErrorKind, Result};
use std::collections::HashSet;
use std::fs::{File, OpenOptions};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The value of the column `owner` for a run that an engine above the store drives. It names no
/// process, and counts as alive until the run ends.
pub(crate) const ABOVE: &str = "@";

/// The lock file of an open store.
#[derive(Debug)]
pub(crate) struct Owner {
    pub(crate) name: String,
    path: PathBuf,
    database: PathBuf,
    _lock: File,
    /// Claims that this process has released, but whose release is not written yet.
    given_up: Mutex<HashSet<ClaimId>>,
}

fn lock_path(database: &Path, name: &str) -> PathBuf {
    let mut path = database.as_os_str().to_owned();
    path.push(format!("-owner-{name}"));
    path.into()
}

/// Creates and locks a file. Retries if another process removes the file before the lock is held.
fn create_locked(path: &Path) -> std::io::Result<File> {
    loop {
        let file = OpenOptions::new().create_new(true).write(true).open(path)?;
        file.lock()?;
        // Another process may have removed the file as a leftover before it was locked.
        if path.exists() {
            return Ok(file);
        }
    }
}

impl Owner {
    /// Creates the lock file next to the path of a [`DatabaseFile`](crate::file::DatabaseFile),
    /// where all processes look.
    pub(crate) fn new(database: &Path) -> Result<Self> {
        // The process id and a random number make the name unique.
        let random =
            std::hash::BuildHasher::hash_one(&std::hash::RandomState::new(), std::process::id());
        let name = format!("{}-{random:016x}", std::process::id());
        let path = lock_path(database, &name);
        match create_locked(&path) {
            Ok(lock) => {
                let database = database.to_owned();
                Ok(Self {
                    name,
                    path,
                    database,
                    _lock: lock,
                    given_up: Mutex::default(),
                })
            }
            Err(error) => {
                let message = format!("cannot make `{}`: {error}", path.display());
                Err(Error::new(ErrorKind::Store(kind_of_io(&error)), message)
                    .with_help("make the folder of the database writable"))
            }
        }
    }

    /// Returns the value of the `owner` column for a claim of this process.
    pub(crate) fn owner_of(&self, claim: ClaimId) -> &str {
        if claim.is_driven_above() {
            ABOVE
        } else {
            &self.name
        }
    }

    fn set(&self) -> MutexGuard<'_, HashSet<ClaimId>> {
        self.given_up.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Marks a claim as released before the table shows the release, so that this process may claim
    /// the run again.
    pub(crate) fn mark_released(&self, claim: ClaimId) {
        self.set().insert(claim);
    }

    /// Removes the mark of a claim whose release is written.
    pub(crate) fn unmark_released(&self, claim: ClaimId) {
        self.set().remove(&claim);
    }

    /// Returns the released claims that the table may still show. Call it before reading the table:
    /// a claim that has left the set is released in the table by then.
    pub(crate) fn released_claims(&self) -> HashSet<ClaimId> {
        self.set().clone()
    }

    /// Reports whether a claim with this owner in the table is still held.
    pub(crate) fn drives(&self, claim: ClaimId, owner: &str, given_up: &HashSet<ClaimId>) -> bool {
        if owner == self.name {
            !given_up.contains(&claim)
        } else {
            self.lives(owner)
        }
    }

    /// Removes the lock files of ended processes. Files that runs still name (`named`) are kept;
    /// [`lives`](Self::lives) removes them one by one. A file that cannot be removed stays, which
    /// is harmless.
    pub(crate) fn sweep(&self, named: &[String]) {
        let (Some(folder), Some(file)) = (self.path.parent(), self.database.file_name()) else {
            return;
        };
        let folder = if folder.as_os_str().is_empty() {
            Path::new(".")
        } else {
            folder
        };
        let Ok(entries) = folder.read_dir() else {
            return;
        };
        let prefix = format!("{}-owner-", file.to_string_lossy());
        for entry in entries.flatten() {
            let name = entry.file_name();
            let owner = name.to_str().and_then(|name| name.strip_prefix(&prefix));
            if let Some(owner) =
                owner.filter(|owner| *owner != self.name && !named.iter().any(|name| name == owner))
            {
                self.lives(owner);
            }
        }
    }

    /// Reports whether another process lives. Removes the file of an ended process.
    pub(crate) fn lives(&self, other: &str) -> bool {
        if other == ABOVE {
            return true;
        }
        let path = lock_path(&self.database, other);
        let Ok(file) = OpenOptions::new().write(true).open(&path) else {
            return path.exists();
        };
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
