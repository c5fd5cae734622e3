//! Measurements of a large store: the benchmarks use 1,000,000 events, and tests check that
//! operations cost the same at two sizes. One session is long, and the others have 100 events each.

use super::waits::{asks, median, pause};
use crate::place::OpenStore;
use crate::tenants::cut;
use adk_build::Answerer;
use adk_build::engine::RunFilter;
use adk_build::session::{EventFilter, SessionKey};
use std::sync::Arc;
use std::time::{Duration, Instant, UNIX_EPOCH};

/// The size of a store. There is one ended run for each 100 events.
#[derive(Clone, Copy)]
pub struct Size {
    /// Sessions of 100 events, named `b0` and so on, ten for each user (`u0` and so on).
    pub sessions: u64,
    /// The number of events of the session `long` of the user `long`.
    pub long: u64,
    /// Waiting runs.
    pub waits: usize,
    /// Interrupted runs, and as many again that each belong to another tenant.
    pub cut: usize,
}

/// 1,000,000 events.
pub const MILLION: Size = Size {
    sessions: 9_000,
    long: 100_000,
    waits: 2_000,
    cut: 1_000,
};

impl Size {
    /// Returns the number of events.
    pub const fn events(self) -> u64 {
        self.sessions * 100 + self.long
    }
}

/// The time of the first event, in seconds. The events are a second apart.
pub const FIRST: u64 = 1_767_225_600;

/// Returns the JSON of every event, with an id to be replaced.
pub fn data() -> String {
    format!(
        concat!(
            r#"{{"id":"ID","author":"a","content":{{"parts":[{{"text":"{}"}}],"role":"model"}},"#,
            r#""actions":{{"state_delta":{{"key":1}}}},"node_info":{{"path":"w/l#12/a"}},"#,
            r#""invocation_id":"e-01998888-0000-7000-8000-000000000000","timestamp":1767225600.5}}"#
        ),
        "x".repeat(500)
    )
}

/// Starts the waiting runs, and the runs that the caller interrupts when it closes the store.
pub async fn begin(store: &OpenStore, size: Size) {
    let (runner, tree) = (store.knows("app", cut(false)), Arc::new(cut(false)));
    for n in 0..size.cut {
        for runner in [runner.clone(), runner.for_app(format!("t{n}"))] {
            let mut stream = runner
                .session("u", format!("cut{n}"))
                .run(tree.clone(), "go")
                .stream();
            for _ in 0..2 {
                stream.next().await.unwrap().unwrap();
            }
        }
    }
    pause(&runner, &Arc::new(asks(None)), 0..size.waits).await;
}

/// Prints the median of nine measurements.
async fn timed<T>(name: &str, what: &str, mut ask: impl AsyncFnMut() -> T) -> T {
    let (mut times, mut last) = (Vec::new(), None);
    for _ in 0..9 {
        let begin = Instant::now();
        last = Some(ask().await);
        times.push(begin.elapsed());
    }
    println!("{name}: {what}: {:.2?}", median(times));
    last.unwrap()
}

/// Measures operations whose cost is independent of the size. `foreign` appends an event to the
/// long session as another program does.
pub async fn measure(name: &str, store: &OpenStore, size: Size, foreign: impl AsyncFn()) {
    let key = SessionKey::new("app", "long", "long");
    reads(name, store, &key, size, foreign).await;
    lists(name, store, &key).await;
    lists_of_waits(name, store).await;
    let runner = store.knows("app", cut(true));
    let waiting = runner
        .waiting_of(&RunFilter::unfinished().limit(9))
        .await
        .unwrap();
    let mut waits = waiting.iter();
    timed(name, "answer", async || {
        runner
            .answer(&waits.next().unwrap().id, true)
            .await
            .unwrap()
    })
    .await;
    let mut waits = waiting.iter();
    let tree = Arc::new(asks(None));
    let mut resume = async || {
        runner
            .resume(tree.clone(), waits.next().unwrap().run_id)
            .await
            .map(drop)
            .unwrap()
    };
    timed(name, "resume to the end", &mut resume).await;
    let mut n = 9;
    let delete = async || {
        n += 1;
        assert!(
            store
                .sessions
                .delete(&SessionKey::new("app", "u1", format!("b{n}")))
                .await
                .unwrap()
        );
    };
    timed(name, "delete of a session of 100 events", delete).await;
}

/// Measures operations on all data.
pub async fn whole(name: &str, store: &OpenStore, size: Size) {
    let begin = Instant::now();
    let all = store.sessions.list("app", None, "").await.unwrap();
    println!(
        "{name}: all {} sessions: {:.2?}",
        all.len(),
        begin.elapsed()
    );
    let begin = Instant::now();
    let all = store
        .waits()
        .waiting("app", &RunFilter::unfinished())
        .await
        .unwrap();
    println!("{name}: all {} waits: {:.2?}", all.len(), begin.elapsed());
    let begin = Instant::now();
    let all = store.knows("app", cut(true)).recover().await.unwrap();
    assert!(
        all.len() == 2 * size.cut && all.iter().all(|run| run.result.is_ok()),
        "{all:?}"
    );
    println!(
        "{name}: {} runs recovered: {:.2?}",
        all.len(),
        begin.elapsed()
    );
    let begin = Instant::now();
    assert!(
        store
            .sessions
            .delete(&SessionKey::new("app", "long", "long"))
            .await
            .unwrap()
    );
    println!(
        "{name}: delete of a session of {} events: {:.2?}",
        size.long,
        begin.elapsed()
    );
}

async fn reads(
    name: &str,
    store: &OpenStore,
    key: &SessionKey,
    size: Size,
    foreign: impl AsyncFn(),
) {
    let short = SessionKey::new("app", "u1", "b10");
    for (what, key) in [
        ("open the long session", key),
        ("open a session of 100 events", &short),
    ] {
        timed(name, what, async || {
            assert!(store.sessions.get(key).await.unwrap().is_some())
        })
        .await;
    }
    let (page, middle) = (
        |first| EventFilter::new().places(first..first + 100),
        size.long as usize / 2,
    );
    let late = UNIX_EPOCH + Duration::from_secs(FIRST + size.events() - 50);
    for (what, filter, many) in [
        ("state alone", EventFilter::new().last(0), 0),
        ("the last 20", EventFilter::new().last(20), 20),
        ("the first 100", page(0), 100),
        ("100 in the middle", page(middle), 100),
        ("since the last 50", EventFilter::new().since(late), 50),
        (
            "20 of the last 50",
            EventFilter::new().since(late).last(20),
            20,
        ),
        (
            "the last 20 since the beginning",
            EventFilter::new().since(UNIX_EPOCH).last(20),
            20,
        ),
    ] {
        let read = timed(name, what, async || {
            store.sessions.read(key, &filter).await.unwrap().unwrap()
        })
        .await;
        assert_eq!(read.events.len(), many, "{what}");
    }
    for what in ["list", "read"] {
        let mut times = Vec::new();
        for _ in 0..9 {
            foreign().await;
            let begin = Instant::now();
            if what == "list" {
                assert_eq!(
                    store
                        .sessions
                        .list("app", Some("long"), "")
                        .await
                        .unwrap()
                        .len(),
                    1
                );
            } else {
                let read = store
                    .sessions
                    .read(key, &EventFilter::new().last(20))
                    .await
                    .unwrap()
                    .unwrap();
                assert_eq!(read.events.len(), 20);
            }
            times.push(begin.elapsed());
        }
        println!(
            "{name}: {what} after an event of another program: {:.2?}",
            median(times)
        );
    }
}

async fn lists(name: &str, store: &OpenStore, key: &SessionKey) {
    let list = async || {
        store
            .sessions
            .list("app", Some("u0"), "")
            .await
            .unwrap()
            .len()
    };
    assert_eq!(timed(name, "10 sessions of a user", list).await, 10);
    let registry = store.registry();
    for (what, filter, many) in [
        ("the newest 20 runs", RunFilter::any().limit(20), 20),
        (
            "10 runs of a user",
            RunFilter::any().user("u0").limit(20),
            10,
        ),
        (
            "20 runs of a user with many",
            RunFilter::any().user("long").limit(20),
            20,
        ),
        (
            "runs of a user with a state",
            RunFilter::cancelled().user("long").limit(20),
            0,
        ),
        (
            "the newest 20 runs that ended well",
            RunFilter::finished().limit(20),
            20,
        ),
        (
            "the newest 20 runs of the long session",
            RunFilter::any().session(key).limit(20),
            20,
        ),
        ("failed runs", RunFilter::failed().limit(20), 0),
        ("cancelled runs", RunFilter::cancelled().limit(20), 0),
        (
            "20 that were cut off",
            RunFilter::ready().oldest_first().limit(20),
            20,
        ),
    ] {
        let runs = timed(name, what, async || {
            registry.runs("app", &filter).await.unwrap()
        })
        .await;
        assert_eq!(runs.len(), many, "{what}");
    }
    let ready = RunFilter::ready().oldest_first().limit(20);
    let found = timed(name, "ready runs of tenants", async || {
        registry.runs_of_tenants("app", &ready).await.unwrap()
    });
    assert_eq!(found.await.len(), 20);
}

async fn lists_of_waits(name: &str, store: &OpenStore) {
    let waits = store.waits();
    for (what, filter, many) in [
        ("20 waits", RunFilter::unfinished().limit(20), 20),
        (
            "waits of a user without any",
            RunFilter::unfinished().user("long"),
            0,
        ),
        (
            "waits for a role",
            RunFilter::unfinished().answerer(&Answerer::user("x").role("staff")),
            0,
        ),
        (
            "waits of a session",
            RunFilter::unfinished().session(&SessionKey::new("app", "u", "s7")),
            1,
        ),
    ] {
        let found = timed(name, what, async || {
            waits.waiting("app", &filter).await.unwrap()
        })
        .await;
        assert_eq!(found.len(), many, "{what}");
    }
    timed(name, "deadlines", async || {
        waits.due("app", u64::MAX, 256).await.unwrap()
    })
    .await;
    timed(name, "deadlines of tenants", async || {
        waits.due_of_tenants("app", u64::MAX, 256).await.unwrap()
    })
    .await;
}
