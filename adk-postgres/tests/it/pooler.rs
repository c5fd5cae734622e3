//! Tests through PgBouncer in transaction mode, which may use another server connection for each
//! transaction.
//!
//! Run by
//! `tests/peers/run-postgres.sh tests/peers/run-pgbouncer.sh cargo test -p adk-workflow-postgres --
//! --ignored pooler`.

use crate::broken::round_trips;
use crate::starts;
use crate::support::{Database, quick};
use adk_build::session::SessionStore;
use adk_build::{StateDelta, StoreErrorKind};
use adk_postgres::PostgresStore;
use adk_store_kit::Place;
use adk_store_kit::place::{key, kind, runner};
use adk_store_kit::trees::{Tree, run, say};
use std::time::Duration;

/// Returns the URL of a database through the pooler.
fn pooled(database: &Database) -> String {
    let pooler = std::env::var("ADK_PGBOUNCER").expect("start it by tests/peers/run-pgbouncer.sh");
    let (pooler, _) = pooler.rsplit_once('/').unwrap();
    format!("{pooler}/{}", database.name)
}

/// A database that is reached through the pooler.
struct Pooled(Database);

impl Place for Pooled {
    type Store = PostgresStore;

    async fn new() -> Self {
        Self(Database::new().await)
    }

    async fn open(&self) -> PostgresStore {
        PostgresStore::connect_with(&pooled(&self.0), quick())
            .await
            .unwrap()
    }

    fn address(&self) -> String {
        self.0.address()
    }

    fn at(address: &str) -> Self {
        Self(Database::at(address))
    }

    fn time_to_kill(&self) -> Duration {
        self.0.time_to_kill()
    }

    async fn has_event(&self, id: &str) -> Option<bool> {
        self.0.has_event(id).await
    }
}

adk_store_kit::promises! {
    #[ignore = "needs PgBouncer: tests/peers/run-pgbouncer.sh"]
    Pooled: sessions, artifacts, memory, runs, kills
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs PgBouncer: tests/peers/run-pgbouncer.sh"]
async fn first_starts_at_the_same_moment_make_the_tables_once() {
    starts::together(&pooled(&Database::new().await)).await;
}

/// An event takes the round trips begin, parse, execute and commit, as `docs/scaling.md` states.
#[tokio::test]
#[ignore = "needs PgBouncer: tests/peers/run-pgbouncer.sh"]
async fn an_event_is_four_round_trips_and_so_is_a_step() {
    let (few, many) = (
        round_trips(20, pooled).await,
        round_trips(120, pooled).await,
    );
    // The counts of two runs may differ by a few round trips, for example on a busy machine.
    assert!(
        (795..=820).contains(&(many - few)),
        "{few} for 20 rounds, {many} for 120"
    );
}

/// A pooler loses the settings of a connection, so each transaction sets its own.
#[tokio::test]
#[ignore = "needs PgBouncer: tests/peers/run-pgbouncer.sh"]
async fn a_lock_is_an_error_after_the_timeout() {
    let database = Pooled::new().await;
    let options = quick().patience(Duration::from_secs(1));
    let store = PostgresStore::connect_with(&pooled(&database.0), options)
        .await
        .unwrap();
    store.create(key(), StateDelta::default()).await.unwrap();
    let mut holder = database.0.connect().await;
    sqlx::raw_sql("BEGIN; SELECT 1 FROM sessions FOR UPDATE")
        .execute(&mut holder)
        .await
        .unwrap();
    let tree = Tree::new("w", vec![run(say("a"))]);
    let runner = runner(&store);
    let work = async { runner.session("u", "s").run(&tree, "go").await };
    let ended = tokio::time::timeout(Duration::from_secs(60), work)
        .await
        .expect("it does not hang");
    assert_eq!(kind(&ended.unwrap_err()), StoreErrorKind::Locked);
    sqlx::raw_sql("ROLLBACK")
        .execute(&mut holder)
        .await
        .unwrap();
    runner.session("u", "s").run(&tree, "go").await.unwrap();
}
