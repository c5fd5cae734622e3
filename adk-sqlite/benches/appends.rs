//! Durable appends through the Runner: `cargo bench -p adk-workflow-sqlite --bench appends`. Prints events per second and the time from
//! `emit` to the next one, at 1, 8, 64 and 256 runs at once; then how long a session of 100,000 events takes to open.

#![allow(clippy::unwrap_used, reason = "a benchmark fails by a panic")]

#[path = "../../adk-core/tests/support/mod.rs"]
mod trees;

use adk_core::session::{EventFilter, SessionKey, SessionStore};
use adk_core::{Event, Flow, Runner, StateDelta};
use adk_sqlite::{Durability, Options, SqliteStore};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};
use trees::store::stored;
use trees::{Tree, by, repeat, run};

fn folder() -> PathBuf {
    std::env::temp_dir().join(format!("adk-sqlite-bench-{}", std::process::id()))
}

fn file(name: &str) -> PathBuf {
    folder().join(name)
}

async fn appends(durability: Durability, runs: usize) {
    let path = file(&format!("{durability:?}-{runs}.db"));
    let store = SqliteStore::open_with(&path, Options::default().durability(durability)).await.unwrap();
    let runner: Runner =
        Runner::builder().app_name("app").session_store(store.clone()).engine(store.clone()).build().unwrap();
    let text = "x".repeat(500);
    let waits: Arc<boxcar::Times> = Arc::default();
    let into = waits.clone();
    let says = by("a", move |cx| {
        let (text, into) = (text.clone(), into.clone());
        Box::pin(async move {
            let begin = Instant::now();
            cx.emit(Event::new().with_text(text).with_state("draft", 1)).await?;
            into.add(begin.elapsed());
            Ok(Flow::Continue)
        })
    });
    let each = u32::try_from(20_000 / runs.max(4)).unwrap().max(100);
    let tree = Arc::new(Tree::new("w", vec![repeat("l", Some(each), vec![run(says)])]));
    let begin = Instant::now();
    let tasks: Vec<_> = (0..runs)
        .map(|n| tokio::spawn(runner.session("u", format!("s{n}")).run(tree.clone(), "go").into_future()))
        .collect();
    for task in tasks {
        task.await.unwrap().unwrap();
    }
    let events = runs as u64 * (u64::from(each) + 1);
    let rate = events as f64 / begin.elapsed().as_secs_f64();
    let (p50, p99) = (waits.at(0.5), waits.at(0.99));
    println!("{durability:?} {runs:>3} runs: {rate:>8.0} events/s, p50 {p50:>8.3?}, p99 {p99:>8.3?}");
}

mod boxcar {
    use super::*;

    /// Times in buckets of a microsecond.
    pub struct Times(Vec<AtomicU64>);

    impl Default for Times {
        fn default() -> Self {
            Self((0..200_000).map(|_| AtomicU64::new(0)).collect())
        }
    }

    impl Times {
        pub fn add(&self, time: Duration) {
            let at = (time.as_micros() as usize).min(self.0.len() - 1);
            self.0[at].fetch_add(1, Relaxed);
        }

        pub fn at(&self, part: f64) -> Duration {
            let all: u64 = self.0.iter().map(|n| n.load(Relaxed)).sum();
            let mut left = (all as f64 * part) as u64;
            let found = self.0.iter().position(|n| {
                let n = n.load(Relaxed);
                let here = n > left;
                left = left.saturating_sub(n);
                here
            });
            Duration::from_micros(found.unwrap_or(0) as u64)
        }
    }
}

async fn long() {
    let many = 100_000;
    let path = file("long.db");
    let key = SessionKey::new("app", "u", "s");
    let store = SqliteStore::open(&path).await.unwrap();
    store.create(key.clone(), StateDelta::default()).await.unwrap();
    let text = "x".repeat(500);
    let begin = Instant::now();
    for first in (0..many).step_by(10_000) {
        store.append(&key, (first..first + 10_000).map(|n| stored(n, &text)).collect()).await.unwrap();
    }
    println!("import of {many} events: {:.3?}", begin.elapsed());
    drop(store);
    let timed = |what: &str, begin: Instant| println!("{what} of {many} events: {:.3?}", begin.elapsed());
    let store = SqliteStore::open(&path).await.unwrap();
    let begin = Instant::now();
    let session = store.get(&key).await.unwrap().unwrap();
    timed("open", begin);
    for (what, filter) in [
        ("last 20", EventFilter::new().last(20)),
        ("a page in the middle", EventFilter::new().places(50_000..50_100)),
        ("state alone", EventFilter::new().last(0)),
    ] {
        let begin = Instant::now();
        store.read(&key, &filter).await.unwrap();
        timed(what, begin);
    }
    let runner: Runner =
        Runner::builder().app_name("app").session_store(store.clone()).engine(store.clone()).build().unwrap();
    let tree = Tree::new("w", vec![run(trees::say("a"))]);
    let begin = Instant::now();
    runner.session("u", "s").run(&tree, "go").await.unwrap();
    timed("a run of two events at the end", begin);
    let begin = Instant::now();
    session.load(0..session.len()).await.unwrap();
    timed("load of all", begin);
}

fn main() {
    // `-- process 64` measures that one alone.
    let args: Vec<String> = std::env::args().skip(1).filter(|arg| !arg.starts_with('-')).collect();
    let is_asked = |what: &str| args.is_empty() || args.iter().any(|arg| arg == what);
    let counts: Vec<usize> = args.iter().filter_map(|arg| arg.parse().ok()).collect();
    std::fs::create_dir_all(folder()).unwrap();
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    runtime.block_on(async {
        for (durability, name) in [(Durability::Power, "power"), (Durability::Process, "process")] {
            for runs in [1, 8, 64, 256] {
                if is_asked(name) && (counts.is_empty() || counts.contains(&runs)) {
                    appends(durability, runs).await;
                }
            }
        }
        if is_asked("long") {
            long().await;
        }
    });
    let _ = std::fs::remove_dir_all(folder());
}
