//! The promises of every store, for the stores in memory and for artifacts in a folder.

use adk_build::engine::Engine;
use adk_build::memory::MemoryService;
use adk_build::session::SessionStore;
use adk_build::{ArtifactStore, FolderArtifacts, InMemoryStore, Store};
use adk_store_kit::Place;
use adk_store_kit::victim::Scratch;
use std::sync::Arc;

mod in_memory {
    use crate::memory_place::Memory;

    // The file `values.rs` has the suite `values`.
    adk_store_kit::promises! {
        Memory: sessions, artifacts, memory, limits, runs, updates, lists, cancel, retries, keys,
        queue, people, questions, tenants, changes
    }
}

mod in_a_folder {
    use super::*;

    adk_store_kit::promises!(Folder: artifacts);
}

/// The store in memory, with artifacts in a folder.
struct Folder(Scratch, InMemoryStore);

impl Place for Folder {
    type Store = FilesStore;

    async fn new() -> Self {
        Self(Scratch::new(), InMemoryStore::new())
    }

    async fn open(&self) -> FilesStore {
        let artifacts = FolderArtifacts::open(self.0.path()).unwrap();
        FilesStore(self.1.clone(), Arc::new(artifacts))
    }
}

struct FilesStore(InMemoryStore, Arc<FolderArtifacts>);

impl Store for FilesStore {
    fn session_store(&self) -> Arc<dyn SessionStore> {
        self.0.session_store()
    }
    fn engine(&self) -> Arc<dyn Engine> {
        self.0.engine()
    }
    fn artifact_store(&self) -> Option<Arc<dyn ArtifactStore>> {
        Some(self.1.clone())
    }
    fn memory_service(&self) -> Option<Arc<dyn MemoryService>> {
        self.0.memory_service()
    }
}
