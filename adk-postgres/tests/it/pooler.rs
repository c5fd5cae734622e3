//! Tests through PgBouncer in transaction mode, which may use another server connection for each
//! transaction.
//!
//! Run by
//! `tests/peers/run-postgres.sh tests/peers/run-pgbouncer.sh cargo test -p adk-workflow-postgres --
//! --ignored pooler`.

use crate::broken::round_trips;
use crate::starts;
use crate::support::{Database, quick};
use crate::trees::artifacts::{self, Stores};
use crate::trees::memory::{self, Remembering};
use crate::trees::store;
use crate::trees::survival::{self, Place, kind};
use crate::trees::{Tree, killed, run, say};
use adk_build::session::SessionStore;
use adk_build::{StateDelta, StoreErrorKind};
use adk_postgres::PostgresStore;
use std::time::Duration;

/// Returns the URL of a database through the pooler.
fn pooled(database: &Database) -> String {
    let pooler = std::env::var("ADK_PGBOUNCER").expect("start it by tests/peers/run-pgbouncer.sh");
    let (pooler, _) = pooler.rsplit_once('/').unwrap();
    format!("{pooler}/{}", database.name)
}

/// A database that is reached through the pooler.
struct Pooled(Database);

impl Pooled {
    async fn new() -> Self {
        Self(Database::new().await)
    }
}

impl Place for Pooled {
    type Store = PostgresStore;

    async fn open(&self) -> PostgresStore {
        PostgresStore::connect_with(&self.address(), quick())
            .await
            .unwrap()
    }

    fn address(&self) -> String {
        pooled(&self.0)
    }

    fn peace(&self) -> u64 {
        self.0.peace()
    }

    async fn has(&self, id: &str) -> bool {
        self.0.has(id).await
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs PgBouncer: tests/peers/run-pgbouncer.sh"]
async fn the_common_tests_of_session_stores_pass() {
    let database = Pooled::new().await;
    let (one, two) = (database.open().await, database.open().await);
    store::scopes(&one).await;
    store::keys(&one).await;
    store::events(&one).await;
    store::lists(&one).await;
    artifacts::keeps(&Stores::from_store(&one), false).await;
    artifacts::together(vec![Stores::from_store(&one), Stores::from_store(&two)]).await;
    memory::together(
        &Remembering::from_store(&one),
        &Remembering::from_store(&two),
    )
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs PgBouncer: tests/peers/run-pgbouncer.sh"]
async fn runs_of_several_processes_are_delivered_and_stored() {
    survival::delivers(&Pooled::new().await).await;
    survival::shares(&Pooled::new().await).await;
    survival::is_driven_once(&Pooled::new().await).await;
}

#[tokio::test]
#[ignore = "needs PgBouncer: tests/peers/run-pgbouncer.sh"]
async fn a_killed_run_ends_like_an_undisturbed_run() {
    killed::ends_the_same(&Pooled::new().await, survival::kills(2)).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs PgBouncer: tests/peers/run-pgbouncer.sh"]
async fn first_starts_at_the_same_moment_make_the_tables_once() {
    starts::together(&Pooled::new().await.address()).await;
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
    let store = PostgresStore::connect_with(&database.address(), options)
        .await
        .unwrap();
    store
        .create(survival::key(), StateDelta::default())
        .await
        .unwrap();
    let mut holder = database.0.connect().await;
    sqlx::raw_sql("BEGIN; SELECT 1 FROM sessions FOR UPDATE")
        .execute(&mut holder)
        .await
        .unwrap();
    let tree = Tree::new("w", vec![run(say("a"))]);
    let runner = survival::runner(&store);
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
