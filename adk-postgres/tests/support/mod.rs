//! A database for one test, on the server of `tests/peers/run-postgres.sh`.
#![allow(
    dead_code,
    clippy::unwrap_used,
    reason = "each test file uses a part, and fails by it"
)]

use adk_postgres::Options;
use sqlx::{AssertSqlSafe, Connection, PgConnection};
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::time::Duration;

/// Returns the URL of the server.
pub fn server() -> String {
    std::env::var("ADK_POSTGRES").expect("start it by tests/peers/run-postgres.sh")
}

/// An empty database.
pub struct Database {
    pub url: String,
    pub name: String,
}

impl Database {
    pub async fn new() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let name = format!("adk_{}_{}", std::process::id(), NEXT.fetch_add(1, Relaxed));
        let mut connection = PgConnection::connect(&server()).await.unwrap();
        sqlx::raw_sql(AssertSqlSafe(format!("CREATE DATABASE {name}")))
            .execute(&mut connection)
            .await
            .unwrap();
        let (base, _) = server()
            .rsplit_once('/')
            .map(|(base, name)| (base.to_owned(), name.to_owned()))
            .unwrap();
        Self {
            url: format!("{base}/{name}"),
            name,
        }
    }

    /// Returns the database of another process by its URL.
    pub fn of_another_process(url: &str) -> Self {
        let (_, name) = url.rsplit_once('/').unwrap();
        Self {
            url: url.to_owned(),
            name: name.to_owned(),
        }
    }

    /// Opens a connection besides the connections of a store.
    pub async fn connect(&self) -> PgConnection {
        PgConnection::connect(&self.url).await.unwrap()
    }

    pub async fn execute(&self, sql: &str) {
        sqlx::raw_sql(AssertSqlSafe(sql.to_owned()))
            .execute(&mut self.connect().await)
            .await
            .unwrap();
    }

    /// Returns the URL of the database for another user.
    pub fn url_of(&self, user: &str) -> String {
        self.url.replace("//adk@", &format!("//{user}@"))
    }
}

/// Returns options with a lease that ends soon after its process.
pub fn quick() -> Options {
    Options::default().lease(Duration::from_millis(600))
}
