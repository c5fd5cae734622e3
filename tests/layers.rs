//! Dependencies run one way (ARCHITECTURE.md): between the crates of the workspace, and between the
//! files of each crate. The crates with rooms have a test of their own, `layers.rs`.

#[path = "../adk-core/tests/support/rooms.rs"]
mod rooms;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// The crates from the bottom up. A crate depends only on crates of earlier lines. `adk` is the
/// facade.
const CRATES: &[&[&str]] = &[
    &["adk-spec"],
    &["adk-macros", "adk-model"],
    &["adk-journal"],
    &["adk-core", "adk-store", "adk-genai"],
    &[
        "adk-build",
        "adk-testing",
        "adk-sqlite",
        "adk-postgres",
        "adk-mcp",
        "adk-otel",
        "adk-a2a",
        "adk-restate",
    ],
    &["adk-eval", "adk-server", "adk-store-kit"],
    &["adk-web", "adk-ag-ui"],
    &["adk"],
    &["adk-cli"],
];

/// The largest number of files that may import each other in a circle.
const CIRCLE: usize = 3;

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// Returns the crates of the workspace that have sources, with their folders.
fn crates() -> BTreeMap<String, PathBuf> {
    let mut crates = BTreeMap::from([("adk".to_owned(), root())]);
    for entry in fs::read_dir(root()).expect("the workspace folder is readable") {
        let path = entry.expect("the entry is readable").path();
        let name = path
            .file_name()
            .expect("a name")
            .to_string_lossy()
            .into_owned();
        if name.starts_with("adk-") && path.join("src").is_dir() {
            crates.insert(name, path);
        }
    }
    crates
}

/// Returns the crates of the workspace that a manifest lists as dependencies, without those of its
/// tests.
fn dependencies(folder: &Path) -> BTreeSet<String> {
    let manifest = fs::read_to_string(folder.join("Cargo.toml")).expect("a manifest");
    let (_, section) = manifest
        .split_once("\n[dependencies]\n")
        .unwrap_or_default();
    let section = section.split("\n[").next().unwrap_or_default();
    let names = section
        .lines()
        .filter_map(|line| line.split(['.', ' ', '=']).next());
    let own = names.filter(|name| name.starts_with("adk-"));
    own.map(|name| if name == "adk-workflow" { "adk" } else { name }.to_owned())
        .collect()
}

#[test]
fn crates_depend_only_on_crates_below_them() {
    let layer = |name: &str| {
        let found = CRATES.iter().position(|layer| layer.contains(&name));
        found.unwrap_or_else(|| panic!("crate `{name}` has no place in `CRATES`: give it one"))
    };
    let mut count = 0;
    for (name, folder) in crates() {
        for used in dependencies(&folder) {
            count += 1;
            assert!(
                layer(&used) < layer(&name),
                "`{name}` depends on `{used}`, which is not below it"
            );
        }
    }
    assert!(
        count > 30,
        "only {count} dependencies were found: does this test still read them?"
    );
}

/// Returns the files of each crate that one file uses. A file may use the files in its own folder.
fn files(folder: &Path) -> BTreeMap<String, BTreeSet<String>> {
    let source = folder.join("src");
    let file = |path: &[String]| {
        let lengths = (1..=path.len()).rev();
        let found = lengths.map(|length| path[..length].join("/")).find(|path| {
            source.join(format!("{path}.rs")).is_file()
                || source.join(path).join("mod.rs").is_file()
        });
        found.unwrap_or_default()
    };
    let mut graph: BTreeMap<_, BTreeSet<_>> = BTreeMap::new();
    for (own, used) in rooms::arrows(&source, file).into_keys() {
        if !used.is_empty() && !used.starts_with(&format!("{own}/")) {
            graph.entry(own).or_default().insert(used);
        }
    }
    graph
}

/// Returns all files that a file reaches over the files that it uses.
fn reach<'a>(graph: &'a BTreeMap<String, BTreeSet<String>>, from: &'a str) -> BTreeSet<&'a str> {
    let (mut reached, mut open) = (BTreeSet::new(), vec![from]);
    while let Some(next) = open.pop() {
        for used in graph.get(next).into_iter().flatten() {
            if reached.insert(&**used) {
                open.push(used);
            }
        }
    }
    reached
}

#[test]
fn files_form_no_large_circles() {
    let mut count = 0;
    for (name, folder) in crates() {
        let graph = files(&folder);
        count += graph.values().map(BTreeSet::len).sum::<usize>();
        let reached: BTreeMap<_, _> = graph
            .keys()
            .map(|file| (&**file, reach(&graph, file)))
            .collect();
        for (file, below) in &reached {
            let circle: Vec<_> = below
                .iter()
                .filter(|other| reached.get(*other).is_some_and(|back| back.contains(file)))
                .collect();
            assert!(
                circle.len() <= CIRCLE,
                "a circle of files in `{name}`: {circle:#?}"
            );
        }
    }
    assert!(
        count > 500,
        "only {count} uses were found: does this test still read the sources?"
    );
}
