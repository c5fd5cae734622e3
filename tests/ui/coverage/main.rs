//! Each check has wrong programs, a right program and a page, and each page shows the current
//! messages.

mod checks;
mod newcomers;
mod pages;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// Returns a path in the folder of this package.
fn folder(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Reads the files in a folder with this extension, by name without the extension.
fn files(folder: &Path, extension: &str) -> BTreeMap<String, String> {
    let paths = folder
        .read_dir()
        .expect("a folder")
        .map(|entry| entry.expect("an entry").path());
    let paths = paths.filter(|path| path.extension().is_some_and(|found| found == extension));
    paths
        .map(|path| {
            (
                path.file_stem()
                    .unwrap_or_default()
                    .to_string_lossy()
                    .into_owned(),
                read(&path),
            )
        })
        .collect()
}

/// Splits the output of rustc into its messages.
fn messages(output: &str) -> impl Iterator<Item = &str> {
    let begins_message = |line: &str| line.starts_with("error") || line.starts_with("warning");
    let lines = output.split_inclusive('\n').scan(0, |end, line| {
        let start = *end;
        *end += line.len();
        Some((start, line))
    });
    let mut starts: Vec<_> = lines
        .filter(|(_, line)| begins_message(line))
        .map(|(start, _)| start)
        .collect();
    starts.push(output.len());
    (1..starts.len()).map(move |i| &output[starts[i - 1]..starts[i]])
}
