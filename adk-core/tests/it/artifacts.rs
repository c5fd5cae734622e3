//! Artifact stores in memory and in a folder, and the store that a runner selects.

use adk_build::session::SessionKey;
use adk_build::{ArtifactStore, ErrorKind, FolderArtifacts, Part, StoreErrorKind};
use adk_store_kit::victim::Scratch;
use std::fs;
use std::path::{Path, PathBuf};

fn key() -> SessionKey {
    SessionKey::new("a", "u", "s")
}

/// Lists all files below a folder.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut all = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            all.extend(files(&path))
        } else {
            all.push(path)
        }
    }
    all
}

#[tokio::test]
async fn a_folder_is_made_and_keeps_no_drafts() {
    let scratch = Scratch::new();
    let folder = scratch.path().join("is/made");
    let store = FolderArtifacts::open(&folder).unwrap();
    store.save(&key(), "a", Part::text("x")).await.unwrap();
    assert_eq!(fs::read_dir(folder.join("tmp")).unwrap().count(), 0);
    let siblings = fs::read_dir(scratch.path()).unwrap().count();
    assert_eq!(siblings, 1, "the folder has no siblings");
}

/// Deletes a file repeatedly while others save it: no call fails, and the remaining versions are
/// whole.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_file_may_be_deleted_while_it_is_saved() {
    let scratch = Scratch::new();
    let store = FolderArtifacts::open(scratch.path()).unwrap();
    let saves: Vec<_> = (0..4)
        .map(|n| {
            let store = store.clone();
            tokio::spawn(async move {
                for _ in 0..25 {
                    store
                        .save(&key(), "a", Part::text(format!("whole {n}")))
                        .await
                        .unwrap();
                    if let Some(part) = store.load(&key(), "a", None).await.unwrap() {
                        assert!(part.as_text().unwrap().starts_with("whole"));
                    }
                }
            })
        })
        .collect();
    for _ in 0..25 {
        store.delete(&key(), "a").await.unwrap();
    }
    for save in saves {
        save.await.unwrap();
    }
    assert_eq!(fs::read_dir(scratch.path().join("tmp")).unwrap().count(), 0);
}

/// A killed process leaves drafts and folders without versions, but no partial version.
#[tokio::test]
async fn leftovers_of_a_dead_process_are_not_versions() {
    let scratch = Scratch::new();
    let store = FolderArtifacts::open(scratch.path()).unwrap();
    store.save(&key(), "a", Part::text("whole")).await.unwrap();
    let [file] = &files(scratch.path())[..] else {
        panic!("one version is one file")
    };
    let folder = file.parent().unwrap();
    let draft = scratch.path().join("tmp/1-0");
    fs::create_dir_all(&draft).unwrap();
    fs::write(draft.join("part"), "{\"te").unwrap();
    fs::create_dir_all(folder.with_file_name("_b")).unwrap();
    // Files that other programs put into folders.
    for name in [".DS_Store", "01", "+1", "1~", "_notes"] {
        fs::write(folder.join(name), "x").unwrap();
        fs::write(folder.with_file_name(name), "x").unwrap();
    }
    let store = FolderArtifacts::open(scratch.path()).unwrap();
    assert_eq!(store.list(&key()).await.unwrap(), ["a"]);
    assert_eq!(
        store.load(&key(), "a", None).await.unwrap(),
        Some(Part::text("whole"))
    );
    assert_eq!(
        store.save(&key(), "a", Part::text("next")).await.unwrap(),
        1
    );
}

#[tokio::test]
async fn an_unusable_folder_is_reported() {
    let kind = |error: &adk_build::Error| match error.kind() {
        ErrorKind::Store(kind) => kind,
        other => panic!("{other:?}: {error}"),
    };
    let scratch = Scratch::new();
    let file = scratch.path().join("file");
    fs::write(&file, "x").unwrap();
    let error = FolderArtifacts::open(&file).unwrap_err();
    assert!(
        error.to_string().contains(file.to_str().unwrap()) && error.help().is_some(),
        "{error}"
    );

    let store = FolderArtifacts::open(scratch.path().join("folder")).unwrap();
    // The name is longer than any path may be.
    let error = store
        .save(&key(), &"a".repeat(100_000), Part::text("x"))
        .await
        .unwrap_err();
    assert_eq!(kind(&error), StoreErrorKind::Other, "{error:.300}");
    assert!(
        error.help().is_some_and(|help| help.contains("shorter")),
        "{error:.300}"
    );
    store.save(&key(), "a", Part::text("x")).await.unwrap();
    let versions = files(&scratch.path().join("folder"));
    fs::write(&versions[0], "written by others").unwrap();
    let error = store.load(&key(), "a", None).await.unwrap_err();
    assert_eq!(kind(&error), StoreErrorKind::Corrupt, "{error}");
}
