//! Runs that wait in a database: answered and taken up by other stores on it, as other processes do.
//!
//! Run by `tests/peers/run-postgres.sh cargo test -p adk-workflow-postgres --test waits -- --ignored`.

#![allow(clippy::unwrap_used, reason = "a test fails by a panic")]

#[path = "../../adk-core/tests/support/mod.rs"]
mod trees;

mod place;
mod support;

use support::Database;
use trees::{mended, people};

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

#[tokio::test]
#[ignore = "needs Postgres: tests/peers/run-postgres.sh"]
async fn waits_belong_to_a_user_and_a_session() {
    people::neighbours(&Database::new().await).await;
}

#[tokio::test]
#[ignore = "needs Postgres: tests/peers/run-postgres.sh"]
async fn more_runs_go_on_than_the_store_has_connections() {
    people::many(&Database::new().await, 100).await;
}

#[tokio::test]
#[ignore = "needs Postgres: tests/peers/run-postgres.sh"]
async fn a_failed_run_is_listed_and_goes_on_once_its_cause_is_mended() {
    mended::mended(&Database::new().await).await;
}

/// What makes a database of today one of format 1, which knew less of runs and waits and had no artifacts.
const FORMAT_1: &str = "
    DROP TABLE adkw_artifacts; DROP INDEX adkw_runs_driven; DROP INDEX adkw_runs_failed;
    UPDATE adkw_runs SET status = 'paused' WHERE status = 'answered';
    ALTER TABLE adkw_runs DROP COLUMN app, DROP COLUMN workflow;
    ALTER TABLE adkw_waits DROP COLUMN app, DROP COLUMN deadline;
    CREATE INDEX adkw_runs_open ON adkw_runs (id) WHERE status IN ('running', 'paused');
    UPDATE adkw_meta SET value = '1' WHERE key = 'version';";

#[tokio::test]
#[ignore = "needs Postgres: tests/peers/run-postgres.sh"]
async fn a_database_of_an_earlier_format_is_taken_over() {
    for is_answered in [false, true] {
        let database = Database::new().await;
        let earlier = async || database.execute(FORMAT_1).await;
        people::earlier_format(&database, is_answered, earlier).await;
    }
}
