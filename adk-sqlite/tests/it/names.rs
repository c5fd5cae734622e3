//! Tests that all paths to a file are one database, and that an open store detects a deleted or
//! replaced file.

use crate::support::Folder;
use adk_build::engine::{RunFilter, RunRegistry as _};
use adk_build::session::{EventFilter, SessionKey, SessionStore};
use adk_build::{
    ArtifactStore, Error, ErrorKind, Event, Flow, Part, Result, RunId, RunStream, Runner,
};
use adk_build::{StateDelta, StoreErrorKind};
use adk_sqlite::SqliteStore;
use adk_store_kit::place::{key, kind, runner};
use adk_store_kit::sessions::stored;
use adk_store_kit::trees::{Tree, by, run, say};
use std::fs::{hard_link, remove_file, rename};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// A workflow that emits a text, makes a call, or waits for a person, by its name.
fn tree(name: &str) -> Tree {
    let last = match name {
        "says" => say("a"),
        "calls" => by("a", |cx| {
            Box::pin(async move {
                let n = cx.step("call", async { Ok(1) }).await?;
                cx.emit(Event::new().with_state("n", n)).await?;
                Ok(Flow::Continue)
            })
        }),
        _ => by("a", |cx| {
            Box::pin(async move {
                cx.wait::<bool>("answer").await?;
                Ok(Flow::Continue)
            })
        }),
    };
    Tree::new("w", vec![run(last)])
}

/// Starts a run and takes its first event, so that this process drives it.
async fn driven<'a>(store: &SqliteStore, tree: &'a Tree) -> (RunStream<'a, ()>, RunId) {
    let mut stream = runner(store).session("u", "s").run(tree, "go").stream();
    let run = stream.next().await.unwrap().unwrap().invocation_id;
    (stream, run)
}

/// Asserts that another store drives the run, and that this store cannot resume it.
async fn is_busy(store: &SqliteStore, run: RunId) {
    let listed = store.runs("app", &RunFilter::unfinished()).await.unwrap();
    assert_eq!(
        (listed.len(), listed[0].run_id, listed[0].is_ready),
        (1, run, false)
    );
    let error = runner(store).resume(&tree("says"), run).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::RunBusy, "{error}");
}

/// Starts another process that opens the file by this path, and asserts that it finds the run
/// driven.
fn finds_it_busy(part: &str, file: &Path, run: RunId) {
    let output = Command::new(std::env::current_exe().unwrap())
        .args([
            "--exact",
            "names::part",
            "--ignored",
            "--nocapture",
            "--test-threads=1",
        ])
        .current_dir(file.parent().unwrap())
        .env("ADK_PART", part)
        .env("ADK_FILE", file)
        .env("ADK_RUN", run.to_string())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    let why = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success() && said.contains("part is done"),
        "{}: {said}{why}",
        file.display()
    );
}

/// Executes a part in the other process.
#[tokio::test]
#[ignore = "is started by other tests"]
async fn part() {
    let Ok(part) = std::env::var("ADK_PART") else {
        return;
    };
    let mut file = PathBuf::from(std::env::var("ADK_FILE").unwrap());
    if part == "relative" {
        file = file.file_name().unwrap().into();
    }
    let store = SqliteStore::open(file).await.unwrap();
    std::env::set_current_dir("/").unwrap();
    is_busy(&store, std::env::var("ADK_RUN").unwrap().parse().unwrap()).await;
    println!("part is done");
}

#[tokio::test]
async fn a_live_run_cannot_be_claimed_by_a_symlink_to_the_file() {
    let folder = Folder::new();
    let (store, tree) = (
        SqliteStore::open(folder.file()).await.unwrap(),
        tree("says"),
    );
    let (mut stream, run) = driven(&store, &tree).await;
    std::fs::create_dir(folder.path().join("far")).unwrap();
    let (link, far) = (
        folder.path().join("link.db"),
        folder.path().join("far/link.db"),
    );
    symlink("agents.db", &link).unwrap();
    symlink("../link.db", &far).unwrap();
    for name in [&link, &far] {
        finds_it_busy("absolute", name, run);
    }
    assert_eq!(stream.next().await.unwrap().unwrap().text(), "a");
}

#[tokio::test]
async fn a_live_run_cannot_be_claimed_by_a_symlink_to_the_folder() {
    let folder = Folder::new();
    let real = folder.path().join("real");
    std::fs::create_dir(&real).unwrap();
    let link = folder.path().join("link");
    symlink(&real, &link).unwrap();
    // The claim of the run is found through both paths.
    for (here, there) in [(&real, &link), (&link, &real)] {
        let file = here.join("agents.db");
        let (store, tree) = (SqliteStore::open(&file).await.unwrap(), tree("says"));
        let (mut stream, run) = driven(&store, &tree).await;
        finds_it_busy("absolute", &there.join("agents.db"), run);
        assert_eq!(stream.next().await.unwrap().unwrap().text(), "a");
        drop((stream, store));
        remove_file(file).unwrap();
    }
}

#[tokio::test]
async fn a_live_run_cannot_be_claimed_where_the_file_was_made_by_a_symlink() {
    let folder = Folder::new();
    let link = folder.path().join("link.db");
    std::fs::create_dir(folder.path().join("far")).unwrap();
    symlink("far/agents.db", &link).unwrap();
    let (store, tree) = (SqliteStore::open(&link).await.unwrap(), tree("says"));
    let (_stream, run) = driven(&store, &tree).await;
    finds_it_busy("absolute", &folder.path().join("far/agents.db"), run);
}

#[tokio::test]
async fn a_live_run_cannot_be_claimed_by_a_relative_path_whose_folder_is_left() {
    let folder = Folder::new();
    let (store, tree) = (
        SqliteStore::open(folder.file()).await.unwrap(),
        tree("says"),
    );
    let (_stream, run) = driven(&store, &tree).await;
    finds_it_busy("relative", &folder.file(), run);
    // The lock file was removed from the folder in which it was created.
    assert_eq!(
        folder
            .names()
            .iter()
            .filter(|name| name.contains("-owner-"))
            .count(),
        1
    );
}

#[tokio::test]
async fn two_stores_of_one_process_share_a_file_under_two_names() {
    let folder = Folder::new();
    let link = folder.path().join("link.db");
    symlink(folder.file(), &link).unwrap();
    let (one, two) = (
        SqliteStore::open(folder.file()).await.unwrap(),
        SqliteStore::open(&link).await.unwrap(),
    );
    assert_eq!(one.path(), two.path());
    one.create(key(), StateDelta::default()).await.unwrap();
    for n in 0..4 {
        let store = [&one, &two][usize::from(n % 2 == 1)];
        store
            .append(&key(), vec![stored(n, &n.to_string())])
            .await
            .unwrap();
    }
    let tree = tree("says");
    let (mut stream, run) = driven(&two, &tree).await;
    is_busy(&one, run).await;
    drop(one);
    assert_eq!(stream.next().await.unwrap().unwrap().text(), "a");
    drop(stream);
    assert_eq!(
        two.read(&key(), &EventFilter::new())
            .await
            .unwrap()
            .unwrap()
            .len,
        6
    );
    drop(two);
    assert_eq!(folder.names(), ["agents.db", "link.db"]);
}

fn is_misplaced(error: &Error, file: &Path, what: &str) {
    assert_eq!(kind(error), StoreErrorKind::Misplaced, "{what}: {error}");
    assert!(
        error.to_string().contains(file.to_str().unwrap()),
        "{what}: {error}"
    );
    assert!(
        error.help().is_some() && !error.is_retryable(),
        "{what}: {error}"
    );
}

#[tokio::test]
async fn a_file_with_a_hard_link_is_refused() {
    let folder = Folder::new();
    let other = folder.path().join("other.db");
    let store = SqliteStore::open(folder.file()).await.unwrap();
    store.create(key(), StateDelta::default()).await.unwrap();
    hard_link(folder.file(), &other).unwrap();
    let error = SqliteStore::open(&other).await.unwrap_err();
    is_misplaced(&error, &other, "opened");
    assert!(
        error
            .help()
            .is_some_and(|help| help.contains("remove the other names")),
        "{error}"
    );
    assert!(
        !folder
            .names()
            .iter()
            .any(|name| name.starts_with("other.db-")),
        "{:?}",
        folder.names()
    );
    // The open store reports the second name, and works again once the file has one name.
    is_misplaced(
        &store
            .append(&key(), vec![stored(1, "one")])
            .await
            .unwrap_err(),
        &folder.file(),
        "appended",
    );
    is_misplaced(
        &store.read(&key(), &EventFilter::new()).await.unwrap_err(),
        &folder.file(),
        "read",
    );
    remove_file(&other).unwrap();
    store.append(&key(), vec![stored(1, "one")]).await.unwrap();
    assert_eq!(
        store
            .read(&key(), &EventFilter::new())
            .await
            .unwrap()
            .unwrap()
            .len,
        1
    );
}

/// A change to the file under an open store.
#[derive(Clone, Copy, Debug)]
enum Damage {
    Deleted,
    Renamed,
    /// Another database with the same tables is in its place.
    Replaced,
    /// A symlink to the moved file is in its place.
    Linked,
    LogDeleted,
    FolderRenamed,
}

const DAMAGES: [Damage; 6] = [
    Damage::Deleted,
    Damage::Renamed,
    Damage::Replaced,
    Damage::Linked,
    Damage::LogDeleted,
    Damage::FolderRenamed,
];

impl Damage {
    /// Reports whether the first operation after the damage detects it. Only reads detect a missing
    /// log.
    fn is_noticed_by(self, first: First) -> bool {
        let reads = matches!(
            first,
            First::Answer | First::Read | First::List | First::Runs | First::Load
        );
        reads || !matches!(self, Self::LogDeleted)
    }

    async fn happens(self, file: &Path) {
        let aside = file.with_file_name("aside.db");
        match self {
            Self::Deleted => remove_file(file).unwrap(),
            Self::Renamed => rename(file, aside).unwrap(),
            Self::Replaced => {
                let other = SqliteStore::open(&aside).await.unwrap();
                other.create(key(), StateDelta::default()).await.unwrap();
                drop(other);
                rename(aside, file).unwrap();
            }
            Self::Linked => {
                rename(file, &aside).unwrap();
                symlink(aside, file).unwrap();
            }
            Self::LogDeleted => remove_file(file.with_file_name("agents.db-wal")).unwrap(),
            Self::FolderRenamed => rename(
                file.parent().unwrap(),
                file.ancestors().nth(2).unwrap().join("b"),
            )
            .unwrap(),
        }
    }
}

/// The first operation on a store after the damage.
#[derive(Clone, Copy, Debug)]
enum First {
    Commit,
    Step,
    Wait,
    Answer,
    Begin,
    Read,
    List,
    Append,
    Runs,
    Save,
    Load,
}

const FIRSTS: [First; 11] = [
    First::Commit,
    First::Step,
    First::Wait,
    First::Answer,
    First::Begin,
    First::Read,
    First::List,
    First::Append,
    First::Runs,
    First::Save,
    First::Load,
];

impl First {
    /// Prepares the operation, does the damage, and returns the result of the operation.
    async fn perform(self, store: &SqliteStore, damage: Damage) -> Result<()> {
        let file = store.path();
        let asks = tree("waits");
        runner(store)
            .session("u", "asks")
            .run(&asks, "go")
            .await
            .unwrap_err();
        let tree = tree(match self {
            Self::Step => "calls",
            Self::Wait => "waits",
            _ => "says",
        });
        let old = SessionKey::new("app", "u", "asks");
        match self {
            Self::Commit | Self::Step | Self::Wait => {
                let (mut stream, _) = driven(store, &tree).await;
                damage.happens(file).await;
                stream.next().await.transpose().map(drop)
            }
            Self::Answer => {
                let waiting = runner(store).waiting().await.unwrap();
                damage.happens(file).await;
                runner(store).answer(&waiting[0].id, true).await
            }
            Self::Begin => {
                damage.happens(file).await;
                runner(store)
                    .session("u", "new")
                    .run(&tree, "go")
                    .await
                    .map(drop)
            }
            Self::Read => {
                store
                    .read(&old, &EventFilter::new())
                    .await
                    .unwrap()
                    .unwrap();
                damage.happens(file).await;
                store.read(&old, &EventFilter::new()).await.map(drop)
            }
            Self::List => {
                damage.happens(file).await;
                SessionStore::list(store, "app", None, "").await.map(drop)
            }
            Self::Append => {
                damage.happens(file).await;
                store.append(&old, vec![stored(1, "one")]).await
            }
            Self::Runs => {
                damage.happens(file).await;
                store.runs("app", &RunFilter::unfinished()).await.map(drop)
            }
            Self::Save => {
                damage.happens(file).await;
                store.save(&old, "name", Part::text("x")).await.map(drop)
            }
            Self::Load => {
                store.save(&old, "name", Part::text("x")).await.unwrap();
                damage.happens(file).await;
                store.load(&old, "name", None).await.map(drop)
            }
        }
    }
}

#[tokio::test]
async fn a_missing_file_stops_every_operation() {
    let mut passed = Vec::new();
    for damage in DAMAGES {
        for first in FIRSTS
            .into_iter()
            .filter(|first| damage.is_noticed_by(*first))
        {
            let folder = Folder::new();
            let file = folder.path().join("a/agents.db");
            std::fs::create_dir(file.parent().unwrap()).unwrap();
            let store = SqliteStore::open(&file).await.unwrap();
            let what = format!("{damage:?}, {first:?}");
            match first.perform(&store, damage).await {
                Ok(()) => passed.push(what),
                Err(error) => is_misplaced(&error, &file, &what),
            }
        }
    }
    assert!(
        passed.is_empty(),
        "acknowledged, or read, as if nothing were wrong: {passed:#?}"
    );
}

#[tokio::test]
async fn a_stopped_store_stays_stopped_and_the_next_store_resumes_the_run() {
    let folder = Folder::new();
    let (file, aside) = (folder.file(), folder.path().join("aside.db"));
    let (store, tree) = (SqliteStore::open(&file).await.unwrap(), tree("calls"));
    let (mut stream, run) = driven(&store, &tree).await;
    rename(&file, &aside).unwrap();
    is_misplaced(
        &stream.next().await.unwrap().unwrap_err(),
        &file,
        "committed",
    );
    drop(stream);
    rename(&aside, &file).unwrap();
    for first in [First::Begin, First::Append, First::List, First::Runs] {
        let error = match first {
            First::Begin => runner(&store)
                .session("u", "new")
                .run(&tree, "go")
                .await
                .map(drop),
            First::Append => store.append(&key(), vec![stored(1, "one")]).await,
            First::List => SessionStore::list(&store, "app", None, "").await.map(drop),
            _ => store.runs("app", &RunFilter::unfinished()).await.map(drop),
        };
        is_misplaced(&error.unwrap_err(), &file, &format!("{first:?}"));
    }
    // The run has not failed: it keeps its events, and continues.
    drop(store);
    let store = SqliteStore::open(&file).await.unwrap();
    runner(&store).resume(&tree, run).await.unwrap();
    assert_eq!(
        store
            .read(&key(), &EventFilter::new())
            .await
            .unwrap()
            .unwrap()
            .len,
        2
    );
}

#[tokio::test]
async fn a_replacement_file_is_not_changed() {
    let folder = Folder::new();
    let store = SqliteStore::open(folder.file()).await.unwrap();
    store
        .create(SessionKey::new("app", "u", "old"), StateDelta::default())
        .await
        .unwrap();
    // A backup is restored without the old log.
    Damage::Replaced.happens(&folder.file()).await;
    for end in ["wal", "shm"] {
        remove_file(folder.path().join(format!("agents.db-{end}"))).unwrap();
    }
    let new = SqliteStore::open(folder.file()).await.unwrap();
    new.append(&key(), vec![stored(1, "one")]).await.unwrap();
    is_misplaced(
        &store
            .append(&key(), vec![stored(2, "two")])
            .await
            .unwrap_err(),
        &folder.file(),
        "appended",
    );
    drop(store);
    new.append(&key(), vec![stored(3, "three")]).await.unwrap();
    drop(new);
    let new = SqliteStore::open(folder.file()).await.unwrap();
    let sessions = SessionStore::list(&new, "app", None, "").await.unwrap();
    assert_eq!((sessions.len(), sessions[0].len), (1, 2));
}

/// Reads check the log, and so does every 16th commit.
#[tokio::test]
async fn a_log_that_was_deleted_is_noticed_soon_and_loses_nothing() {
    for is_read in [false, true] {
        let folder = Folder::new();
        let store = SqliteStore::open(folder.file()).await.unwrap();
        store.create(key(), StateDelta::default()).await.unwrap();
        Damage::LogDeleted.happens(&folder.file()).await;
        let mut written = 0;
        let error = loop {
            if is_read && written == 3 {
                break store.read(&key(), &EventFilter::new()).await.unwrap_err();
            }
            match store.append(&key(), vec![stored(written, "x")]).await {
                Ok(()) => written += 1,
                Err(error) => break error,
            }
            assert!(written < 16, "it is noticed");
        };
        is_misplaced(&error, &folder.file(), "log");
        assert!(
            error.help().is_some_and(|help| help.contains("close it")),
            "{error}"
        );
        let error = store
            .append(&key(), vec![stored(written, "x")])
            .await
            .unwrap_err();
        is_misplaced(&error, &folder.file(), "again");
        drop(store);
        let store = SqliteStore::open(folder.file()).await.unwrap();
        let there = store
            .read(&key(), &EventFilter::new())
            .await
            .unwrap()
            .unwrap();
        assert_eq!(there.len as u64, written);
    }
}

#[tokio::test]
async fn a_watch_reports_that_the_file_is_gone() {
    for damage in DAMAGES {
        let folder = Folder::new();
        let file = folder.path().join("a/agents.db");
        std::fs::create_dir(file.parent().unwrap()).unwrap();
        let store = SqliteStore::open(&file).await.unwrap();
        let builder = Runner::builder()
            .app_name("app")
            .session_store(store.clone())
            .engine(store);
        let runner: Runner = builder.workflow::<Tree>(tree("waits")).build().unwrap();
        runner
            .session("u", "s")
            .run(&tree("waits"), "go")
            .await
            .unwrap_err();
        let watch = tokio::spawn(runner.watch().every(Duration::from_millis(1)).into_future());
        tokio::time::sleep(Duration::from_millis(5)).await;
        damage.happens(&file).await;
        let error = tokio::time::timeout(Duration::from_secs(60), watch).await;
        is_misplaced(
            &error.expect("it ends").unwrap(),
            &file,
            &format!("{damage:?}"),
        );
    }
}
