//! What the compiler says about bad workflows: `CHECK.rs` and `CHECK-*.rs` in this folder, with a snapshot of the messages
//! in `*.stderr`. `CHECK-modules.rs` has its agents in other modules, `CHECK-crates.rs` in the crate `agents`.
//!
//! After a change of a message: `UI=overwrite cargo test -p ui`, then read the difference. Some cases alone:
//! `CASES=key-missing cargo test -p ui cases`.

mod compile;
mod coverage;
mod pages;
mod reached;
mod twins;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

#[test]
fn cases() {
    let wanted = std::env::var("CASES").unwrap_or_default();
    let programs: Vec<_> =
        files(&folder("."), "rs").into_keys().filter(|case| case.contains(&wanted)).collect();
    let programs: Vec<_> =
        programs.into_iter().map(|case| (case.clone(), folder(&format!("{case}.rs")))).collect();
    let mut wrong = String::new();
    let said = compile::programs("cases", &programs);
    for (case, messages) in &said {
        compare(&folder(case).with_extension("stderr"), &compile::snapshot(messages), &mut wrong);
    }
    assert!(wrong.is_empty(), "{wrong}");
    if wanted.is_empty() {
        say_what_to_write(&said);
    }
}

/// The mistakes of new users, one in each `newcomer-*.rs`: the first error of 19 in 20 names the remedy beside the fact.
fn say_what_to_write(said: &BTreeMap<String, Vec<compile::Message>>) {
    let mistakes = said.iter().filter(|(case, _)| case.starts_with("newcomer-"));
    let (good, bad): (Vec<_>, Vec<_>) = mistakes
        .partition(|(_, messages)| messages.first().is_some_and(|first| first.rendered.contains("help: ")));
    let bad: Vec<_> = bad.into_iter().map(|(case, _)| case).collect();
    assert!(good.len() >= 38 && bad.len() * 20 <= good.len() + bad.len(), "without a remedy: {bad:?}");
}

/// Adds to `wrong` what differs from the snapshot, or writes the snapshot anew.
fn compare(snapshot: &Path, said: &str, wrong: &mut String) {
    let expected = fs::read_to_string(snapshot).unwrap_or_default();
    if overwrite() {
        fs::write(snapshot, said).unwrap_or_else(|error| panic!("{}: {error}", snapshot.display()));
    } else if expected != said {
        *wrong += &format!("\n{}\nexpected:\n{expected}\nfound:\n{said}", snapshot.display());
    }
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
    std::env::var_os("UI").is_some_and(|value| value == "overwrite")
}
