//! Sessions in the tables of [`SqliteStore`].

use crate::support::Folder;
use adk_build::engine::{RunFilter, RunRegistry as _};
use adk_build::session::{EventFilter, PAGE, SessionKey, SessionStore};
use adk_build::{ErrorKind, Flow, Runner};
use adk_sqlite::SqliteStore;
use adk_store_kit::sessions::{delta, stored};
use adk_store_kit::trees::{Tree, by, repeat, run, say};
use serde_json::json;

/// The closed store leaves neither a lock file nor a write-ahead log.
#[tokio::test]
async fn a_closed_store_is_one_file() {
    let folder = Folder::new();
    let key = SessionKey::new("a", "u", "s");
    let sqlite = SqliteStore::open(folder.file()).await.unwrap();
    sqlite.create(key.clone(), delta(json!({}))).await.unwrap();
    sqlite.append(&key, vec![stored(1, "1")]).await.unwrap();
    let session = sqlite.get(&key).await.unwrap().unwrap();
    session.load_newest(1).await.unwrap();
    drop((session, sqlite));
    assert_eq!(folder.names(), ["agents.db"]);
}

#[tokio::test]
async fn opening_a_session_loads_no_event() {
    let folder = Folder::new();
    let key = SessionKey::new("a", "u", "s");
    let sqlite = SqliteStore::open(folder.file()).await.unwrap();
    sqlite.create(key.clone(), delta(json!({}))).await.unwrap();
    sqlite.append(&key, vec![stored(1, "1")]).await.unwrap();
    let session = sqlite.get(&key).await.unwrap().unwrap();
    assert_eq!((session.len(), session.events().count()), (1, 0));
    assert!(!session.is_loaded());
}

/// Returns statements that move rows between the log and its tail.
fn move_rows(from: &str, to: &str, which: &str) -> String {
    let columns = "session, place, event_id, micros, run, slot, temp, done";
    format!(
        "INSERT INTO {to} ({columns}) SELECT {columns} FROM {from} WHERE {which};
         DELETE FROM {from} WHERE {which};"
    )
}

#[tokio::test]
async fn the_log_stays_in_order_when_its_tail_moves() {
    let folder = Folder::new();
    let sqlite = SqliteStore::open(folder.file()).await.unwrap();
    let runner: Runner = Runner::builder()
        .app_name("a")
        .session_store(sqlite.clone())
        .engine(sqlite.clone())
        .build()
        .unwrap();
    let tree = Tree::new("w", vec![repeat("l", Some(150), vec![run(say("says"))])]);
    let ids = ["one", "two", "three"];
    let seen = async |id: &str| -> Vec<_> {
        let mut seen = Vec::new();
        let mut stream = runner.session("u", id).run(&tree, "go").stream();
        while let Some(event) = stream.next().await {
            seen.push(event.unwrap().id);
        }
        seen
    };
    let (one, two, three) = tokio::join!(seen(ids[0]), seen(ids[1]), seen(ids[2]));
    let connection = rusqlite::Connection::open(folder.file()).unwrap();
    let count = |table: &str| {
        connection
            .query_row(&format!("SELECT count(*) FROM {table}"), [], |row| {
                row.get::<_, usize>(0)
            })
            .unwrap()
    };
    let (log, tail) = (count("adkw_log"), count("adkw_tail"));
    let all = one.len() + two.len() + three.len();
    assert_eq!(log + tail, all);
    drop((runner, sqlite));
    connection
        .execute_batch(&move_rows("adkw_tail", "adkw_log", "true"))
        .unwrap();
    connection
        .execute_batch(&move_rows("adkw_log", "adkw_tail", "place >= 100"))
        .unwrap();
    let sqlite = SqliteStore::open(folder.file()).await.unwrap();
    for (id, seen) in ids.into_iter().zip([one, two, three]) {
        let key = SessionKey::new("a", "u", id);
        let ids_of = async |filter: &EventFilter| -> Vec<_> {
            let found = sqlite.read(&key, filter).await.unwrap().unwrap();
            assert_eq!(found.len, seen.len());
            found.events.iter().map(|event| event.id).collect()
        };
        assert_eq!(ids_of(&EventFilter::new()).await, seen);
        for last in [1, 100, seen.len()] {
            assert_eq!(
                ids_of(&EventFilter::new().last(last)).await,
                seen[seen.len() - last..]
            );
        }
        assert_eq!(
            ids_of(&EventFilter::new().places(3..seen.len() - 3)).await,
            seen[3..seen.len() - 3]
        );
    }
    // `list` counts the events of log and tail, also without a tail.
    let lens = async || -> Vec<_> {
        sqlite
            .list("a", None, "")
            .await
            .unwrap()
            .iter()
            .map(|session| session.len)
            .collect()
    };
    let before = lens().await;
    assert_eq!(before, [all / 3; 3]);
    connection
        .execute_batch(&move_rows("adkw_tail", "adkw_log", "true"))
        .unwrap();
    assert_eq!((count("adkw_tail"), lens().await), (0, before));
}

#[tokio::test]
async fn opening_a_store_removes_lock_files_of_ended_processes() {
    let folder = Folder::new();
    let first = SqliteStore::open(folder.file()).await.unwrap();
    let runner: Runner = Runner::builder()
        .app_name("a")
        .session_store(first.clone())
        .engine(first.clone())
        .build()
        .unwrap();
    let tree = Tree::new("w", vec![run(say("says"))]);
    let mut stream = runner.session("u", "s").run(&tree, "go").stream();
    stream.next().await.unwrap().unwrap();
    // Two processes were killed, and only one of them drove a run.
    let connection = rusqlite::Connection::open(folder.file()).unwrap();
    connection
        .execute("UPDATE adkw_runs SET owner = '1-drove'", [])
        .unwrap();
    for name in ["1-drove", "2-did-not"] {
        std::fs::write(format!("{}-owner-{name}", folder.file().display()), "").unwrap();
    }
    let owners = || -> Vec<String> {
        let names = folder.names().into_iter();
        names
            .filter_map(|name| name.strip_prefix("agents.db-owner-").map(str::to_owned))
            .collect()
    };
    let own = owners()
        .into_iter()
        .find(|name| !name.starts_with("1-") && !name.starts_with("2-"))
        .unwrap();
    let second = SqliteStore::open(folder.file()).await.unwrap();
    let there = owners();
    assert!(there.contains(&own), "it lives: {there:?}");
    assert!(
        there.contains(&"1-drove".to_owned()),
        "the next claim of its run checks it: {there:?}"
    );
    assert_eq!(there.len(), 3, "{there:?}");
    // The run of the killed process is free.
    assert!(second.runs("a", &RunFilter::unfinished()).await.unwrap()[0].is_ready);
    assert_eq!(owners().len(), 2);
}

/// Foreign keys are off for the writing connection, so the store has to delete dependent rows.
#[tokio::test]
async fn deleting_a_session_deletes_all_its_rows() {
    let folder = Folder::new();
    let sqlite = SqliteStore::open(folder.file()).await.unwrap();
    let runner: Runner = Runner::builder()
        .app_name("a")
        .session_store(sqlite.clone())
        .engine(sqlite.clone())
        .build()
        .unwrap();
    let waits = by("waits", |cx| {
        Box::pin(async move {
            cx.step("call", async { Ok(1) }).await?;
            cx.wait::<bool>("answer").await?;
            Ok(Flow::Continue)
        })
    });
    let tree = Tree::new("w", vec![run(say("says")), run(waits)]);
    for id in ["gone", "kept"] {
        let error = runner.session("u", id).run(&tree, "go").await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Paused);
    }
    let connection = rusqlite::Connection::open(folder.file()).unwrap();
    // Put some rows into the log, and some into its tail.
    connection
        .execute_batch(&move_rows("adkw_log", "adkw_tail", "place > 0"))
        .unwrap();
    let count = |table: &str| {
        connection
            .query_row(&format!("SELECT count(*) FROM {table}"), [], |row| {
                row.get::<_, i64>(0)
            })
            .unwrap()
    };
    let tables = [
        "sessions",
        "events",
        "adkw_sessions",
        "adkw_log",
        "adkw_tail",
        "adkw_runs",
        "adkw_steps",
        "adkw_done",
        "adkw_waits",
    ];
    let before = tables.map(count);
    assert!(
        before.iter().all(|rows| *rows > 0 && rows % 2 == 0),
        "{before:?}"
    );
    assert!(
        sqlite
            .delete(&SessionKey::new("a", "u", "gone"))
            .await
            .unwrap()
    );
    assert_eq!(tables.map(count), before.map(|rows| rows / 2));
    assert!(
        !sqlite
            .delete(&SessionKey::new("a", "u", "gone"))
            .await
            .unwrap()
    );
}

#[tokio::test]
async fn a_resumed_run_reads_only_its_own_events() {
    let folder = Folder::new();
    let key = SessionKey::new("a", "u", "s");
    let sqlite = SqliteStore::open(folder.file()).await.unwrap();
    sqlite.create(key.clone(), delta(json!({}))).await.unwrap();
    let many = 20 * PAGE;
    sqlite
        .append(
            &key,
            (0..many as u64)
                .map(|n| stored(n, &n.to_string()))
                .collect(),
        )
        .await
        .unwrap();
    let asks = by("asks", |cx| {
        Box::pin(async move {
            let seen: Vec<_> = cx.history().iter().map(|event| event.text()).collect();
            assert_eq!(seen, ["go", "says"]);
            cx.wait::<bool>("answer").await?;
            Ok(Flow::Continue)
        })
    });
    let tree = Tree::new("w", vec![run(say("says")), run(asks)]);
    let runner = |store: &SqliteStore| -> Runner {
        Runner::builder()
            .app_name("a")
            .session_store(store.clone())
            .engine(store.clone())
            .build()
            .unwrap()
    };
    runner(&sqlite)
        .session("u", "s")
        .run(&tree, "go")
        .await
        .unwrap_err();
    // Later events belong to no run.
    let later = (0..many as u64).map(|n| stored(many as u64 + n, "later"));
    sqlite.append(&key, later.collect()).await.unwrap();
    drop(sqlite);
    let sqlite = SqliteStore::open(folder.file()).await.unwrap();
    let session = sqlite.get(&key).await.unwrap().unwrap();
    let loaded = || session.events().count();
    let runner = runner(&sqlite);
    let [waiting] = &runner.waiting().await.unwrap()[..] else {
        panic!("one waits")
    };
    runner.answer(&waiting.id, true).await.unwrap();
    runner.resume(&tree, waiting.run_id).await.unwrap();
    assert_eq!((session.len(), loaded()), (2 * many + 2, 2));
    // The session can still load all events.
    session.load(0..session.len()).await.unwrap();
    assert_eq!(loaded(), session.len());
}
