//! Dependencies between the rooms of the crate run one way (ARCHITECTURE.md): a room uses only
//! rooms below it.
//!
//! A room is a folder of `src/runtime`, `src/agents` and so on, or a file beside such folders.
//! Re-exports of `lib.rs` count for the room that defines the item.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs;
use std::path::{Path, PathBuf};

/// Rooms from the bottom up. Rooms of one line do not use each other.
const LAYERS: &[&[&str]] = &[
    &[GROUND],
    &["models/limit"],
    &["models/model"],
    &["models/rehearsal", "models/testing"],
    &["store/event"],
    &["store/outbox", "store/session"],
    &["store/engine"],
    &["runtime/live", "runtime/resources"],
    &["runtime/run"],
    &["runtime/callback"],
    &["runtime/agent"],
    &["runtime/tool"],
    &["runtime/workflow"],
    &["runtime/runner"],
    &["agents/description", "agents/tools"],
    &["agents/llm"],
    &["agents/agent_tool", "agents/ask"],
    &["builders/build"],
    &["builders/fluent"],
    &["__private"],
];

/// The files of the root, and the folders that belong to one of them. They may use each other.
const GROUND: &str = "the ground";

/// Folders that contain rooms.
const FLOORS: [&str; 5] = ["models", "store", "runtime", "agents", "builders"];

/// Returns the room of a module.
fn room(module: &[String]) -> String {
    match module {
        [first, second, ..] if FLOORS.contains(&first.as_str()) => format!("{first}/{second}"),
        [first, ..] if first == "__private" || FLOORS.contains(&first.as_str()) => first.clone(),
        _ => GROUND.to_owned(),
    }
}

/// Returns the index of a room in [`LAYERS`].
fn layer(room: &str) -> usize {
    let found = LAYERS.iter().position(|layer| layer.contains(&room));
    found.unwrap_or_else(|| panic!("room `{room}` has no place in the layers: give it one"))
}

fn sources(folder: &Path, into: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("the sources") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            sources(&path, into);
        } else {
            into.push(path);
        }
    }
}

/// Returns the code of a file, without its comments and its tests.
fn code(file: &Path) -> String {
    let text = fs::read_to_string(file).expect("a source");
    let text = text.split("#[cfg(test)]").next().unwrap_or_default();
    let lines = text
        .lines()
        .filter(|line| !line.trim_start().starts_with("//"));
    lines.collect::<Vec<_>>().join("\n")
}

/// Adds the paths of a use tree such as `run::{Context, Run}`, with the path before it.
fn expand(tree: &str, before: &[String], into: &mut Vec<Vec<String>>) {
    let tree = tree.trim();
    let is_ident = |c: char| c.is_alphanumeric() || c == '_';
    if let Some(list) = tree.strip_prefix('{') {
        let (mut depth, mut start) = (0, 0);
        for (at, c) in list.char_indices() {
            match c {
                '{' => depth += 1,
                '}' | ',' if depth == 0 => {
                    expand(&list[start..at], before, into);
                    start = at + 1;
                    if c == '}' {
                        return;
                    }
                }
                '}' => depth -= 1,
                _ => {}
            }
        }
        panic!("the list of imports is not closed: {tree}");
    }
    let end = tree.find(|c| !is_ident(c)).unwrap_or(tree.len());
    let (name, rest) = tree.split_at(end);
    let path = [before, &[name.to_owned()]].concat();
    match rest.strip_prefix("::") {
        Some(rest) if rest.starts_with(|c| is_ident(c) || c == '{') => expand(rest, &path, into),
        _ if name.is_empty() => {}
        _ => into.push(path),
    }
}

/// Returns the paths into this crate that a file of a module mentions, from the root.
fn paths(code: &str, module: &[String]) -> Vec<Vec<String>> {
    let mut all = Vec::new();
    for (at, word) in code.match_indices("crate::") {
        expand(&code[at + word.len()..], &[], &mut all);
    }
    for (at, word) in code.match_indices("super::") {
        if code[..at].ends_with("super::") {
            continue;
        }
        let (mut above, mut rest) = (module, &code[at..]);
        while let (Some(next), [outer @ .., _]) = (rest.strip_prefix(word), above) {
            (above, rest) = (outer, next);
        }
        expand(rest, above, &mut all);
    }
    all
}

/// Returns the module of each name that `lib.rs` exports.
fn exports(root: &Path) -> HashMap<String, Vec<String>> {
    let lib = code(&root.join("lib.rs"));
    let mut all = Vec::new();
    for export in lib.split("pub use ").skip(1) {
        expand(export, &[], &mut all);
    }
    all.into_iter()
        .map(|path| (path.last().expect("a name").clone(), path))
        .collect()
}

/// Returns all dependencies between rooms, each with the files that contain it.
fn arrows() -> BTreeMap<(String, String), BTreeSet<String>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let exports = exports(&root);
    let mut files = Vec::new();
    sources(&root, &mut files);
    let mut arrows: BTreeMap<_, BTreeSet<_>> = BTreeMap::new();
    for file in files {
        let inside = file
            .strip_prefix(&root)
            .expect("below the sources")
            .with_extension("");
        let module: Vec<_> = inside
            .iter()
            .map(|part| part.to_str().expect("a name").to_owned())
            .collect();
        if module == ["lib"] || module.ends_with(&["tests".to_owned()]) {
            continue;
        }
        let own = room(&module);
        for path in paths(&code(&file), &module) {
            let path = match exports.get(&path[0]) {
                Some(home) => [home, &path[1..]].concat(),
                _ => path,
            };
            let used = room(&path);
            if used != own {
                arrows
                    .entry((own.clone(), used))
                    .or_default()
                    .insert(inside.display().to_string());
            }
        }
    }
    arrows
}

#[test]
fn no_room_uses_a_room_above_it() {
    let arrows = arrows();
    assert!(
        arrows.len() > 60,
        "only {} arrows were found: does this test still read the sources?",
        arrows.len()
    );
    let is_wrong = |((own, used), _): &(&(String, String), _)| {
        !FLOORS.contains(&own.as_str()) && layer(used) >= layer(own)
    };
    let wrong: Vec<_> = arrows.iter().filter(is_wrong).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn paths_are_resolved_to_rooms() {
    let module = ["runtime", "run", "context"].map(str::to_owned);
    let code = "use super::{Run, state::{State, decode}}; use crate::{Name, store::event::Event}; \
        super::super::live::f(); crate::Agent::x";
    let found: Vec<_> = paths(code, &module)
        .iter()
        .map(|path| path.join("::"))
        .collect();
    let expected = [
        "Name",
        "store::event::Event",
        "Agent::x",
        "runtime::run::Run",
        "runtime::run::state::State",
        "runtime::run::state::decode",
        "runtime::live::f",
    ];
    assert_eq!(found, expected);
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    assert_eq!(exports(&root)["Agent"].join("::"), "runtime::agent::Agent");
}
