//! Folders and texts of the tests.

use adk::testing::{Golden, RunMode, golden};
use std::fs;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A folder for the files of one test. It is removed at the end.
pub struct Folder(pub PathBuf);

impl Folder {
    pub fn new() -> Self {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("adk-golden-{}-{number}", std::process::id());
        let path = std::env::temp_dir().join(name);
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    /// A test with files in this folder, outside of CI.
    pub fn golden(&self, mode: RunMode) -> Golden {
        golden("run").folder(&self.0).in_ci(false).mode(mode)
    }

    pub fn read(&self, ending: &str) -> String {
        let path = self.0.join(format!("run.{ending}"));
        fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    }

    pub fn write(&self, ending: &str, text: &str) {
        fs::write(self.0.join(format!("run.{ending}")), text).unwrap();
    }

    /// The names of the files, sorted.
    pub fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(&self.0).unwrap();
        let mut names: Vec<_> = entries
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}
