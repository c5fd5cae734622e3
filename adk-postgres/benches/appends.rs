//! Benchmark of durable appends through the Runner:
//! `tests/peers/run-postgres.sh cargo bench -p adk-workflow-postgres --bench appends`. Prints
//! events per second and the time between two calls of `emit`, with 1, 8 and 64 concurrent runs;
//! then waits and deadlines, and the cost of a session of 100,000 events. `-- large` measures all
//! operations of a store with 1,000,000 events. The server runs on this machine, with `fsync` and
//! `synchronous_commit` on.

#![allow(clippy::unwrap_used, reason = "a benchmark fails by a panic")]

#[path = "../tests/support/mod.rs"]
mod support;

#[path = "../tests/support/large.rs"]
mod large;

use adk_postgres::PostgresStore;
use adk_store_kit::OpenStore;
use adk_store_kit::measure::size::{self, MILLION};
use adk_store_kit::measure::{appends, waits};
use support::Database;

async fn fresh() -> OpenStore {
    let store = PostgresStore::connect(&Database::new().await.url).await;
    OpenStore::new(&store.unwrap())
}

fn main() {
    // `-- 64` measures only this case, `-- waits` only the waits, `-- long` only the session.
    let args: Vec<String> = std::env::args()
        .skip(1)
        .filter(|arg| !arg.starts_with('-'))
        .collect();
    let is_asked = |what: &str| args.is_empty() || args.iter().any(|arg| arg == what);
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        for runs in [1, 8, 64] {
            if is_asked(&runs.to_string()) {
                appends::appends("Postgres", &fresh().await, runs, 8_000).await;
            }
        }
        if is_asked("waits") {
            waits::answers("Postgres", &fresh().await, &[100, 10_000, 100_000]).await;
            waits::deadlines("Postgres", &fresh().await, 10_000).await;
        }
        if args.iter().any(|arg| arg == "large") {
            let database = Database::new().await;
            let store = large::open(&database, MILLION).await;
            large::measure(&database, &store, MILLION).await;
            size::whole("Postgres", &OpenStore::new(&store), MILLION).await;
        }
        if is_asked("long") {
            appends::session(&fresh().await, 100_000).await;
        }
    });
}
