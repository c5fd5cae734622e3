//! Implementation of [`Place`] for a database.

use crate::support::{Database, quick};
use adk_postgres::PostgresStore;
use adk_store_kit::Place;
use std::time::Duration;

impl Place for Database {
    type Store = PostgresStore;

    async fn new() -> Self {
        Self::new().await
    }

    async fn open(&self) -> PostgresStore {
        PostgresStore::connect_with(&self.url, quick())
            .await
            .unwrap()
    }

    fn address(&self) -> String {
        self.url.clone()
    }

    fn at(address: &str) -> Self {
        Self::of_another_process(address)
    }

    /// After each kill, the run waits until the lease has expired. The time between kills is
    /// therefore longer than for other stores.
    fn time_to_kill(&self) -> Duration {
        Duration::from_millis(500)
    }

    async fn has_event(&self, id: &str) -> Option<bool> {
        let sql = "SELECT count(*) = 1 FROM events WHERE id = $1";
        let found = sqlx::query_scalar(sql).bind(id);
        Some(found.fetch_one(&mut self.connect().await).await.unwrap())
    }

    async fn request_key_count(&self) -> Option<usize> {
        let count = sqlx::query_scalar("SELECT count(*) FROM adkw_keys");
        let count: i64 = count.fetch_one(&mut self.connect().await).await.unwrap();
        Some(count as usize)
    }
}
