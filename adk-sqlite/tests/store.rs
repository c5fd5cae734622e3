//! The store does what every session store does, also when it is opened again.

#![allow(clippy::unwrap_used, reason = "a test fails by a panic")]

#[path = "../../adk-core/tests/support/store.rs"]
mod store;
mod support;

use adk_core::session::{EventFilter, PAGE, SessionKey, SessionStore};
use adk_sqlite::SqliteStore;
use serde_json::json;
use store::{delta, state, stored};
use support::Folder;

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
