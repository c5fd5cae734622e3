//! What the compiler says about bad workflows: `CHECK.rs` and `CHECK-*.rs` in this folder, with the exact text of the
//! pinned toolchain. `CHECK-modules.rs` has its agents in other modules, `CHECK-crates.rs` in the crate `agents`.
//!
//! After a change of a message: `TRYBUILD=overwrite cargo test -p ui`, then read the difference. One case alone:
//! `cargo test -p ui --test ui cases -- trybuild=key-missing`.

mod coverage;
mod pages;
mod reached;
mod twins;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

#[test]
fn cases() {
    // No `pass` here: with one, trybuild builds and runs case after case instead of checking all of them at once.
    trybuild::TestCases::new().compile_fail("*.rs");
}

/// A folder, seen from this package.
fn folder(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The texts in a folder that end so, by name without the ending.
fn files(folder: &Path, ending: &str) -> BTreeMap<String, String> {
    let paths = folder.read_dir().expect("a folder").map(|entry| entry.expect("an entry").path());
    let paths = paths.filter(|path| path.extension().is_some_and(|found| found == ending));
    paths
        .map(|path| (path.file_stem().unwrap_or_default().to_string_lossy().into_owned(), read(&path)))
        .collect()
}

/// Whether messages and pages are written anew instead of compared.
fn overwrite() -> bool {
    std::env::var_os("TRYBUILD").is_some_and(|value| value == "overwrite")
}
