//! One database, opened by this crate and by the real google-adk for Python, in both directions.
//!
//! Run by `tests/peers/run-postgres.sh tests/peers/run-adk-python.sh cargo test -p adk-workflow-postgres --test it -- --ignored python`.

use crate::support::Database;
use crate::trees::python;

fn url(database: &Database) -> String {
    database.url.replace("postgres://", "postgresql+asyncpg://")
}

#[tokio::test]
#[ignore = "needs Postgres and google-adk: tests/peers/run-postgres.sh tests/peers/run-adk-python.sh"]
async fn python_reads_what_was_written_here_and_appends_and_that_is_read_here() {
    let database = Database::new().await;
    python::reads_ours(&database, &url(&database)).await;
}

#[tokio::test]
#[ignore = "needs Postgres and google-adk: tests/peers/run-postgres.sh tests/peers/run-adk-python.sh"]
async fn a_database_that_python_made_is_read_and_written_here() {
    let database = Database::new().await;
    python::makes_it(&database, &url(&database)).await;
}
