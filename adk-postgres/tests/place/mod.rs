//! Implementation of [`Place`] for a database.

use crate::support::{Database, quick};
use crate::trees::survival::Place;
use adk_postgres::PostgresStore;

impl Place for Database {
    type Store = PostgresStore;

    async fn open(&self) -> PostgresStore {
        PostgresStore::connect_with(&self.url, quick())
            .await
            .unwrap()
    }

    fn address(&self) -> String {
        self.url.clone()
    }

    /// After each kill, the run waits until the lease has expired. The time between kills is
    /// therefore longer than for other stores.
    fn peace(&self) -> u64 {
        500_000
    }

    async fn has(&self, id: &str) -> bool {
        let sql = "SELECT count(*) = 1 FROM events WHERE id = $1";
        sqlx::query_scalar(sql)
            .bind(id)
            .fetch_one(&mut self.connect().await)
            .await
            .unwrap()
    }
}
