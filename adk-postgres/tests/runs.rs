//! Runs on the store, by what every store has to do with them: also when its process is killed, over and over.
//!
//! Run by `tests/peers/run-postgres.sh cargo test -p adk-workflow-postgres --test runs -- --ignored`.

#![allow(clippy::unwrap_used, reason = "a test fails by a panic")]

#[path = "../../adk-core/tests/support/mod.rs"]
mod trees;

mod place;
mod support;

use adk_postgres::PostgresStore;
use support::{Database, quick};
use trees::{killed, survival};

#[tokio::test]
#[ignore = "needs Postgres: tests/peers/run-postgres.sh"]
async fn what_is_delivered_is_stored_in_that_order() {
    survival::delivers(&Database::new().await).await;
}

#[tokio::test]
#[ignore = "needs Postgres: tests/peers/run-postgres.sh"]
async fn many_runs_share_one_database_and_one_session() {
    survival::shares(&Database::new().await).await;
}

#[tokio::test]
#[ignore = "needs Postgres: tests/peers/run-postgres.sh"]
async fn a_run_is_driven_by_one_process_at_a_time() {
    survival::is_driven_once(&Database::new().await).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "is started and killed by another test"]
async fn victim() {
    let Ok(url) = std::env::var("ADK_VICTIM") else { return };
    survival::victim(PostgresStore::connect_with(&url, quick()).await.unwrap()).await;
}

/// `ADK_KILLS` says how often; 6 times when it is not set.
#[tokio::test]
#[ignore = "needs Postgres: tests/peers/run-postgres.sh"]
async fn a_kill_loses_nothing_that_was_seen_and_doubles_nothing() {
    survival::loses_nothing(&Database::new().await, survival::kills(6), async || {}).await;
}

/// `ADK_KILLS` says how many kills there have to be; 6 when it is not set.
#[tokio::test]
#[ignore = "needs Postgres: tests/peers/run-postgres.sh"]
async fn a_run_that_is_killed_ends_as_one_that_is_not() {
    killed::ends_the_same(&Database::new().await, survival::kills(6)).await;
}
