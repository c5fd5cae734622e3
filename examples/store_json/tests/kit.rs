//! The promises of every store, for [`JsonStore`].

use adk_store_kit::Place;
use std::path::PathBuf;
use store_json::JsonStore;

/// A folder that is removed at the end, unless it belongs to another process.
struct Folder {
    path: PathBuf,
    is_own: bool,
}

impl Place for Folder {
    type Store = JsonStore;

    async fn new() -> Self {
        use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let name = format!(
            "store-json-{}-{}",
            std::process::id(),
            NEXT.fetch_add(1, Relaxed)
        );
        Self {
            path: std::env::temp_dir().join(name),
            is_own: true,
        }
    }

    async fn open(&self) -> JsonStore {
        JsonStore::open(&self.path).expect("the folder is writable")
    }

    fn address(&self) -> String {
        self.path.display().to_string()
    }

    fn at(address: &str) -> Self {
        Self {
            path: address.into(),
            is_own: false,
        }
    }

    async fn has_event(&self, id: &str) -> Option<bool> {
        let log = std::fs::read_to_string(self.path.join("log.jsonl"));
        Some(log.is_ok_and(|log| log.contains(id)))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        if self.is_own {
            let _ = std::fs::remove_dir_all(&self.path);
        }
    }
}

adk_store_kit::promises!(Folder);
