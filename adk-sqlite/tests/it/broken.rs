//! Unusable files: each error names its cause, and no acknowledged write is lost.

use crate::support::Folder;
use adk_build::engine::{RunFilter, RunRegistry as _, RunStatus};
use adk_build::session::{EventFilter, SessionStore};
use adk_build::{ErrorKind, Flow, Runner, StateDelta, StoreErrorKind};
use adk_sqlite::{Options, SqliteStore};
use adk_store_kit::place::{key, kind, runner};
use adk_store_kit::sessions::{self, Broken, delta, state, stored};
use adk_store_kit::trees::{Tree, by, repeat, run, say};
use rusqlite::Connection;
use serde_json::json;
use std::io::{Seek, SeekFrom, Write};
use std::time::Duration;

async fn len(store: &SqliteStore) -> usize {
    store
        .read(&key(), &EventFilter::new().last(0))
        .await
        .unwrap()
        .unwrap()
        .len
}

#[tokio::test]
async fn a_file_that_cannot_be_created_is_an_error() {
    let folder = Folder::new();
    for path in [
        folder.path().join("not/there/agents.db"),
        folder.path().to_owned(),
        "/proc/agents.db".into(),
    ] {
        let error = SqliteStore::open(&path).await.unwrap_err();
        assert_eq!(kind(&error), StoreErrorKind::ReadOnly, "{error}");
        assert!(
            error.to_string().contains(path.to_str().unwrap()),
            "{error}"
        );
        assert!(
            error.help().is_some_and(|help| help.contains("writable")),
            "{error}"
        );
        assert!(!error.is_retryable());
    }
}

#[tokio::test]
async fn a_file_that_is_not_a_database_is_an_error() {
    let folder = Folder::new();
    std::fs::write(
        folder.file(),
        "a text of some length, but no database at all".repeat(100),
    )
    .unwrap();
    let error = SqliteStore::open(folder.file()).await.unwrap_err();
    assert_eq!(kind(&error), StoreErrorKind::Corrupt, "{error}");
    assert!(
        error
            .help()
            .is_some_and(|help| help.contains("check the path")),
        "{error}"
    );
    for path in ["", ":memory:"] {
        let error = SqliteStore::open(path).await.unwrap_err();
        assert_eq!(kind(&error), StoreErrorKind::Misplaced, "{error}");
        assert!(
            error
                .message()
                .contains(&format!("`{path}`: the path does not name a file")),
            "{error}"
        );
    }
}

#[tokio::test]
async fn a_damaged_file_is_an_error_where_it_is_damaged() {
    let folder = Folder::new();
    let store = SqliteStore::open(folder.file()).await.unwrap();
    store.create(key(), StateDelta::default()).await.unwrap();
    let long = "long ".repeat(300);
    store
        .append(&key(), (0..200).map(|n| stored(n, &long)).collect())
        .await
        .unwrap();
    drop(store);
    let size = std::fs::metadata(folder.file()).unwrap().len();
    let mut file = std::fs::OpenOptions::new()
        .write(true)
        .open(folder.file())
        .unwrap();
    // The middle of the file contains the events.
    file.seek(SeekFrom::Start(size / 3)).unwrap();
    file.write_all(&vec![0xa5; usize::try_from(size / 3).unwrap()])
        .unwrap();
    drop(file);
    let error = match SqliteStore::open(folder.file()).await {
        Err(error) => error,
        Ok(store) => store.read(&key(), &EventFilter::new()).await.unwrap_err(),
    };
    assert_eq!(kind(&error), StoreErrorKind::Corrupt, "{error}");
    assert!(
        error.to_string().contains(folder.file().to_str().unwrap()),
        "{error}"
    );
}

#[tokio::test]
async fn a_damaged_header_is_an_error_and_the_file_is_left_as_it_is() {
    for (at, bytes) in [
        (0, &[0; 100][..]),
        (16, &[0xff, 0xff]),
        (18, &[9, 9]),
        (100, &[0xa5; 60]),
    ] {
        let folder = Folder::new();
        let store = SqliteStore::open(folder.file()).await.unwrap();
        store.create(key(), StateDelta::default()).await.unwrap();
        drop(store);
        let mut file = std::fs::OpenOptions::new()
            .write(true)
            .open(folder.file())
            .unwrap();
        file.seek(SeekFrom::Start(at)).unwrap();
        file.write_all(bytes).unwrap();
        drop(file);
        let before = std::fs::read(folder.file()).unwrap();
        let error = SqliteStore::open(folder.file()).await.unwrap_err();
        assert!(
            matches!(
                kind(&error),
                StoreErrorKind::Corrupt | StoreErrorKind::ReadOnly
            ),
            "at {at}: {error}"
        );
        assert!(
            error.to_string().contains(folder.file().to_str().unwrap()),
            "{error}"
        );
        assert!(error.help().is_some() && !error.is_retryable(), "{error}");
        assert_eq!(std::fs::read(folder.file()).unwrap(), before, "at {at}");
    }
}

#[tokio::test]
async fn tables_of_another_version_are_refused() {
    let folder = Folder::new();
    let connection = Connection::open(folder.file()).unwrap();
    connection
        .execute_batch("CREATE TABLE sessions (id TEXT); CREATE TABLE events (id TEXT);")
        .unwrap();
    drop(connection);
    let error = SqliteStore::open(folder.file()).await.unwrap_err();
    assert_eq!(kind(&error), StoreErrorKind::Corrupt, "{error}");
    assert!(error.to_string().contains("version 1"), "{error}");
}

#[tokio::test]
async fn a_file_of_another_version_of_this_crate_is_refused() {
    let folder = Folder::new();
    drop(SqliteStore::open(folder.file()).await.unwrap());
    let connection = Connection::open(folder.file()).unwrap();
    connection
        .execute("UPDATE adkw_meta SET value = '2' WHERE key = 'version'", [])
        .unwrap();
    drop(connection);
    let error = SqliteStore::open(folder.file()).await.unwrap_err();
    assert_eq!(kind(&error), StoreErrorKind::Corrupt, "{error}");
    assert!(
        error.to_string().contains("version 2") && error.to_string().contains("version 10"),
        "{error}"
    );
    assert!(
        error.help().is_some_and(|help| help.contains("export")),
        "{error}"
    );
}

#[tokio::test]
async fn a_locked_database_is_an_error_after_the_timeout() {
    let folder = Folder::new();
    let options = Options::default().busy_timeout(Duration::from_millis(20));
    let store = SqliteStore::open_with(folder.file(), options)
        .await
        .unwrap();
    store.create(key(), StateDelta::default()).await.unwrap();
    let other = Connection::open(folder.file()).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let runner = runner(&store);
    let tree = Tree::new("w", vec![run(say("a"))]);
    let error = runner.session("u", "s").run(&tree, "go").await.unwrap_err();
    assert_eq!(kind(&error), StoreErrorKind::Locked, "{error}");
    assert!(error.is_retryable());
    // The failed attempt has no effect.
    other.execute_batch("ROLLBACK").unwrap();
    assert_eq!(len(&store).await, 0);
    runner.session("u", "s").run(&tree, "go").await.unwrap();
    assert_eq!(len(&store).await, 2);
}

#[tokio::test]
async fn runs_are_listed_while_another_program_holds_the_lock() {
    let folder = Folder::new();
    let options = Options::default().busy_timeout(Duration::from_millis(20));
    let store = SqliteStore::open_with(folder.file(), options)
        .await
        .unwrap();
    let tree = || Tree::new("w", vec![run(say("a")), run(say("b"))]);
    let builder = Runner::builder()
        .app_name("app")
        .session_store(store.clone())
        .engine(store.clone());
    let runner: Runner = builder.workflow::<Tree>(tree()).build().unwrap();
    let tree = tree();
    let mut stream = runner.session("u", "s").run(&tree, "go").stream();
    let id = stream.next().await.unwrap().unwrap().invocation_id;
    assert!(
        !store.runs("app", &RunFilter::unfinished()).await.unwrap()[0].is_ready,
        "it is driven"
    );
    let other = Connection::open(folder.file()).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    drop(stream);
    // The store knows that this process does not drive the run any more, although it cannot write
    // that.
    let listed = store.runs("app", &RunFilter::unfinished()).await.unwrap();
    assert_eq!(
        (listed.len(), listed[0].run_id, listed[0].is_ready),
        (1, id, true)
    );
    assert!(runner.waiting().await.unwrap().is_empty());
    // Recovery has to write. It reports the error for each run, and leaves the run unchanged.
    let recovered = runner.recover().await.unwrap();
    let error = recovered[0].result.as_ref().unwrap_err();
    assert_eq!(
        (recovered.len(), kind(error)),
        (1, StoreErrorKind::Locked),
        "{error}"
    );
    assert!(
        error.is_retryable()
            && error
                .help()
                .is_some_and(|help| help.contains("busy_timeout")),
        "{error}"
    );
    other.execute_batch("ROLLBACK").unwrap();
    let recovered = runner.recover().await.unwrap();
    assert!(
        recovered.len() == 1 && recovered[0].result.is_ok(),
        "{recovered:?}"
    );
    assert!(
        store
            .runs("app", &RunFilter::unfinished())
            .await
            .unwrap()
            .is_empty()
    );
    assert_eq!(len(&store).await, 3);
}

/// Other programs' writes before the lock are read, too.
#[tokio::test]
async fn a_locked_database_is_read() {
    let folder = Folder::new();
    let options = Options::default().busy_timeout(Duration::from_millis(20));
    let store = SqliteStore::open_with(folder.file(), options)
        .await
        .unwrap();
    store.create(key(), delta(json!({"k": 1}))).await.unwrap();
    store
        .append(&key(), (0..4).map(|n| stored(n, &n.to_string())).collect())
        .await
        .unwrap();
    // Another program appends two events like ADK, then keeps a transaction open.
    let other = Connection::open(folder.file()).unwrap();
    let add = |n: u64, time: &str| {
        let event = stored(n, &n.to_string());
        let row = "INSERT INTO events SELECT ?1, app_name, user_id, id, ?2, ?3, ?4 FROM sessions";
        let data = event.to_stored().unwrap();
        let values = [
            event.id.to_string(),
            event.invocation_id.to_string(),
            time.to_owned(),
            data,
        ];
        other
            .execute(row, rusqlite::params_from_iter(values))
            .unwrap();
        other
            .execute("UPDATE sessions SET update_time = ?1", [time])
            .unwrap();
    };
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let texts = async |filter: EventFilter| {
        let found = store.read(&key(), &filter).await.unwrap().unwrap();
        let texts: Vec<_> = found.events.iter().map(|event| event.text()).collect();
        (texts.join(" "), found.first, found.len)
    };
    let told = |texts: &str, first, len| (texts.to_owned(), first, len);
    assert_eq!(texts(EventFilter::new()).await, told("0 1 2 3", 0, 4));
    add(5, "2100-01-01 00:00:00.000005");
    add(4, "2100-01-01 00:00:00.000004");
    assert_eq!(texts(EventFilter::new()).await, told("0 1 2 3", 0, 4));
    other.execute_batch("COMMIT; BEGIN IMMEDIATE").unwrap();
    let since =
        |micros| EventFilter::new().since(std::time::UNIX_EPOCH + Duration::from_micros(micros));
    let last = 4_102_444_800_000_005;
    for open in [true, false] {
        if !open {
            other.execute_batch("ROLLBACK").unwrap();
        }
        assert_eq!(texts(EventFilter::new()).await, told("0 1 2 3 4 5", 0, 6));
        assert_eq!(texts(EventFilter::new().last(1)).await, told("5", 5, 6));
        assert_eq!(texts(EventFilter::new().last(3)).await, told("3 4 5", 3, 6));
        assert_eq!(texts(EventFilter::new().last(0)).await, told("", 6, 6));
        assert_eq!(
            texts(EventFilter::new().places(2..5)).await,
            told("2 3 4", 2, 6)
        );
        assert_eq!(
            texts(EventFilter::new().places(0..5).last(2)).await,
            told("3 4", 3, 6)
        );
        assert_eq!(texts(since(last)).await, told("5", 5, 6));
        assert_eq!(texts(since(last + 1)).await, told("", 6, 6));
        let list = store.list("app", None, "").await.unwrap();
        assert_eq!(
            (list.len(), list[0].len, state(&list[0])),
            (1, 6, json!({"k": 1}))
        );
    }
    let places = "SELECT count(*) FROM adkw_log";
    assert_eq!(
        other
            .query_row(places, [], |row| row.get::<_, u64>(0))
            .unwrap(),
        6,
        "they have their places"
    );
}

#[tokio::test]
async fn a_full_disk_ends_the_run_and_keeps_what_was_acknowledged() {
    let folder = Folder::new();
    let options = Options::default().max_bytes(400_000);
    let store = SqliteStore::open_with(folder.file(), options)
        .await
        .unwrap();
    let runner = runner(&store);
    let tree = Tree::new("w", vec![repeat("l", Some(100_000), vec![run(say("a"))])]);
    let mut stream = runner.session("u", "s").run(&tree, "go").stream();
    let mut seen = Vec::new();
    let error = loop {
        match stream.next().await.unwrap() {
            Ok(event) => seen.push(event.id),
            Err(error) => break error,
        }
    };
    assert_eq!(kind(&error), StoreErrorKind::Full, "{error}");
    assert!(
        error.to_string().contains(folder.file().to_str().unwrap()),
        "{error}"
    );
    assert!(seen.len() > 100, "{}", seen.len());
    drop(stream);
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
    drop((runner, store));
    // The disk has more space, so the store continues.
    let store = SqliteStore::open(folder.file()).await.unwrap();
    store.append(&key(), vec![stored(1, "more")]).await.unwrap();
    assert_eq!(len(&store).await, seen.len() + 1);
}

#[tokio::test]
async fn a_run_whose_end_cannot_be_written_is_not_driven_any_more() {
    let folder = Folder::new();
    let store = SqliteStore::open(folder.file()).await.unwrap();
    let runner = runner(&store);
    let asks = by("asks", |cx| {
        Box::pin(async move {
            cx.wait::<bool>("answer").await?;
            Ok(Flow::Continue)
        })
    });
    let tree = Tree::new("w", vec![run(say("says")), run(asks)]);
    // That the agent `says` has finished is recorded when the run pauses. Here, the record fails.
    let other = Connection::open(folder.file()).unwrap();
    let refuse = "CREATE TRIGGER refuse BEFORE INSERT ON adkw_done
        BEGIN SELECT RAISE(ABORT, 'refused'); END";
    other.execute_batch(refuse).unwrap();
    let mut stream = runner.session("u", "s").run(&tree, "go").stream();
    let id = stream.next().await.unwrap().unwrap().invocation_id;
    let error = loop {
        match stream.next().await.unwrap() {
            Ok(_) => {}
            Err(error) => break error,
        }
    };
    assert!(
        error.to_string().contains("refused") || error.to_string().contains("agent has finished"),
        "{error}"
    );
    drop(stream);
    other.execute_batch("DROP TRIGGER refuse").unwrap();
    let error = runner.resume(&tree, id).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Paused, "{error}");
}

#[tokio::test]
async fn a_run_whose_release_failed_can_be_claimed_after_a_failed_attempt() {
    let folder = Folder::new();
    let options = Options::default().busy_timeout(Duration::from_millis(20));
    let store = SqliteStore::open_with(folder.file(), options)
        .await
        .unwrap();
    let runner = runner(&store);
    let tree = Tree::new("w", vec![run(say("a")), run(say("b"))]);
    let mut stream = runner.session("u", "s").run(&tree, "go").stream();
    let id = stream.next().await.unwrap().unwrap().invocation_id;
    let other = Connection::open(folder.file()).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    // The release of the claim cannot be written.
    drop(stream);
    let error = runner
        .session("u", "other")
        .create(StateDelta::default())
        .await
        .unwrap_err();
    assert_eq!(kind(&error), StoreErrorKind::Locked, "{error}");
    other.execute_batch("ROLLBACK").unwrap();
    // The run can be claimed, but its journal cannot be read.
    let step = "INSERT INTO adkw_steps SELECT id, 'w/a:x@0', 'no JSON' FROM adkw_runs";
    other.execute(step, []).unwrap();
    for _ in 0..2 {
        let error = runner.resume(&tree, id).await.unwrap_err();
        assert_eq!(kind(&error), StoreErrorKind::Corrupt, "{error}");
    }
    other.execute("DELETE FROM adkw_steps", []).unwrap();
    runner.resume(&tree, id).await.unwrap();
    assert_eq!(len(&store).await, 3);
}

#[tokio::test]
async fn an_unreadable_row_is_an_error_of_its_own() {
    let deep = format!(r#"{{"n":{}{}}}"#, "[".repeat(200), "]".repeat(200));
    for value in [deep.as_bytes(), b"no JSON", b"{\"n\":\"\xff\"}", b"[1]"] {
        for broken in [Broken::Session, Broken::Event, Broken::User, Broken::App] {
            let folder = Folder::new();
            let break_row = async || {
                let other = Connection::open(folder.file()).unwrap();
                let sql = match broken {
                    Broken::Session => {
                        "UPDATE sessions SET state = CAST(?1 AS TEXT) WHERE id = 'bad'"
                    }
                    Broken::Event => {
                        "UPDATE events SET event_data = CAST(?1 AS TEXT)
                         WHERE id LIKE '%2' AND session_id = 'bad'"
                    }
                    Broken::User => {
                        "UPDATE user_states SET state = CAST(?1 AS TEXT)
                         WHERE app_name = 'broken' AND user_id = 'u'"
                    }
                    Broken::App => {
                        "UPDATE app_states SET state = CAST(?1 AS TEXT) WHERE app_name = 'broken'"
                    }
                };
                assert_eq!(other.execute(sql, [value]).unwrap(), 1, "{broken:?}");
            };
            sessions::unreadable_rows_are_reported(&folder, broken, break_row).await;
        }
    }
}

/// The lock outlasts the file's `busy_timeout` in the middle of runs. No run fails, and a watch of
/// this process or of another one resumes them.
#[tokio::test]
async fn a_long_lock_fails_no_run() {
    for by_another in [false, true] {
        let folder = Folder::new();
        let options = Options::default().busy_timeout(Duration::from_millis(20));
        let store = SqliteStore::open_with(folder.file(), options)
            .await
            .unwrap();
        let tree = || Tree::new("w", vec![run(say("a")), run(say("b"))]);
        let knows = |store: &SqliteStore| -> Runner {
            let builder = Runner::builder()
                .app_name("app")
                .session_store(store.clone())
                .engine(store.clone());
            builder.workflow::<Tree>(tree()).build().unwrap()
        };
        let (first, workflow) = (knows(&store), tree());
        let mut stream = first.session("u", "s").run(&workflow, "go").stream();
        stream.next().await.unwrap().unwrap();
        let other = Connection::open(folder.file()).unwrap();
        other.execute_batch("BEGIN IMMEDIATE").unwrap();
        let error = stream.next().await.unwrap().unwrap_err();
        assert_eq!(kind(&error), StoreErrorKind::Locked, "{error}");
        drop(stream);
        let left = &first.runs(&RunFilter::any()).await.unwrap()[0];
        assert_eq!((&left.status, left.is_ready), (&RunStatus::Running, true));
        if by_another {
            other.execute_batch("ROLLBACK").unwrap();
            // The first process is alive, and writes the release as soon as it can.
            let second = knows(&SqliteStore::open(folder.file()).await.unwrap());
            while second.runs(&RunFilter::ready()).await.unwrap().is_empty() {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
            assert!(second.recover().await.unwrap()[0].result.is_ok());
        } else {
            let (told, mut ended) = tokio::sync::mpsc::unbounded_channel();
            let watch = first
                .watch()
                .every(Duration::from_millis(10))
                .inspect(move |run| drop(told.send(run)));
            let watch = tokio::spawn(watch.into_future());
            let locked = ended.recv().await.unwrap().result.unwrap_err();
            assert_eq!(kind(&locked), StoreErrorKind::Locked, "{locked}");
            other.execute_batch("ROLLBACK").unwrap();
            while ended.recv().await.unwrap().result.is_err() {}
            watch.abort();
        }
        let ended = &first.runs(&RunFilter::any()).await.unwrap()[0];
        assert_eq!(ended.status, RunStatus::Finished);
        assert_eq!(len(&store).await, 3);
    }
}
