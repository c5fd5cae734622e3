//! Benchmark of durable appends through the Runner:
//! `cargo bench -p adk-workflow-sqlite --bench appends`. Prints events per second and the time
//! between two calls of `emit`, with 1, 8, 64 and 256 concurrent runs; then the cost of a session
//! of 100,000 events.

#![allow(clippy::unwrap_used, reason = "a benchmark fails by a panic")]

use adk_sqlite::{Durability, Options, SqliteStore};
use adk_store_kit::OpenStore;
use adk_store_kit::measure::appends;
use std::path::PathBuf;

fn folder() -> PathBuf {
    std::env::temp_dir().join(format!("adk-sqlite-bench-{}", std::process::id()))
}

fn file(name: &str) -> PathBuf {
    folder().join(name)
}

async fn appends(durability: Durability, runs: usize) {
    let path = file(&format!("{durability:?}-{runs}.db"));
    let store = SqliteStore::open_with(&path, Options::default().durability(durability))
        .await
        .unwrap();
    appends::appends(
        &format!("{durability:?}"),
        &OpenStore::new(&store),
        runs,
        20_000,
    )
    .await;
}

fn main() {
    // `-- process 64` measures only this case.
    let args: Vec<String> = std::env::args()
        .skip(1)
        .filter(|arg| !arg.starts_with('-'))
        .collect();
    let is_asked = |what: &str| args.is_empty() || args.iter().any(|arg| arg == what);
    let counts: Vec<usize> = args.iter().filter_map(|arg| arg.parse().ok()).collect();
    std::fs::create_dir_all(folder()).unwrap();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        for (durability, name) in [
            (Durability::Power, "power"),
            (Durability::Process, "process"),
        ] {
            for runs in [1, 8, 64, 256] {
                if is_asked(name) && (counts.is_empty() || counts.contains(&runs)) {
                    appends(durability, runs).await;
                }
            }
        }
        if is_asked("long") {
            let store = SqliteStore::open(file("long.db")).await.unwrap();
            appends::session(&OpenStore::new(&store), 100_000).await;
        }
    });
    let _ = std::fs::remove_dir_all(folder());
}
