//! Arrows between the rooms of the crate run one way (DESIGN, section 9): no room uses one above it.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

/// Rooms from the bottom up. Files of the root are the ground; modules of one line may use each other.
const LAYERS: &[&[&str]] = &[
    &["sync", "panic", "path", "flow", "id", "content", "spec", "model_error", "error", "depth", "encode"],
    &["models"],
    &["store"],
    &["runtime"],
    &["agents"],
    &["builders"],
    &["__private"],
];

fn layer(module: &str) -> usize {
    let found = LAYERS.iter().position(|layer| layer.contains(&module));
    found.unwrap_or_else(|| panic!("module `{module}` has no place in the layers: give it one"))
}

fn sources(folder: &Path, into: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("the sources") {
        let path = entry.expect("an entry").path();
        if path.is_dir() { sources(&path, into) } else { into.push(path) }
    }
}

/// The module of each `crate::` path, or a name that `lib.rs` exports from one.
fn uses(text: &str) -> Vec<String> {
    let mut all = Vec::new();
    // Doc comments link upward as they like.
    let code: Vec<_> = text.lines().filter(|line| !line.trim_start().starts_with("//")).collect();
    let code = code.join("\n");
    let ident =
        |text: &str| text.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect::<String>();
    for (at, _) in code.match_indices("crate::") {
        let rest = &code[at + "crate::".len()..];
        match rest.strip_prefix('{') {
            Some(list) => {
                let list = &list[..list.find("};").expect("a list of imports ends")];
                let (mut depth, mut start) = (0, 0);
                for (i, c) in list.char_indices().chain([(list.len(), ',')]) {
                    match c {
                        '{' => depth += 1,
                        '}' => depth -= 1,
                        ',' if depth == 0 => {
                            all.push(ident(list[start..i].trim()));
                            start = i + 1;
                        }
                        _ => {}
                    }
                }
            }
            None => all.push(ident(rest)),
        }
    }
    all.retain(|name| !name.is_empty());
    all
}

#[test]
fn no_module_uses_one_above_it() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let lib = fs::read_to_string(root.join("lib.rs")).expect("lib.rs");
    let mut home = HashMap::new();
    for export in lib.split("pub use ").skip(1) {
        let export = &export[..export.find(';').expect("an export ends")];
        // What is passed on to the macros stands in its own module.
        let Some((module, names)) =
            export.split_once("::").filter(|(module, _)| !matches!(*module, "crate" | "adk_spec"))
        else {
            continue;
        };
        for name in names.trim_matches(['{', '}']).split(',') {
            home.insert(name.trim().to_owned(), module.trim().to_owned());
        }
    }
    let mut files = Vec::new();
    sources(&root, &mut files);
    let (mut wrong, mut arrows) = (Vec::new(), 0);
    for file in files {
        let inside = file.strip_prefix(&root).expect("below the sources");
        let first = inside.iter().next().and_then(|part| part.to_str()).expect("a name");
        let own = first.trim_end_matches(".rs");
        if own == "lib" || inside.ends_with("tests.rs") {
            continue;
        }
        let text = fs::read_to_string(&file).expect("a source");
        let text = text.split("#[cfg(test)]").next().unwrap_or_default();
        for name in uses(text) {
            let module = home.get(&name).unwrap_or(&name).clone();
            if matches!(&*module, "BoxFuture" | "BoxStream" | "__private" | "Name" | "check") {
                continue;
            }
            arrows += 1;
            if layer(&module) > layer(own) {
                wrong.push(format!("{} uses `{name}` of `{module}`", inside.display()));
            }
        }
    }
    assert!(arrows > 100, "only {arrows} arrows were found: does this test still read the sources?");
    assert_eq!(wrong, Vec::<String>::new());
}
