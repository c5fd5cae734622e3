//! `adk golden`.

use crate::support::{Folder, adk};
use std::fs;

/// The names of the files below a folder.
fn names(folder: &Folder) -> Vec<String> {
    let mut names: Vec<_> = fs::read_dir(folder.path().join("runs"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

fn folder() -> Folder {
    let folder = Folder::new();
    let runs = folder.path().join("runs");
    fs::create_dir_all(&runs).unwrap();
    for (name, text) in [
        ("a_cat.golden", "old"),
        ("a_cat.answers.jsonl", "old answers"),
        ("a_cat.golden.new", "new"),
        ("a_cat.answers.jsonl.new", "new answers"),
        ("a_dog.golden", "old"),
        ("a_dog.golden.new", "new"),
        ("a_cow.golden", "old"),
    ] {
        fs::write(runs.join(name), text).unwrap();
    }
    folder
}

#[test]
fn new_versions_are_listed_accepted_and_rejected() {
    let folder = folder();
    let path = folder.path().to_str().unwrap();
    let listed = adk("", &["golden", "--folder", path]);
    assert_eq!(listed.code, 1, "{listed:?}");
    assert_eq!(listed.out.lines().count(), 2, "{listed:?}");
    assert!(listed.out.lines().next().unwrap().ends_with("a_cat.golden"));
    assert!(listed.err.contains("2 golden tests have new versions"));

    let unknown = adk("", &["golden", "accept", "a_cow", "--folder", path]);
    assert_eq!(unknown.code, 3, "{unknown:?}");
    assert_eq!(names(&folder).len(), 7, "nothing has changed");

    adk("", &["golden", "accept", "a_cat", "--folder", path]).success_text();
    let read = |name: &str| fs::read_to_string(folder.path().join("runs").join(name)).unwrap();
    assert_eq!(read("a_cat.golden"), "new");
    assert_eq!(read("a_cat.answers.jsonl"), "new answers");
    assert_eq!(read("a_dog.golden"), "old");

    adk("", &["golden", "reject", "--folder", path]).success_text();
    assert_eq!(read("a_dog.golden"), "old");
    let left = [
        "a_cat.answers.jsonl",
        "a_cat.golden",
        "a_cow.golden",
        "a_dog.golden",
    ];
    assert_eq!(names(&folder), left);
    assert_eq!(adk("", &["golden", "--folder", path]).success_text(), "");
}
