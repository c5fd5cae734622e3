//! The dependencies between the rooms of a crate, read from the paths in its sources.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs;
use std::path::{Path, PathBuf};

/// The room that uses another, and that other room, with the files that contain the uses.
pub type Arrows = BTreeMap<(String, String), BTreeSet<String>>;

fn sources(folder: &Path, into: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("the sources") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            sources(&path, into);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
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
pub fn paths(code: &str, module: &[String]) -> Vec<Vec<String>> {
    let mut all = Vec::new();
    for (at, word) in code.match_indices("crate::") {
        // `pub(in crate::a)` does not use `a`.
        if code[..at].ends_with("pub(in ") {
            continue;
        }
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

/// Returns the module of each name that `lib.rs` exports. A program exports none.
pub fn exports(root: &Path) -> HashMap<String, Vec<String>> {
    let lib = root.join("lib.rs");
    let lib = if lib.is_file() {
        code(&lib)
    } else {
        String::new()
    };
    let mut all = Vec::new();
    for export in lib.split("pub use ").skip(1) {
        expand(export, &[], &mut all);
    }
    all.into_iter()
        .map(|path| (path.last().expect("a name").clone(), path))
        .collect()
}

/// Returns all dependencies between the rooms of the sources below `root`, each with the files that
/// contain it. `room` returns the room of a module or of a path into it.
pub fn arrows(root: &Path, room: impl Fn(&[String]) -> String) -> Arrows {
    let exports = exports(root);
    let mut files = Vec::new();
    sources(root, &mut files);
    let mut arrows: BTreeMap<_, BTreeSet<_>> = BTreeMap::new();
    for file in files {
        let inside = file
            .strip_prefix(root)
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
