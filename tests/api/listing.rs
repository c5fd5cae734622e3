//! The public API of each crate matches `tests/api/CRATE.txt`.
//!
//! After an intended change: `API=overwrite cargo test -p api -- --ignored`, then read the
//! difference as a user of the last release would.

use public_api::Builder;
use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;
use std::{env, fs};

/// The library of each published crate. The macros have no Rust API.
const LIBRARIES: &[&str] = &[
    "adk",
    "adk_a2a",
    "adk_ag_ui",
    "adk_build",
    "adk_core",
    "adk_eval",
    "adk_genai",
    "adk_journal",
    "adk_mcp",
    "adk_model",
    "adk_postgres",
    "adk_otel",
    "adk_restate",
    "adk_server",
    "adk_spec",
    "adk_sqlite",
    "adk_store",
    "adk_store_kit",
    "adk_testing",
    "adk_web",
];

#[test]
#[ignore = "it checks and documents all crates, which may take minutes; `.ci/run` includes it"]
fn the_public_api_matches_its_listing() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let target = Path::new(env!("CARGO_TARGET_TMPDIR"))
        .parent()
        .expect("the folder of all targets");
    let mut cargo = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    // The flags are those of CI, so that Cargo checks the dependencies only once.
    let words = "doc --quiet --workspace --no-deps --all-features --offline";
    cargo.current_dir(&root).args(words.split(' '));
    // The JSON of rustdoc is unstable, so its parser must fit the pinned compiler.
    cargo.env("RUSTDOC", root.join("tests/api/rustdoc.sh"));
    cargo.env("RUSTDOCFLAGS", "-Z unstable-options --output-format json");
    assert!(
        cargo
            .env("CARGO_TARGET_DIR", target)
            .status()
            .expect("cargo")
            .success()
    );
    let mut wrong = String::new();
    for library in LIBRARIES {
        let json = target.join("doc").join(library).with_extension("json");
        let api = Builder::from_rustdoc_json(&json)
            .omit_blanket_impls(true)
            .omit_auto_trait_impls(true);
        let api = api
            .omit_auto_derived_impls(true)
            .build()
            .unwrap_or_else(|error| panic!("{library}: {error}"));
        let listing = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join(library)
            .with_extension("txt");
        let (old, new) = (
            fs::read_to_string(&listing).unwrap_or_default(),
            api.to_string(),
        );
        if env::var_os("API").is_some_and(|value| value == "overwrite") {
            fs::write(&listing, new).expect("a listing");
        } else {
            let (old, new): (BTreeSet<_>, BTreeSet<_>) =
                (old.lines().collect(), new.lines().collect());
            wrong.extend(old.difference(&new).map(|line| format!("- {line}\n")));
            wrong.extend(new.difference(&old).map(|line| format!("+ {line}\n")));
        }
    }
    assert!(wrong.is_empty(), "the public API changed:\n{wrong}");
}
