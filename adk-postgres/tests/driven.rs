//! Runs in a database that an engine above the store drives: two stores on it are two of its processes.
//!
//! Run by `tests/peers/run-postgres.sh cargo test -p adk-workflow-postgres --test driven -- --ignored`.

#![allow(clippy::unwrap_used, reason = "a test fails by a panic")]

#[path = "../../adk-core/tests/support/mod.rs"]
mod trees;

mod place;
mod support;

use support::Database;
use trees::driven;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs Postgres: tests/peers/run-postgres.sh"]
async fn each_slot_is_filled_once() {
    driven::fills_each_slot_once(&Database::new().await).await;
}

#[tokio::test]
#[ignore = "needs Postgres: tests/peers/run-postgres.sh"]
async fn branches_are_executed_by_two_processes() {
    driven::takes_branches_of_two(&Database::new().await).await;
}

#[tokio::test]
#[ignore = "needs Postgres: tests/peers/run-postgres.sh"]
async fn waits_are_kept_for_whoever_answers() {
    driven::keeps_waits(&Database::new().await).await;
}

#[tokio::test]
#[ignore = "needs Postgres: tests/peers/run-postgres.sh"]
async fn any_process_closes_the_run() {
    driven::closes(&Database::new().await).await;
}

#[tokio::test]
#[ignore = "needs Postgres: tests/peers/run-postgres.sh"]
async fn a_cancel_fences_all_of_them() {
    driven::is_fenced_by_a_cancel(&Database::new().await).await;
}

#[tokio::test]
#[ignore = "needs Postgres: tests/peers/run-postgres.sh"]
async fn processes_on_the_plain_store_leave_it_alone() {
    driven::is_left_alone(&Database::new().await).await;
}

#[tokio::test]
#[ignore = "needs Postgres: tests/peers/run-postgres.sh"]
async fn open_sessions_see_its_events() {
    driven::is_seen_by_readers(&Database::new().await).await;
}

#[tokio::test]
#[ignore = "needs Postgres: tests/peers/run-postgres.sh"]
async fn random_interleavings_fill_each_slot_once() {
    driven::interleaves(&Database::new().await, 8).await;
}
