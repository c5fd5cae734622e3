//! Runs that wait in a database: answered and taken up by other stores on it, as other processes do.
//!
//! Run by `tests/peers/run-postgres.sh cargo test -p adk-workflow-postgres --test waits -- --ignored`.

#![allow(clippy::unwrap_used, reason = "a test fails by a panic")]

#[path = "../../adk-core/tests/support/mod.rs"]
mod trees;

mod place;
mod support;

use support::Database;
use trees::people;

#[tokio::test]
#[ignore = "needs Postgres: tests/peers/run-postgres.sh"]
async fn each_question_is_answered_once_by_whatever_process() {
    people::answers(&Database::new().await).await;
}

#[tokio::test]
#[ignore = "needs Postgres: tests/peers/run-postgres.sh"]
async fn deadlines_are_taken_by_whoever_recovers() {
    people::deadlines(&Database::new().await).await;
}

#[tokio::test]
#[ignore = "needs Postgres: tests/peers/run-postgres.sh"]
async fn whoever_watches_takes_answers_and_deadlines() {
    people::watches(&Database::new().await).await;
}

#[tokio::test]
#[ignore = "needs Postgres: tests/peers/run-postgres.sh"]
async fn a_run_that_is_refused_is_as_it_was() {
    people::refusals(&Database::new().await).await;
}
