//! The common tests of memory services for [`PostgresStore`].

use crate::support::Database;
use crate::trees::memory::{self, Remembering};
use crate::trees::survival::Place as _;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs Postgres: tests/peers/run-postgres.sh"]
async fn the_common_tests_of_memory_services_pass() {
    let database = Database::new().await;
    let (one, two) = (database.open().await, database.open().await);
    memory::keeps(&Remembering::from_store(&one)).await;
    memory::together(
        &Remembering::from_store(&one),
        &Remembering::from_store(&two),
    )
    .await;
}
