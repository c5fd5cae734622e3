//! [`Store`]: one value that keeps all data of a runner.

use crate::runtime::run::memory::{InMemoryMemoryService, MemoryService};
use crate::runtime::run::{ArtifactStore, MemoryArtifacts};
#[cfg(doc)]
use crate::runtime::runner::RunnerBuilder;
use crate::store::engine::{Engine, MemoryJournal};
use crate::store::session::{MemoryStore, SessionStore};
use std::sync::Arc;

/// Keeps all data of a runner: sessions, runs with their waits, artifacts and memory.
///
/// A program passes it to [`RunnerBuilder::store`]. SQLite and Postgres are stores. Restate is one above a store: it has the
/// parts of that store, and another engine. [`InMemoryStore`] is the store of tests.
///
/// All methods are required, so that a store cannot lack a part by oversight. All parts of a store are parts of the same
/// data: its sessions and its engine have one [`Location`](crate::session::Location).
pub trait Store: Send + Sync + 'static {
    /// The sessions.
    fn session_store(&self) -> Arc<dyn SessionStore>;

    /// The engine of runs, which keeps their waits as well.
    fn engine(&self) -> Arc<dyn Engine>;

    /// The artifacts. `None` if the store keeps none: then [`RunnerBuilder::artifact_store`] adds them.
    fn artifact_store(&self) -> Option<Arc<dyn ArtifactStore>>;

    /// The memory across sessions. `None` if the store keeps none: then [`RunnerBuilder::memory_service`] adds it.
    fn memory_service(&self) -> Option<Arc<dyn MemoryService>>;
}

/// A store in memory: sessions, runs, artifacts and memory last as long as the process. Clones share everything, so a run
/// that one runner has begun continues on another.
///
/// ```
/// # use adk_core as adk;
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
    /// An empty store.
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
