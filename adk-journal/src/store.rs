//! [`Store`]: one value that keeps all data of a runner.

use crate::engine::{Engine, MemoryJournal};
use crate::memory::{InMemoryMemoryService, MemoryService};
use crate::session::{MemoryStore, SessionStore};
use crate::{ArtifactStore, MemoryArtifacts};
use std::sync::Arc;

/// Keeps all data of a runner: sessions, runs with their waits, artifacts and memory.
///
/// A program passes it to `RunnerBuilder::store`. SQLite and Postgres are stores. Restate wraps a
/// store: it has the parts of that store and its own engine. [`InMemoryStore`] is the store for
/// tests.
///
/// All methods are required, so that a store cannot omit a part by oversight. All parts of a store
/// are parts of the same data: its sessions and its engine have one
/// [`Location`](crate::session::Location).
pub trait Store: Send + Sync + 'static {
    /// Returns the sessions.
    fn session_store(&self) -> Arc<dyn SessionStore>;

    /// Returns the engine of runs, which also keeps their waits.
    fn engine(&self) -> Arc<dyn Engine>;

    /// Returns the artifacts. `None` if the store keeps no artifacts;
    /// `RunnerBuilder::artifact_store` then adds them.
    fn artifact_store(&self) -> Option<Arc<dyn ArtifactStore>>;

    /// Returns the memory across sessions. `None` if the store keeps no memory;
    /// `RunnerBuilder::memory_service` then adds it.
    fn memory_service(&self) -> Option<Arc<dyn MemoryService>>;
}

/// Store in memory: sessions, runs, artifacts and memory exist as long as the process. Clones share
/// all data, so a run that began on one runner continues on another.
///
/// ```
/// # use adk_build as adk;
/// use adk::{InMemoryStore, Runner};
/// # fn main() -> adk::Result<()> {
/// let store = InMemoryStore::new();
/// let runner: Runner = Runner::builder().store(store.clone()).build()?;
/// let after_a_restart: Runner = Runner::builder().store(store).build()?;
/// # Ok(()) }
/// ```
#[derive(Clone, Debug, Default)]
pub struct InMemoryStore {
    sessions: Arc<MemoryStore>,
    journal: MemoryJournal,
    artifacts: Arc<MemoryArtifacts>,
    memory: Arc<InMemoryMemoryService>,
}

impl InMemoryStore {
    /// Creates an empty store.
    pub fn new() -> Self {
        Self::default()
    }
}

impl Store for InMemoryStore {
    fn session_store(&self) -> Arc<dyn SessionStore> {
        self.sessions.clone()
    }

    fn engine(&self) -> Arc<dyn Engine> {
        Arc::new(self.journal.clone())
    }

    fn artifact_store(&self) -> Option<Arc<dyn ArtifactStore>> {
        Some(self.artifacts.clone())
    }

    fn memory_service(&self) -> Option<Arc<dyn MemoryService>> {
        Some(self.memory.clone())
    }
}
