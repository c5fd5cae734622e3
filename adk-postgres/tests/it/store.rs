//! Sessions in the tables of [`PostgresStore`].

use crate::support::{Database, quick};
use adk_build::session::{EventFilter, SessionKey, SessionStore};
use adk_build::{ErrorKind, StoreErrorKind};
use adk_postgres::PostgresStore;
use adk_store_kit::sessions::{delta, stored};
use serde_json::json;

async fn open(database: &Database) -> PostgresStore {
    PostgresStore::connect_with(&database.url, quick())
        .await
        .unwrap()
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
