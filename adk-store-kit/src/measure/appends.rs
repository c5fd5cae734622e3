//! Benchmarks of all stores: durable appends through the `Runner`, and a session of 100,000 events.

use crate::place::OpenStore;
use crate::sessions::stored;
use crate::trees::{Tree, by, repeat, run, say};
use adk_build::session::{EventFilter, SessionKey, export, import};
use adk_build::{Event, Flow, Runner, StateDelta};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

/// A histogram of times, in buckets of a microsecond.
struct Times(Vec<AtomicU64>);

impl Times {
    fn new() -> Self {
        Self((0..200_000).map(|_| AtomicU64::new(0)).collect())
    }

    fn add(&self, time: Duration) {
        let at = (time.as_micros() as usize).min(self.0.len() - 1);
        self.0[at].fetch_add(1, Relaxed);
    }

    fn at(&self, part: f64) -> Duration {
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

/// Measures events per second with `runs` concurrent runs and about `events` events, and the time
/// of an `emit`. Each event has 500 bytes of text and sets a key.
pub async fn appends(name: &str, store: &OpenStore, runs: usize, events: usize) {
    let builder = Runner::builder().app_name("app").store(store.clone());
    let runner: Runner = builder.build().unwrap();
    let text = "x".repeat(500);
    let waits = Arc::new(Times::new());
    let into = waits.clone();
    let says = by("a", move |cx| {
        let (text, into) = (text.clone(), into.clone());
        Box::pin(async move {
            let begin = Instant::now();
            cx.emit(Event::new().with_text(text).with_state("draft", 1))
                .await?;
            into.add(begin.elapsed());
            Ok(Flow::Continue)
        })
    });
    let each = u32::try_from(events / runs.max(4)).unwrap().max(100);
    let tree = Arc::new(Tree::new(
        "w",
        vec![repeat("l", Some(each), vec![run(says)])],
    ));
    let begin = Instant::now();
    let tasks: Vec<_> = (0..runs)
        .map(|n| {
            tokio::spawn(
                runner
                    .session("u", format!("s{n}"))
                    .run(tree.clone(), "go")
                    .into_future(),
            )
        })
        .collect();
    for task in tasks {
        task.await.unwrap().unwrap();
    }
    let events = runs as u64 * (u64::from(each) + 1);
    let rate = events as f64 / begin.elapsed().as_secs_f64();
    let (p50, p99) = (waits.at(0.5), waits.at(0.99));
    println!("{name} {runs:>3} runs: {rate:>8.0} events/s, p50 {p50:>8.3?}, p99 {p99:>8.3?}");
}

/// Measures a session of `many` events: reads of parts, a run, export and import, an import with a
/// bad line in the middle, and a delete.
pub async fn session(store: &OpenStore, many: u64) {
    let key = |id: &str| SessionKey::new("app", "u", id);
    let timed =
        |what: &str, begin: Instant| println!("{what} of {many} events: {:.3?}", begin.elapsed());
    store
        .sessions
        .create(key("s"), StateDelta::default())
        .await
        .unwrap();
    let text = "x".repeat(500);
    let begin = Instant::now();
    for first in (0..many).step_by(10_000) {
        let page = (first..(first + 10_000).min(many))
            .map(|n| stored(n, &text))
            .collect();
        store.sessions.append(&key("s"), page).await.unwrap();
    }
    timed("append", begin);
    let begin = Instant::now();
    let session = store.sessions.get(&key("s")).await.unwrap().unwrap();
    timed("open", begin);
    let middle = usize::try_from(many / 2).unwrap();
    for (what, filter) in [
        ("last 20", EventFilter::new().last(20)),
        (
            "a page in the middle",
            EventFilter::new().places(middle..middle + 100),
        ),
        ("state alone", EventFilter::new().last(0)),
    ] {
        let begin = Instant::now();
        store.sessions.read(&key("s"), &filter).await.unwrap();
        timed(what, begin);
    }
    let builder = Runner::builder().app_name("app").store(store.clone());
    let runner: Runner = builder.build().unwrap();
    let begin = Instant::now();
    runner
        .session("u", "s")
        .run(&Tree::new("w", vec![run(say("a"))]), "go")
        .await
        .unwrap();
    timed("a run of two events at the end", begin);
    let begin = Instant::now();
    session.load(0..session.len()).await.unwrap();
    timed("load of all", begin);

    let mut lines = Vec::new();
    let begin = Instant::now();
    let push = |line: &str| {
        lines.push(line.to_owned());
        Ok(())
    };
    assert!(export(&*store.sessions, &key("s"), push).await.unwrap());
    timed("export", begin);
    let begin = Instant::now();
    import(&*store.sessions, key("t"), lines.iter().cloned().map(Ok))
        .await
        .unwrap();
    timed("import", begin);
    lines[middle] = "{\"author\": 1}".to_owned();
    let begin = Instant::now();
    let error = import(&*store.sessions, key("v"), lines.into_iter().map(Ok))
        .await
        .unwrap_err();
    timed("import with a bad line in the middle", begin);
    println!("  {error}");
    assert!(store.sessions.get(&key("v")).await.unwrap().is_none());
    let begin = Instant::now();
    assert!(store.sessions.delete(&key("t")).await.unwrap());
    timed("delete", begin);
    assert!(store.sessions.get(&key("t")).await.unwrap().is_none());
}
