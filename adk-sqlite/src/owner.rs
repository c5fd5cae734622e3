//! Who drives a run: a process that lives. It holds the lock of a file, and the system takes it away with the process.

use crate::error::kind_of_io;
use adk_core::engine::ClaimId;
use adk_core::{Error, ErrorKind, Result};
use std::collections::HashSet;
use std::fs::{File, OpenOptions};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The owner of runs that an engine above the store drives. It is no process, and lives as long as its run.
pub(crate) const ABOVE: &str = "@";

/// The lock of this store, held for as long as it lives.
#[derive(Debug)]
pub(crate) struct Owner {
    pub(crate) name: String,
    path: PathBuf,
    database: PathBuf,
    _lock: File,
    /// Claims that this process has given back, where that is not written down yet, or could not be.
    given_up: Mutex<HashSet<ClaimId>>,
}

fn beside(database: &Path, name: &str) -> PathBuf {
    let mut path = database.as_os_str().to_owned();
    path.push(format!("-owner-{name}"));
    path.into()
}

/// Makes a file of that name, which nobody else makes, and locks it.
fn held(path: &Path) -> std::io::Result<File> {
    loop {
        let file = OpenOptions::new().create_new(true).write(true).open(path)?;
        file.lock()?;
        // Whoever sweeps may have found it before it was locked.
        if path.exists() {
            return Ok(file);
        }
    }
}

impl Owner {
    /// The path is that of a [`DatabaseFile`](crate::file::DatabaseFile), so that all find the lock beside it.
    pub(crate) fn new(database: &Path) -> Result<Self> {
        // Of this process and this moment, and random.
        let random = std::hash::BuildHasher::hash_one(&std::hash::RandomState::new(), std::process::id());
        let name = format!("{}-{random:016x}", std::process::id());
        let path = beside(database, &name);
        match held(&path) {
            Ok(lock) => {
                let database = database.to_owned();
                Ok(Self { name, path, database, _lock: lock, given_up: Mutex::default() })
            }
            Err(error) => {
                let message = format!("cannot make `{}`: {error}", path.display());
                Err(Error::new(ErrorKind::Store(kind_of_io(&error)), message)
                    .with_help("the folder of the database has to be writable"))
            }
        }
    }

    /// The owner that the table has for a claim of this process.
    pub(crate) fn of(&self, claim: ClaimId) -> &str {
        if claim.is_driven_above() { ABOVE } else { &self.name }
    }

    fn set(&self) -> MutexGuard<'_, HashSet<ClaimId>> {
        self.given_up.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A claim was given back, whatever the table says: its run may be claimed again.
    pub(crate) fn gave_up(&self, claim: ClaimId) {
        self.set().insert(claim);
    }

    /// The table says so as well.
    pub(crate) fn is_written(&self, claim: ClaimId) {
        self.set().remove(&claim);
    }

    /// The claims that the table may still show, and that were given back. They are asked for before the table is read:
    /// what is not among them any more is in the table by then.
    pub(crate) fn given_up(&self) -> HashSet<ClaimId> {
        self.set().clone()
    }

    /// Whether a claim is held that has that owner in the table.
    pub(crate) fn drives(&self, claim: ClaimId, owner: &str, given_up: &HashSet<ClaimId>) -> bool {
        if owner == self.name { !given_up.contains(&claim) } else { self.lives(owner) }
    }

    /// Removes the files of processes that have ended, but for those that are `named` by runs: they are asked about one by
    /// one. What cannot be removed stays, and hurts nobody.
    pub(crate) fn sweep(&self, named: &HashSet<String>) {
        let (Some(folder), Some(file)) = (self.path.parent(), self.database.file_name()) else { return };
        let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
        let Ok(entries) = folder.read_dir() else { return };
        let prefix = format!("{}-owner-", file.to_string_lossy());
        for entry in entries.flatten() {
            let name = entry.file_name();
            let owner = name.to_str().and_then(|name| name.strip_prefix(&prefix));
            if let Some(owner) = owner.filter(|owner| *owner != self.name && !named.contains(*owner)) {
                self.lives(owner);
            }
        }
    }

    /// Whether another process lives. The file of one that does not is removed.
    pub(crate) fn lives(&self, other: &str) -> bool {
        if other == ABOVE {
            return true;
        }
        let path = beside(&self.database, other);
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
