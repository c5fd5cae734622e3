//! A store in a folder: sessions, runs and memory in one log of JSON lines, artifacts in files.
//!
//! It is as simple as a store may be that keeps all promises of `adk-store-kit`:
//!
//! - `log.jsonl` has one line for each transaction, a list of changes. A transaction is durable
//!   when its line is on disk. A process that is killed leaves at most a part of a line, which the
//!   next writer cuts off.
//! - `lock` is locked while a process decides and writes, so there is one writer at a time.
//! - Each process has the result of all lines in memory: a `MemoryStore`, `Runs` and an
//!   `InMemoryMemoryService`. It applies the new lines before it reads or decides. `RunTable` makes
//!   the decisions about runs, as for the journal in memory.
//! - `owner-*` is locked as long as the process lives that drives runs. Another process may claim
//!   the runs of a dead one.
//!
//! The store writes on the thread of its caller, and its log only grows. A store for many users
//! does neither: see `adk-sqlite`.

mod data;
mod disk;
mod engine;
mod sessions;

use adk_journal::engine::{ClaimId, Engine};
use adk_journal::memory::MemoryService;
use adk_journal::session::{Location, SessionStore};
use adk_journal::{ArtifactStore, FolderArtifacts, Store};
use adk_model::Result;
use data::{Change, Data};
use disk::{Disk, disk_error, open_file};
use std::collections::HashSet;
use std::fs::File;
use std::hash::{BuildHasher, RandomState};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A store in a folder. Clones share it.
#[derive(Clone)]
#[allow(missing_debug_implementations, reason = "an example")]
pub struct JsonStore(Arc<Inner>);

struct Inner {
    folder: PathBuf,
    disk: Mutex<Disk>,
    /// The name of the file that this process holds locked.
    owner: String,
    _owner_lock: File,
    /// Claims that this process has released, and whose release may not be in the log yet.
    released: Mutex<HashSet<ClaimId>>,
    artifacts: FolderArtifacts,
}

impl JsonStore {
    /// Opens the store in a folder, or creates it.
    ///
    /// # Errors
    /// When the folder is not writable.
    pub fn open(folder: impl AsRef<Path>) -> Result<Self> {
        let folder = folder.as_ref();
        let artifacts = FolderArtifacts::open(folder.join("artifacts"))?;
        let random = RandomState::new().hash_one(std::process::id());
        let owner = format!("owner-{}-{random:016x}", std::process::id());
        let owner_lock = open_file(folder.join(&owner))?;
        owner_lock.lock().map_err(disk_error)?;
        Ok(Self(Arc::new(Inner {
            folder: folder.to_owned(),
            disk: Mutex::new(Disk::open(folder)?),
            owner,
            _owner_lock: owner_lock,
            released: Mutex::default(),
            artifacts,
        })))
    }

    fn database(&self) -> Location {
        Location::database(self.0.folder.display().to_string())
    }

    /// Returns a value of the current data.
    fn look<T>(&self, look: impl FnOnce(&Data) -> Result<T>) -> Result<T> {
        let mut disk = lock(&self.0.disk);
        disk.catch_up()?;
        look(&disk.data)
    }

    /// Decides on changes of the current data, and writes them as one transaction.
    fn change<T>(&self, decide: impl FnOnce(&Data, &mut Vec<Change>) -> Result<T>) -> Result<T> {
        lock(&self.0.disk).transaction(None, decide)
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(self.folder.join(&self.owner));
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Store for JsonStore {
    fn session_store(&self) -> Arc<dyn SessionStore> {
        Arc::new(self.clone())
    }
    fn engine(&self) -> Arc<dyn Engine> {
        Arc::new(self.clone())
    }
    fn artifact_store(&self) -> Option<Arc<dyn ArtifactStore>> {
        Some(Arc::new(self.0.artifacts.clone()))
    }
    fn memory_service(&self) -> Option<Arc<dyn MemoryService>> {
        Some(Arc::new(self.clone()))
    }
}
