//! The public API of each crate is the one in `tests/api/CRATE.txt`.
//!
//! After a change that is meant: `API=overwrite cargo test -p api -- --ignored`, then read the difference as a user of the last release
//! would.

use public_api::Builder;
use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;
use std::{env, fs};

/// Package and library of each crate that is published; the macros have no Rust API.
const CRATES: &[(&str, &str)] = &[
    ("adk-workflow", "adk"),
    ("adk-workflow-a2a", "adk_a2a"),
    ("adk-workflow-core", "adk_core"),
    ("adk-workflow-genai", "adk_genai"),
    ("adk-workflow-mcp", "adk_mcp"),
    ("adk-workflow-postgres", "adk_postgres"),
    ("adk-workflow-otel", "adk_otel"),
    ("adk-workflow-restate", "adk_restate"),
    ("adk-workflow-server", "adk_server"),
    ("adk-workflow-spec", "adk_spec"),
    ("adk-workflow-sqlite", "adk_sqlite"),
];

#[test]
#[ignore = "it checks and documents all crates anew, which takes minutes; `.ci/run` includes it"]
fn the_public_api_is_the_listed_one() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    // A folder of its own: with `RUSTC_BOOTSTRAP` dependencies are built anew, and after it once more without.
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join("api");
    let mut cargo = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.current_dir(&root).args(["doc", "--quiet", "--no-deps", "--all-features", "--offline"]);
    cargo.args(CRATES.iter().flat_map(|(package, _)| ["--package", package]));
    // The JSON of rustdoc is unstable, so its reader has to fit the pinned compiler.
    cargo.env("RUSTC_BOOTSTRAP", "1").env("RUSTDOCFLAGS", "-Z unstable-options --output-format json");
    assert!(cargo.env("CARGO_TARGET_DIR", &target).status().expect("cargo").success());
    let mut wrong = String::new();
    for (_, library) in CRATES {
        let json = target.join("doc").join(library).with_extension("json");
        let api = Builder::from_rustdoc_json(&json).omit_blanket_impls(true).omit_auto_trait_impls(true);
        let api =
            api.omit_auto_derived_impls(true).build().unwrap_or_else(|error| panic!("{library}: {error}"));
        let listing = Path::new(env!("CARGO_MANIFEST_DIR")).join(library).with_extension("txt");
        let (old, new) = (fs::read_to_string(&listing).unwrap_or_default(), api.to_string());
        if env::var_os("API").is_some_and(|value| value == "overwrite") {
            fs::write(&listing, new).expect("a listing");
        } else {
            let (old, new): (BTreeSet<_>, BTreeSet<_>) = (old.lines().collect(), new.lines().collect());
            wrong.extend(old.difference(&new).map(|line| format!("- {line}\n")));
            wrong.extend(new.difference(&old).map(|line| format!("+ {line}\n")));
        }
    }
    assert!(wrong.is_empty(), "the public API changed:\n{wrong}");
}
