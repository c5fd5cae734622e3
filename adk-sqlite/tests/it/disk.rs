//! Disks that are really full and really read-only, and locks of other processes.
//!
//! A part of each test runs in a process of its own: on a small file system that only this process
//! sees (`unshare -m` for root, `unshare -Urm` for others), or as a user without rights (`setpriv`,
//! for root). A machine that allows neither skips the part, and the output reports that.

use crate::support::Folder;
use adk_build::session::{EventFilter, SessionStore};
use adk_build::{
    Error, ErrorKind, Event, EventId, Flow, RunId, Runner, StateDelta, StoreErrorKind,
};
use adk_sqlite::{Options, SqliteStore};
use adk_store_kit::place::{key, runner};
use adk_store_kit::sessions::stored;
use adk_store_kit::trees::{Tree, by, repeat, run, say};
use rusqlite::Connection;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

/// Asserts the kind of an error, and that the error names the file and has a help.
fn is_about(error: &Error, kind: StoreErrorKind, file: &Path) {
    assert_eq!(error.kind(), ErrorKind::Store(kind), "{error}");
    assert!(
        error.to_string().contains(file.to_str().unwrap()),
        "{error}"
    );
    assert!(error.help().is_some(), "{error}");
}

async fn events(store: &SqliteStore) -> Vec<Arc<Event>> {
    let there = store.read(&key(), &EventFilter::new()).await.unwrap();
    there.unwrap().events
}

async fn texts(store: &SqliteStore) -> Vec<String> {
    let there = events(store).await;
    there.iter().map(|event| event.text()).collect()
}

/// Returns a command that executes one part of this test program.
fn process(before: &[&str], part: &str, folder: &Path) -> Command {
    let test = std::env::current_exe().unwrap();
    let mut words = before
        .iter()
        .map(ToString::to_string)
        .chain([test.display().to_string()]);
    let mut command = Command::new(words.next().unwrap());
    command
        .args(words)
        .args([
            "--exact",
            "disk::part",
            "--ignored",
            "--nocapture",
            "--test-threads=1",
        ])
        .env("ADK_PART", part)
        .env("ADK_FOLDER", folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped());
    command
}

/// Executes a part on a file system of its own with `kib` KiB. Returns `false` if the machine does
/// not allow one.
fn on_a_small_disk(name: &str, kib: u32) -> bool {
    let folder = Folder::new();
    let mount = format!(
        "mount -t tmpfs -o size={kib}k none '{}'",
        folder.path().display()
    );
    let script = format!("{mount} && exec \"$@\"");
    for alone in [&["unshare", "-m"][..], &["unshare", "-Urm"]] {
        let probe = Command::new(alone[0])
            .args(&alone[1..])
            .args(["sh", "-c", &mount])
            .output();
        if probe.is_ok_and(|probe| probe.status.success()) {
            let before = [alone, &["sh", "-c", &script, "sh"]].concat();
            finishes(process(&before, name, folder.path()));
            return true;
        }
    }
    println!(
        "SKIPPED: this machine does not allow mounting a file system (unshare -m, unshare -Urm)"
    );
    false
}

fn finishes(mut command: Command) {
    let output = command.output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    let why = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success() && said.contains("part is done"),
        "{said}{why}"
    );
    print!("{said}");
}

/// Executes a part in the other process.
#[tokio::test]
#[ignore = "is started by other tests"]
async fn part() {
    let Ok(part) = std::env::var("ADK_PART") else {
        return;
    };
    let folder = PathBuf::from(std::env::var("ADK_FOLDER").unwrap());
    match &*part {
        "fill" => fill(&folder).await,
        "read only" => read_only(&folder).await,
        "no rights" => no_rights(&folder).await,
        "keep out" => hold(
            &folder.join("agents.db"),
            "PRAGMA locking_mode=EXCLUSIVE; BEGIN EXCLUSIVE",
        ),
        _ => hold(&folder.join("agents.db"), "BEGIN IMMEDIATE"),
    }
    println!("part is done");
}

/// A workflow that counts, with a recorded call and an event each time.
fn counting(times: u32) -> Tree {
    let counts = by("a", |cx| {
        Box::pin(async move {
            let n: u64 = cx.state().get("n")?.unwrap_or(0);
            let next = cx.step("count", async move { Ok(n + 1) }).await?;
            cx.emit(
                Event::new()
                    .with_text(format!("{next}"))
                    .with_state("n", next),
            )
            .await?;
            Ok(Flow::Continue)
        })
    });
    Tree::new("w", vec![repeat("l", Some(times), vec![run(counts)])])
}

/// Fills the disk except for `left` KiB, and returns the file that fills it.
fn ballast(folder: &Path, left: usize) -> PathBuf {
    let path = folder.join("ballast");
    let mut file = std::fs::File::create(&path).unwrap();
    while file.write_all(&[1; 1024]).is_ok() {}
    let size = file.metadata().unwrap().len();
    file.set_len(size - u64::try_from(left * 1024).unwrap())
        .unwrap();
    path
}

/// Executes runs on a disk that becomes full in their first commit, or in a later one.
async fn fill(disk: &Path) {
    let mut refused = 0;
    for (number, left) in [0, 4, 8, 16, 24, 32, 48, 64, 100, 150, 200, 300, 400, 600]
        .into_iter()
        .enumerate()
    {
        // These files exist before the disk is full.
        let folder = disk.join(number.to_string());
        std::fs::create_dir(&folder).unwrap();
        let file = folder.join("agents.db");
        let store = SqliteStore::open(&file).await.unwrap();
        let tree = counting(300);
        let (ballast, run) = run_until_full(disk, left, &store, &tree).await;
        let opened = SqliteStore::open(&file).await.map(drop);
        if let Err(error) = opened {
            is_about(&error, StoreErrorKind::Full, &file);
            refused += 1;
        }
        // After some space is free, the same store works again, and the run continues where it was.
        if number == 0 {
            watch_until_free(&store, &ballast).await;
        } else {
            std::fs::remove_file(ballast).unwrap();
            runner(&store).resume(&tree, run).await.unwrap();
        }
        is_complete(&store, run, left).await;
        drop(store);
        is_healthy(&file);
        std::fs::remove_dir_all(folder).unwrap();
    }
    println!("filled 14 times; a store could not be opened {refused} times");
}

/// Starts a run, fills the disk except for `left` KiB, and lets the run fail. Returns the file that
/// fills the disk, and the run.
async fn run_until_full(
    disk: &Path,
    left: usize,
    store: &SqliteStore,
    tree: &Tree,
) -> (PathBuf, RunId) {
    let mut stream = runner(store).session("u", "s").run(tree, "go").stream();
    let mut seen: Vec<EventId> = vec![stream.next().await.unwrap().unwrap().id];
    let ballast = ballast(disk, left);
    let error = loop {
        match stream.next().await {
            Some(Ok(event)) => seen.push(event.id),
            Some(Err(error)) => break error,
            None => panic!("{left} KiB are enough for it"),
        }
    };
    is_about(&error, StoreErrorKind::Full, store.path());
    drop(stream);
    // All acknowledged events are in this store and in another store on the file.
    let there = events(store).await;
    let ids: Vec<_> = there.iter().map(|event| event.id).collect();
    assert_eq!(ids, seen, "{left} KiB left");
    let again = runner(store)
        .session("u", "s")
        .run(tree, "go")
        .await
        .unwrap_err();
    is_about(&again, StoreErrorKind::Full, store.path());
    (ballast, there[0].invocation_id)
}

/// Asserts that a watch gets the error of a full disk, and succeeds after the file that fills the
/// disk is removed.
async fn watch_until_free(store: &SqliteStore, ballast: &Path) {
    let builder = Runner::builder()
        .app_name("app")
        .session_store(store.clone())
        .engine(store.clone());
    let knows: Runner = builder.workflow::<Tree>(counting(300)).build().unwrap();
    let (sender, mut attempts) = tokio::sync::mpsc::unbounded_channel();
    let watch = knows
        .watch()
        .every(Duration::from_millis(10))
        .inspect(move |run| drop(sender.send(run)));
    let watch = tokio::spawn(watch.into_future());
    let full = attempts.recv().await.unwrap().result.unwrap_err();
    is_about(&full, StoreErrorKind::Full, store.path());
    std::fs::remove_file(ballast).unwrap();
    while attempts.recv().await.unwrap().result.is_err() {}
    watch.abort();
}

/// Asserts that a finished run has all its events, and that other runs have only the events that
/// the disk had space for.
async fn is_complete(store: &SqliteStore, run: RunId, left: usize) {
    let expected: Vec<_> = ["go".to_owned()]
        .into_iter()
        .chain((1..=300).map(|n| n.to_string()))
        .collect();
    let all = events(store).await;
    let (own, others): (Vec<_>, Vec<_>) = all.iter().partition(|event| event.invocation_id == run);
    assert!(
        own.iter().map(|event| event.text()).eq(expected),
        "{left} KiB left"
    );
    assert!(
        others.len() < 10,
        "what there was room for: {}",
        others.len()
    );
}

/// Asserts that SQLite finds no damage in a file.
fn is_healthy(file: &Path) {
    let connection = Connection::open(file).unwrap();
    let health: String = connection
        .query_row("PRAGMA integrity_check", [], |row| row.get(0))
        .unwrap();
    assert_eq!(health, "ok");
}

#[test]
fn a_full_disk_stops_a_run_that_continues_with_free_space() {
    on_a_small_disk("fill", 65_536);
}

async fn read_only(disk: &Path) {
    let file = disk.join("agents.db");
    let store = SqliteStore::open(&file).await.unwrap();
    store.create(key(), StateDelta::default()).await.unwrap();
    store.append(&key(), vec![stored(1, "one")]).await.unwrap();
    drop(store);
    let remount = |how: &str| {
        let done = Command::new("mount")
            .args(["-o", &format!("remount,{how}")])
            .arg(disk)
            .status();
        assert!(done.unwrap().success());
    };
    remount("ro");
    is_about(
        &SqliteStore::open(&file).await.unwrap_err(),
        StoreErrorKind::ReadOnly,
        &file,
    );
    let new = disk.join("new.db");
    is_about(
        &SqliteStore::open(&new).await.unwrap_err(),
        StoreErrorKind::ReadOnly,
        &new,
    );
    remount("rw");
    let store = SqliteStore::open(&file).await.unwrap();
    runner(&store)
        .session("u", "s")
        .run(&Tree::new("w", vec![run(say("a"))]), "go")
        .await
        .unwrap();
    assert_eq!(texts(&store).await, ["one", "go", "a"]);
}

#[test]
fn a_read_only_disk_is_an_error() {
    on_a_small_disk("read only", 2048);
}

fn mode(path: &Path, bits: u32) {
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(bits)).unwrap();
}

/// Opens the store as a user who may or may not read the file, in a folder that may or may not be
/// writable.
async fn no_rights(folder: &Path) {
    let file = folder.join("agents.db");
    let error = SqliteStore::open(&file).await.unwrap_err();
    is_about(&error, StoreErrorKind::ReadOnly, &file);
}

#[tokio::test]
async fn a_write_protected_file_or_folder_is_an_error() {
    let is_root = std::fs::read_to_string("/proc/self/status")
        .is_ok_and(|status| status.lines().any(|line| line.starts_with("Uid:\t0\t")));
    let nobody = [
        "setpriv",
        "--reuid=65534",
        "--regid=65534",
        "--clear-groups",
    ];
    let before = if is_root { &nobody[..] } else { &[] };
    let probe = before
        .first()
        .map(|first| Command::new(first).args(&before[1..]).arg("true").status());
    let reads = process(before, "", Path::new(""))
        .env_remove("ADK_PART")
        .status();
    if !probe.is_none_or(|probe| probe.is_ok_and(|code| code.success()))
        || !reads.is_ok_and(|code| code.success())
    {
        println!(
            "SKIPPED: root may write everywhere, and this machine cannot switch to another user \
             (setpriv)"
        );
        return;
    }
    let folder = Folder::new();
    let file = folder.file();
    let store = SqliteStore::open(&file).await.unwrap();
    store.create(key(), StateDelta::default()).await.unwrap();
    store.append(&key(), vec![stored(1, "one")]).await.unwrap();
    drop(store);
    for (of_file, of_folder) in [
        (0o444, 0o777),
        (0o666, 0o555),
        (0o444, 0o555),
        (0o000, 0o777),
    ] {
        mode(&file, of_file);
        mode(folder.path(), of_folder);
        finishes(process(before, "no rights", folder.path()));
    }
    mode(folder.path(), 0o755);
    mode(&file, 0o644);
    let store = SqliteStore::open(&file).await.unwrap();
    assert_eq!(texts(&store).await, ["one"]);
    store.append(&key(), vec![stored(2, "two")]).await.unwrap();
    assert_eq!(texts(&store).await, ["one", "two"]);
}

/// Holds a lock on the file until the end of input.
fn hold(file: &Path, how: &str) {
    let connection = Connection::open(file).unwrap();
    connection.execute_batch(how).unwrap();
    println!("\nholds");
    let _ = std::io::stdin().read_to_end(&mut Vec::new());
    connection.execute_batch("ROLLBACK").unwrap();
}

/// A process that holds a lock on the file.
struct Holder(Child);

impl Holder {
    fn new(folder: &Path, how: &str) -> Self {
        let mut child = process(&[], how, folder).spawn().unwrap();
        let out = BufReader::new(child.stdout.as_mut().unwrap());
        assert!(
            out.lines()
                .map_while(Result::ok)
                .any(|line| line == "holds"),
            "it holds the file"
        );
        Self(child)
    }

    fn lets_go(mut self) {
        drop(self.0.stdin.take());
        self.0.wait().unwrap();
    }
}

#[tokio::test]
async fn a_long_lock_of_another_process_is_an_error_and_loses_nothing() {
    let folder = Folder::new();
    let (file, options) = (
        folder.file(),
        Options::default().busy_timeout(Duration::from_millis(30)),
    );
    let store = SqliteStore::open_with(&file, options).await.unwrap();
    store.create(key(), StateDelta::default()).await.unwrap();
    drop(store);
    let holder = Holder::new(folder.path(), "keep out");
    let error = SqliteStore::open_with(&file, options).await.unwrap_err();
    is_about(&error, StoreErrorKind::Locked, &file);
    assert!(error.is_retryable());
    holder.lets_go();
    let store = SqliteStore::open_with(&file, options).await.unwrap();

    // Another process keeps a transaction open in the middle of a run.
    let tree = counting(20);
    let mut stream = runner(&store).session("u", "s").run(&tree, "go").stream();
    let mut seen = vec![stream.next().await.unwrap().unwrap().id];
    let holder = Holder::new(folder.path(), "write");
    let error = loop {
        match stream.next().await.unwrap() {
            Ok(event) => seen.push(event.id),
            Err(error) => break error,
        }
    };
    drop(stream);
    is_about(&error, StoreErrorKind::Locked, &file);
    holder.lets_go();
    let there = store
        .read(&key(), &EventFilter::new())
        .await
        .unwrap()
        .unwrap();
    assert_eq!(
        there
            .events
            .iter()
            .map(|event| event.id)
            .collect::<Vec<_>>(),
        seen
    );
    runner(&store)
        .resume(&tree, there.events[0].invocation_id)
        .await
        .unwrap();
    assert_eq!(texts(&store).await.len(), 21);
}
