//! The promises about values. Run them also with `--features serde_json/arbitrary_precision`.
//!
//! Run by
//! `tests/peers/run-postgres.sh cargo test -p adk-workflow-postgres --test values -- --ignored`.

#![allow(clippy::unwrap_used, reason = "a test fails by a panic")]

mod support;

use adk_postgres::PostgresStore;
use adk_store_kit::Place;
use std::time::Duration;
use support::{Database, quick};

/// A database whose store waits longer: a build without optimisation takes seconds to encode 50 MB,
/// and the server ends a transaction that is idle for half of the patience.
struct Patient(Database);

impl Place for Patient {
    type Store = PostgresStore;

    async fn new() -> Self {
        Self(Database::new().await)
    }

    async fn open(&self) -> PostgresStore {
        let options = quick().patience(Duration::from_secs(300));
        PostgresStore::connect_with(&self.0.url, options)
            .await
            .unwrap()
    }
}

adk_store_kit::promises! {
    #[ignore = "needs Postgres: tests/peers/run-postgres.sh"]
    Patient: values
}
