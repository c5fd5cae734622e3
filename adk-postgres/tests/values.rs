//! Tests that the store returns values unchanged. Run them also with
//! `--features serde_json/arbitrary_precision`.
//!
//! Run by
//! `tests/peers/run-postgres.sh cargo test -p adk-workflow-postgres --test values -- --ignored`.

#![allow(clippy::unwrap_used, reason = "a test fails by a panic")]

#[path = "../../adk-core/tests/support/mod.rs"]
mod trees;

mod place;
mod support;

use adk_postgres::PostgresStore;
use std::time::Duration;
use support::{Database, quick};
use trees::survival::Place;
use trees::values;

/// A database whose store waits longer: a build without optimisation takes seconds to encode 50 MB,
/// and the server ends a transaction that is idle for half of the patience.
struct Patient(Database);

impl Place for Patient {
    type Store = PostgresStore;

    async fn open(&self) -> PostgresStore {
        let options = quick().patience(Duration::from_secs(300));
        PostgresStore::connect_with(&self.0.url, options)
            .await
            .unwrap()
    }

    fn address(&self) -> String {
        self.0.address()
    }

    async fn has(&self, id: &str) -> bool {
        self.0.has(id).await
    }
}

#[tokio::test]
#[ignore = "needs Postgres: tests/peers/run-postgres.sh"]
async fn values_are_read_back_bit_for_bit() {
    values::come_back(&Database::new().await).await;
}

#[tokio::test]
#[ignore = "needs Postgres: tests/peers/run-postgres.sh"]
async fn types_read_what_they_wrote() {
    values::are_read_as_their_types(&Database::new().await).await;
}

#[tokio::test]
#[ignore = "needs Postgres: tests/peers/run-postgres.sh"]
async fn values_and_keys_may_be_large() {
    values::may_be_large(&Patient(Database::new().await)).await;
}

#[tokio::test]
#[ignore = "needs Postgres: tests/peers/run-postgres.sh"]
async fn values_without_a_json_form_are_rejected_when_they_are_written() {
    values::are_refused_without_a_form(&Database::new().await).await;
}
