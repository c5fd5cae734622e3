//! Tests that open one database with this crate and with the real google-adk for Python, in both
//! orders.
//!
//! Run by
//! `tests/peers/run-postgres.sh tests/peers/run-adk-python.sh cargo test -p adk-workflow-postgres
//! --test it -- --ignored python`.

use crate::python;
use crate::support::Database;

fn url(database: &Database) -> String {
    database.url.replace("postgres://", "postgresql+asyncpg://")
}

#[tokio::test]
#[ignore = "needs Postgres and google-adk: tests/peers/run-postgres.sh \
    tests/peers/run-adk-python.sh"]
async fn python_reads_and_appends_to_a_database_of_this_crate() {
    let database = Database::new().await;
    python::reads_ours(&database, &url(&database)).await;
}

#[tokio::test]
#[ignore = "needs Postgres and google-adk: tests/peers/run-postgres.sh \
    tests/peers/run-adk-python.sh"]
async fn this_crate_reads_and_writes_a_database_of_python() {
    let database = Database::new().await;
    python::makes_it(&database, &url(&database)).await;
}
