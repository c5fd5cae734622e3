//! A temporary folder for one test.
#![allow(
    dead_code,
    clippy::unwrap_used,
    reason = "each test file uses a part, and fails by it"
)]

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

/// A folder that is removed on drop, unless it belongs to another process.
pub struct Folder {
    path: PathBuf,
    is_own: bool,
}

impl Folder {
    pub fn new() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let name = format!(
            "adk-sqlite-{}-{}",
            std::process::id(),
            NEXT.fetch_add(1, Relaxed)
        );
        let path = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&path).unwrap();
        Self { path, is_own: true }
    }

    pub fn of_another_process(path: PathBuf) -> Self {
        Self {
            path,
            is_own: false,
        }
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    pub fn file(&self) -> PathBuf {
        self.path.join("agents.db")
    }

    /// Returns the sorted names of the files in the folder.
    pub fn names(&self) -> Vec<String> {
        let all = std::fs::read_dir(&self.path).unwrap();
        let mut all: Vec<_> = all
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        all.sort();
        all
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        if self.is_own {
            let _ = std::fs::remove_dir_all(&self.path);
        }
    }
}
