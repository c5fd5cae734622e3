//! The store does what every session store does, also when it is opened again.

#![allow(clippy::unwrap_used, reason = "a test fails by a panic")]

#[path = "../../adk-core/tests/support/mod.rs"]
mod trees;

mod support;

use adk_core::session::{EventFilter, PAGE, SessionKey, SessionStore};
use adk_core::{ErrorKind, Flow, Runner};
use adk_sqlite::SqliteStore;
use serde_json::json;
use support::Folder;
use trees::store::{self, delta, state, stored};
use trees::{Tree, by, run, say};

#[tokio::test]
async fn it_does_what_every_store_does() {
    let folder = Folder::new();
    let sqlite = SqliteStore::open(folder.file()).await.unwrap();
    store::scopes(&sqlite).await;
    store::keys(&sqlite).await;
    store::events(&sqlite).await;
    store::lists(&sqlite).await;
    store::transfer(&sqlite).await;
}

#[tokio::test]
async fn what_was_written_is_there_when_it_is_opened_again() {
    let folder = Folder::new();
    let key = SessionKey::new("a", "u", "s");
    let sqlite = SqliteStore::open(folder.file()).await.unwrap();
    sqlite.create(key.clone(), delta(json!({"k": null, "user:n": "Ann", "app:v": [1]}))).await.unwrap();
    let events: Vec<_> = (0..3).map(|n| stored(n, &n.to_string())).collect();
    sqlite.append(&key, events.clone()).await.unwrap();
    drop(sqlite);
    let sqlite = SqliteStore::open(folder.file()).await.unwrap();
    let found = sqlite.read(&key, &EventFilter::new()).await.unwrap().unwrap();
    assert_eq!(state(&found), json!({"k": null, "user:n": "Ann", "app:v": [1]}));
    assert!(found.events.iter().map(|event| &**event).eq(&events));
    let session = sqlite.get(&key).await.unwrap().unwrap();
    assert_eq!(session.get("app:v").as_deref(), Some(&json!([1])));
    assert_eq!(session.event(2).map(|event| event.text()).as_deref(), Some("2"));
    // No lock of an owner is left behind, and nothing of the journal.
    drop((session, sqlite));
    let left: Vec<_> = folder.names();
    assert_eq!(left, ["agents.db"]);
}

#[tokio::test]
async fn a_session_is_open_once_and_loaded_by_the_page() {
    let folder = Folder::new();
    let key = SessionKey::new("a", "u", "s");
    let sqlite = SqliteStore::open(folder.file()).await.unwrap();
    sqlite.create(key.clone(), delta(json!({}))).await.unwrap();
    let many = 4 * PAGE + 10;
    sqlite.append(&key, (0..many as u64).map(|n| stored(n, &n.to_string())).collect()).await.unwrap();
    let session = sqlite.get(&key).await.unwrap().unwrap();
    assert!(std::sync::Arc::ptr_eq(&session, &sqlite.get(&key).await.unwrap().unwrap()));
    assert_eq!((session.len(), session.event(many - 1).is_some()), (many, true));
    assert!(session.event(0).is_none() && !session.is_loaded());
    session.load(0..1).await.unwrap();
    assert!(session.event(0).is_some() && session.event(PAGE).is_none());
    // What is appended beside it is in it.
    sqlite.append(&key, vec![stored(many as u64, "new").with_state("k", 1)]).await.unwrap();
    assert_eq!(session.event(many).unwrap().text(), "new");
    assert_eq!(session.get("k").as_deref(), Some(&json!(1)));
    session.load(0..session.len()).await.unwrap();
    assert!(session.events().take(many).enumerate().all(|(n, event)| event.text() == n.to_string()));
}

/// Foreign keys are off on the connection that writes.
#[tokio::test]
async fn nothing_is_left_of_a_session_that_was_deleted() {
    let folder = Folder::new();
    let sqlite = SqliteStore::open(folder.file()).await.unwrap();
    let runner: Runner =
        Runner::builder().app_name("a").session_store(sqlite.clone()).engine(sqlite.clone()).build().unwrap();
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
    let count = |table: &str| {
        connection
            .query_row(&format!("SELECT count(*) FROM {table}"), [], |row| row.get::<_, i64>(0))
            .unwrap()
    };
    let tables = [
        "sessions",
        "events",
        "adkw_sessions",
        "adkw_log",
        "adkw_runs",
        "adkw_steps",
        "adkw_done",
        "adkw_waits",
    ];
    let before = tables.map(count);
    assert!(before.iter().all(|rows| *rows > 0 && rows % 2 == 0), "{before:?}");
    assert!(sqlite.delete(&SessionKey::new("a", "u", "gone")).await.unwrap());
    assert_eq!(tables.map(count), before.map(|rows| rows / 2));
    assert!(!sqlite.delete(&SessionKey::new("a", "u", "gone")).await.unwrap());
}

#[tokio::test]
async fn a_run_that_is_taken_up_again_does_not_read_the_whole_session() {
    let folder = Folder::new();
    let key = SessionKey::new("a", "u", "s");
    let sqlite = SqliteStore::open(folder.file()).await.unwrap();
    sqlite.create(key.clone(), delta(json!({}))).await.unwrap();
    let many = 20 * PAGE;
    sqlite.append(&key, (0..many as u64).map(|n| stored(n, &n.to_string())).collect()).await.unwrap();
    let asks = by("asks", |cx| {
        Box::pin(async move {
            // What was said before the run, as far as it is in memory: no more than where it began.
            let seen = cx.history().iter().filter(|event| event.author != "user").count();
            assert!(seen > 0, "the end of the log is there");
            cx.wait::<bool>("answer").await?;
            Ok(Flow::Continue)
        })
    });
    let tree = Tree::new("w", vec![run(say("says")), run(asks)]);
    let runner = |store: &SqliteStore| -> Runner {
        Runner::builder().app_name("a").session_store(store.clone()).engine(store.clone()).build().unwrap()
    };
    runner(&sqlite).session("u", "s").run(&tree, "go").await.unwrap_err();
    drop(sqlite);
    let sqlite = SqliteStore::open(folder.file()).await.unwrap();
    let session = sqlite.get(&key).await.unwrap().unwrap();
    let loaded = || (0..session.len()).filter(|place| session.event(*place).is_some()).count();
    let runner = runner(&sqlite);
    let [waiting] = &runner.waiting().await.unwrap()[..] else { panic!("one waits") };
    runner.answer(&waiting.id, true).await.unwrap();
    runner.resume(&tree, waiting.run_id).await.unwrap();
    assert_eq!(session.len(), many + 2);
    assert!(loaded() <= 3 * PAGE, "{} of {} events were read", loaded(), session.len());
    // And all of it can be had.
    session.load(0..session.len()).await.unwrap();
    assert_eq!(loaded(), many + 2);
}
