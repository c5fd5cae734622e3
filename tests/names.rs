//! The names of types are unique in each crate, as CONTRIBUTING.md claims.
//!
//! A reader who searches a crate for the name of a type finds one definition. Test modules are free
//! to reuse names.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// Returns the workspace crates by folder: the facade, and each folder next to it that has sources.
fn crates(root: &Path) -> BTreeMap<String, PathBuf> {
    let mut crates = BTreeMap::from([("adk".to_owned(), root.join("src"))]);
    for entry in root.read_dir().expect("the workspace folder is readable") {
        let entry = entry.expect("the entry is readable");
        let source = entry.path().join("src");
        if entry.path().join("Cargo.toml").is_file() && source.is_dir() {
            crates.insert(entry.file_name().to_string_lossy().into_owned(), source);
        }
    }
    crates
}

/// Collects the Rust files of a folder and of its subfolders, except the files and folders of test
/// modules.
fn sources(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in folder.read_dir().expect("the source folder is readable") {
        let path = entry.expect("the entry is readable").path();
        if path.file_stem().is_some_and(|stem| stem == "tests") {
            continue;
        }
        if path.is_dir() {
            sources(&path, files);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
}

/// Returns the type that a line defines. The line begins with the definition, so a comment defines
/// none.
fn defined_type(line: &str) -> Option<&str> {
    let mut rest = line.trim_start();
    if let Some(public) = rest.strip_prefix("pub") {
        let visibility = public
            .strip_prefix('(')
            .and_then(|inside| inside.split_once(')'));
        rest = visibility.map_or(public, |(_, after)| after).trim_start();
    }
    rest = rest.strip_prefix("unsafe ").unwrap_or(rest);
    let name = ["struct ", "enum ", "trait "]
        .iter()
        .find_map(|keyword| rest.strip_prefix(keyword))?;
    let end = name
        .find(|c: char| !c.is_alphanumeric() && c != '_')
        .unwrap_or(name.len());
    Some(&name[..end]).filter(|name| !name.is_empty())
}

/// Returns the types that a file defines outside its `#[cfg(test)] mod` blocks.
///
/// rustfmt indents the end of a block like its begin, so the lines show where a block ends.
fn defined_types(code: &str) -> Vec<&str> {
    let mut types = Vec::new();
    let mut is_test = false;
    let mut block_end = None;
    for line in code.lines() {
        let text = line.trim_start();
        if let Some(end) = &block_end {
            if line == end {
                block_end = None;
            }
        } else if text.starts_with("#[cfg(test)]") {
            is_test = true;
        } else if is_test && text.starts_with("mod ") && text.ends_with('{') {
            block_end = Some(format!("{}}}", &line[..line.len() - text.len()]));
            is_test = false;
        } else if !text.starts_with("#[") {
            is_test = false;
            types.extend(defined_type(line));
        }
    }
    types
}

#[test]
fn type_names_are_unique_in_each_crate() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut total = 0;
    let mut doubled = String::new();
    for (name, source) in crates(root) {
        let mut files = Vec::new();
        sources(&source, &mut files);
        files.sort();
        let mut types: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for file in files {
            let code = fs::read_to_string(&file).expect("the source is readable");
            let place = file
                .strip_prefix(root)
                .expect("the file is in the workspace")
                .display()
                .to_string();
            for defined in defined_types(&code) {
                types
                    .entry(defined.to_owned())
                    .or_default()
                    .push(place.clone());
                total += 1;
            }
        }
        for (defined, places) in types.into_iter().filter(|(_, places)| places.len() > 1) {
            doubled += &format!("{name}: `{defined}` in {}\n", places.join(", "));
        }
    }
    assert!(
        total > 500,
        "only {total} types were found: does this test still read the sources?"
    );
    assert!(
        doubled.is_empty(),
        "these names are defined more than once; help: rename all but one definition:\n{doubled}"
    );
}

#[test]
fn comments_and_test_modules_define_no_types() {
    let code = "\
/// struct Comment
pub(crate) struct Left<T>(T);
pub unsafe trait Right {}
fn local() {
    enum Inner {}
}
#[cfg(test)]
mod other_file;
#[cfg(test)]
#[allow(dead_code)]
mod tests {
    struct Left;
    mod nested {
        struct Right;
    }
}
#[cfg(test)]
struct Outside;
structure!(Left);
";
    assert_eq!(defined_types(code), ["Left", "Right", "Inner", "Outside"]);
}
