//! The promises of every store, for [`PostgresStore`](adk_postgres::PostgresStore) in a database.

use crate::support::Database;

adk_store_kit::promises! {
    #[ignore = "needs Postgres: tests/peers/run-postgres.sh"]
    // The file `values.rs` has the suite `values`.
    Database: sessions, artifacts, memory, limits, runs, updates, lists, cancel, retries, keys,
    queue, people, questions, tenants, changes, driven, kills
}
