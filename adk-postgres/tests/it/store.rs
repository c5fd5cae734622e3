//! The common tests of session stores for [`PostgresStore`], repeated after the database is
//! reopened.

use crate::support::{Database, quick};
use crate::trees::store::{self, delta, state, stored};
use adk_build::session::{EventFilter, PAGE, SessionKey, SessionStore};
use adk_build::{ErrorKind, StoreErrorKind};
use adk_postgres::PostgresStore;
use serde_json::json;
use std::sync::Arc;

async fn open(database: &Database) -> PostgresStore {
    PostgresStore::connect_with(&database.url, quick())
        .await
        .unwrap()
}

#[tokio::test]
#[ignore = "needs Postgres: tests/peers/run-postgres.sh"]
async fn the_common_tests_of_session_stores_pass() {
    let database = Database::new().await;
    let postgres = open(&database).await;
    store::scopes(&postgres).await;
    store::keys(&postgres).await;
    store::events(&postgres).await;
    store::lists(&postgres).await;
    store::transfer(&postgres).await;
    store::ids(&postgres).await;
}

#[test]
#[ignore = "needs Postgres: tests/peers/run-postgres.sh"]
fn values_that_are_nested_too_deeply_are_rejected() {
    store::with_room(async || {
        let database = Database::new().await;
        store::depth(&open(&database).await).await;
    });
}

#[tokio::test]
#[ignore = "needs Postgres: tests/peers/run-postgres.sh"]
async fn data_survives_a_reopened_store() {
    let database = Database::new().await;
    let key = SessionKey::new("a", "u", "s");
    let postgres = open(&database).await;
    postgres
        .create(
            key.clone(),
            delta(json!({"k": null, "user:n": "Ann", "app:v": [1]})),
        )
        .await
        .unwrap();
    let events: Vec<_> = (0..3).map(|n| stored(n, &n.to_string())).collect();
    postgres.append(&key, events.clone()).await.unwrap();
    postgres.shut_down().await.unwrap();
    let postgres = open(&database).await;
    let found = postgres
        .read(&key, &EventFilter::new())
        .await
        .unwrap()
        .unwrap();
    assert_eq!(
        state(&found),
        json!({"k": null, "user:n": "Ann", "app:v": [1]})
    );
    assert!(found.events.iter().map(|event| &**event).eq(&events));
    let session = postgres.get(&key).await.unwrap().unwrap();
    assert_eq!(session.get("app:v").as_deref(), Some(&json!([1])));
    session.load(0..3).await.unwrap();
    assert_eq!(
        session.event(2).map(|event| event.text()).as_deref(),
        Some("2")
    );
}

/// The tables are new and have no statistics. Even so, the server does not scan the session for
/// each event of a page.
#[tokio::test]
#[ignore = "needs Postgres: tests/peers/run-postgres.sh"]
async fn a_page_of_a_new_session_is_read_by_the_ids_of_its_events() {
    let database = Database::new().await;
    let key = SessionKey::new("a", "u", "s");
    let postgres = open(&database).await;
    for table in ["events", "adkw_log"] {
        database
            .execute(&format!(
                "ALTER TABLE {table} SET (autovacuum_enabled = off)"
            ))
            .await;
    }
    postgres
        .create(key.clone(), delta(json!({})))
        .await
        .unwrap();
    postgres
        .append(&key, (0..2_000).map(|n| stored(n, "text")).collect())
        .await
        .unwrap();
    let page = postgres
        .read(&key, &EventFilter::new().places(1_000..1_100))
        .await
        .unwrap()
        .unwrap();
    assert_eq!(page.events.len(), 100);
    // A connection reports its statistics at the latest when it ends.
    postgres.shut_down().await.unwrap();
    let ask = async |sql: &'static str| -> i64 {
        sqlx::query_scalar(sql)
            .fetch_one(&mut database.connect().await)
            .await
            .unwrap()
    };
    let others = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()
        AND backend_type = 'client backend' AND pid <> pg_backend_pid()";
    while ask(others).await > 0 {
        tokio::task::yield_now().await;
    }
    let read =
        "SELECT sum(idx_tup_read)::bigint FROM pg_stat_user_indexes WHERE relname = 'events'";
    let read = ask(read).await;
    assert!(
        (100..20_000).contains(&read),
        "{read} entries of indexes were read for 100 events"
    );
}

/// `jsonb` sorts keys and rejects NUL, but a prompt renders a value with its keys in the order in
/// which they were written.
#[tokio::test]
#[ignore = "needs Postgres: tests/peers/run-postgres.sh"]
async fn a_value_is_read_back_unchanged() {
    let database = Database::new().await;
    let key = SessionKey::new("a", "u", "s");
    let values = json!({
        "bb": {"z": 1, "a": [{"y": "x\u{0}", "b": -0.0}]},
        "n": 1e16,
        "m": [1.0, 1e300, 5e-324]
    });
    let both = json!({"own": values, "user:v": values, "app:v": values});
    let postgres = open(&database).await;
    postgres.create(key.clone(), delta(both)).await.unwrap();
    let mut event = stored(1, "x\u{0}y");
    event.actions.state_delta = delta(json!({"later": values, "user:later": values}));
    postgres.append(&key, vec![event.clone()]).await.unwrap();
    postgres.shut_down().await.unwrap();

    let postgres = open(&database).await;
    let found = postgres
        .read(&key, &EventFilter::new())
        .await
        .unwrap()
        .unwrap();
    for name in ["own", "user:v", "app:v", "later", "user:later"] {
        assert_eq!(found.state[name].to_string(), values.to_string(), "{name}");
    }
    assert_eq!(
        found.events[0].to_stored().unwrap(),
        event.to_stored().unwrap()
    );
    // Another program writes a key: its value counts, in the order of `jsonb`.
    database
        .execute(r#"UPDATE sessions SET state = state || '{"own": {"q": 1, "c": 2}}'"#)
        .await;
    let found = postgres
        .read(&key, &EventFilter::new())
        .await
        .unwrap()
        .unwrap();
    assert_eq!(found.state["own"].to_string(), r#"{"c":2,"q":1}"#);
    // A value whose keys are in the order of `jsonb` needs no exact text any more.
    postgres
        .append(
            &key,
            vec![stored(2, "z").with_state("later", json!({"bb": 1, "a": 2}))],
        )
        .await
        .unwrap();
    let again = json!({"a": 2, "bb": 1});
    postgres
        .append(
            &key,
            vec![stored(3, "z").with_state("later", again.clone())],
        )
        .await
        .unwrap();
    let found = postgres
        .read(&key, &EventFilter::new())
        .await
        .unwrap()
        .unwrap();
    assert_eq!(found.state["later"].to_string(), again.to_string());
    // The name of a key cannot contain NUL.
    let error = postgres
        .append(&key, vec![stored(4, "z").with_state("a\u{0}", 1)])
        .await
        .unwrap_err();
    assert_eq!(
        error.kind(),
        ErrorKind::Store(StoreErrorKind::Other),
        "{error}"
    );
}

#[tokio::test]
#[ignore = "needs Postgres: tests/peers/run-postgres.sh"]
async fn an_open_session_is_shared_and_loads_events_on_request() {
    let database = Database::new().await;
    let key = SessionKey::new("a", "u", "s");
    let postgres = open(&database).await;
    postgres
        .create(key.clone(), delta(json!({})))
        .await
        .unwrap();
    let many = 4 * PAGE + 10;
    postgres
        .append(
            &key,
            (0..many as u64)
                .map(|n| stored(n, &n.to_string()))
                .collect(),
        )
        .await
        .unwrap();
    let session = postgres.get(&key).await.unwrap().unwrap();
    assert!(Arc::ptr_eq(
        &session,
        &postgres.get(&key).await.unwrap().unwrap()
    ));
    assert_eq!(
        (session.len(), session.events().count(), session.is_loaded()),
        (many, 0, false)
    );
    session.load(0..1).await.unwrap();
    session.load_newest(2).await.unwrap();
    let loaded = session
        .events()
        .map(|event| event.text())
        .collect::<Vec<_>>();
    assert_eq!(loaded, [0, many - 2, many - 1].map(|n| n.to_string()));
    // Events that this process or another one appends reach the open session.
    postgres
        .append(&key, vec![stored(many as u64, "new").with_state("k", 1)])
        .await
        .unwrap();
    assert_eq!(session.event(many).unwrap().text(), "new");
    assert_eq!(session.get("k").as_deref(), Some(&json!(1)));
    let other = open(&database).await;
    other
        .append(
            &key,
            vec![stored(many as u64 + 1, "newer").with_state("user:k", 2)],
        )
        .await
        .unwrap();
    assert!(Arc::ptr_eq(
        &session,
        &postgres.get(&key).await.unwrap().unwrap()
    ));
    assert_eq!(session.event(many + 1).unwrap().text(), "newer");
    assert_eq!(session.get("user:k").as_deref(), Some(&json!(2)));
    session.load(0..session.len()).await.unwrap();
    assert!(
        session
            .events()
            .take(many)
            .enumerate()
            .all(|(n, event)| event.text() == n.to_string())
    );
}
