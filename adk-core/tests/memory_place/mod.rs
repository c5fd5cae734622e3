//! [`Memory`]: the store in memory as a place. All its processes share one value.

use adk_build::InMemoryStore;
use adk_store_kit::Place;

pub struct Memory(InMemoryStore);

impl Place for Memory {
    type Store = InMemoryStore;

    async fn new() -> Self {
        Self(InMemoryStore::new())
    }

    async fn open(&self) -> InMemoryStore {
        self.0.clone()
    }
}
