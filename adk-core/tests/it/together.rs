//! Concurrent runs and branches: one order for all readers, no lost and no duplicate events, and
//! cancellation.

use crate::support::*;
use adk_build::engine::{
    Body, ClaimId, Engine, Journal, Reply, Retention, Roles, Slot, StepKey, Stored, Wait,
};
use adk_build::session::{
    EventFilter, Location, MemoryStore, Session, SessionKey, SessionSnapshot, SessionStore,
};
use adk_build::spec::KeySpec;
use adk_build::{BoxFuture, ErrorKind, Event, Flow, Result, RunEnd, Runner, StateDelta};
use serde_json::Value;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::timeout;

fn runner() -> Runner {
    Runner::builder().build().unwrap()
}

/// Emits `events` events and yields in between.
fn talks(name: &'static str, events: u32) -> By {
    by(name, move |cx| {
        Box::pin(async move {
            for n in 0..events {
                if n % 3 == 0 {
                    tokio::spawn(tokio::task::yield_now())
                        .await
                        .map_err(adk_build::Error::other)?;
                }
                cx.emit(Event::new().with_state(name, n)).await?;
            }
            Ok(Flow::Continue)
        })
    })
}

async fn read_events(mut stream: adk_build::RunStream<'_, ()>) -> Vec<Arc<Event>> {
    let mut all = Vec::new();
    while let Some(event) = stream.next().await {
        all.push(event.unwrap());
    }
    all
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn runs_of_one_session_have_one_order() {
    let both = parallel("p", ["a", "b", "c"].map(|name| run(talks(name, 40))).into());
    let tree = Arc::new(Tree::new("w", vec![both]));
    let runner = runner();
    let handle = runner.session("u", "s");
    let tasks: Vec<_> = (0..8)
        .map(|n| {
            tokio::spawn(read_events(
                handle.run(tree.clone(), n.to_string()).stream(),
            ))
        })
        .collect();
    let mut runs = Vec::new();
    for task in tasks {
        runs.push(task.await.unwrap());
    }
    let session = handle.open().await.unwrap();
    let log: Vec<_> = session.events().cloned().collect();
    assert_eq!(log.len(), 8 * (1 + 3 * 40));
    assert!(
        log.is_sorted_by(|a, b| a.timestamp <= b.timestamp),
        "times run backwards"
    );
    assert!(
        log.is_sorted_by(|a, b| a.id < b.id),
        "ids of one session sort as its log"
    );
    for run in runs {
        let id = run[0].invocation_id;
        let own: Vec<_> = log
            .iter()
            .filter(|event| event.invocation_id == id)
            .collect();
        assert!(own.len() == run.len() && own.iter().zip(&run).all(|(a, b)| Arc::ptr_eq(a, b)));
    }
}

/// A store over a network, whose answers arrive late.
#[derive(Default)]
struct Slow(MemoryStore);

impl SessionStore for Slow {
    fn location(&self) -> Location {
        self.0.location()
    }
    fn create(&self, key: SessionKey, state: StateDelta) -> BoxFuture<'_, Result<Arc<Session>>> {
        self.0.create(key, state)
    }
    fn get<'a>(&'a self, key: &'a SessionKey) -> BoxFuture<'a, Result<Option<Arc<Session>>>> {
        Box::pin(async move {
            let found = self.0.get(key).await;
            tokio::task::yield_now().await;
            found
        })
    }
    fn read<'a>(
        &'a self,
        key: &'a SessionKey,
        filter: &'a EventFilter,
    ) -> BoxFuture<'a, Result<Option<SessionSnapshot>>> {
        self.0.read(key, filter)
    }
    fn append<'a>(&'a self, key: &'a SessionKey, events: Vec<Event>) -> BoxFuture<'a, Result<()>> {
        self.0.append(key, events)
    }
    fn list<'a>(
        &'a self,
        app: &'a str,
        user: Option<&'a str>,
        prefix: &'a str,
    ) -> BoxFuture<'a, Result<Vec<SessionSnapshot>>> {
        self.0.list(app, user, prefix)
    }
    fn delete<'a>(&'a self, key: &'a SessionKey) -> BoxFuture<'a, Result<bool>> {
        self.0.delete(key)
    }
}

#[tokio::test]
async fn two_concurrent_first_runs_create_the_session_once() {
    let store: Arc<dyn SessionStore> = Arc::new(Slow::default());
    let runner: Runner = Runner::builder().session_store(store).build().unwrap();
    let tree = Tree::new("w", vec![run(say("a"))]);
    let handle = runner.session("u", "s");
    let (one, two) = tokio::join!(
        handle.run(&tree, "1").into_future(),
        handle.run(&tree, "2").into_future()
    );
    assert!(Arc::ptr_eq(one.unwrap().session(), two.unwrap().session()));
    assert_eq!(handle.open().await.unwrap().len(), 4);
    handle.create(StateDelta::default()).await.unwrap_err();
}

/// A journal that delays commits, so that some overtake earlier ones.
struct Shuffles;

impl Journal for Shuffles {
    fn commit<'a>(&'a self, slot: Slot, body: Body) -> Reply<'a, Result<Stored>> {
        Reply::Later(Box::pin(async move {
            let waits = |n: u64| async move {
                for _ in 0..n {
                    tokio::task::yield_now().await;
                }
            };
            let length = slot.path.to_string().len() as u64;
            waits(length % 3).await;
            let stored = slot.append(body.draft().await?);
            waits(5 - length % 5).await;
            Ok(stored)
        }))
    }
    fn step(
        &self,
        _: ClaimId,
        _: StepKey,
        work: BoxFuture<'static, Result<Value>>,
    ) -> BoxFuture<'_, Result<Value>> {
        work
    }
    fn answer(&self, _: ClaimId, _: Wait) -> BoxFuture<'_, Result<Option<Value>>> {
        Box::pin(std::future::ready(Ok(None)))
    }
}

impl Engine for Shuffles {
    fn retention(&self) -> Retention {
        Retention::Durable
    }
    fn location(&self) -> Location {
        Location::Memory
    }
    fn roles(&self) -> Roles<'_> {
        Roles {
            registry: None,
            waits: None,
            keys: None,
            driver: None,
            remote: None,
            timers: None,
        }
    }
}

#[tokio::test]
async fn events_are_delivered_in_log_order_even_when_commits_overtake() {
    let names = ["a", "bb", "ccc", "dddd", "eeeee"];
    let inner = || names.map(|name| run(talks(name, 5))).into();
    let leave = by("leave", |cx| {
        Box::pin(async move {
            for n in 0..3 {
                cx.emit(Event::new().with_state("leave", n)).await?;
            }
            Ok(Flow::Exit)
        })
    });
    let trees = [
        Tree::new("w", vec![parallel("p", inner())]),
        Tree::new(
            "w",
            vec![repeat(
                "l",
                None,
                vec![parallel("p", vec![run(leave), parallel("q", inner())])],
            )],
        ),
    ];
    for tree in trees {
        let runner: Runner = Runner::builder().engine(Shuffles).build().unwrap();
        let handle = runner.session("u", "s");
        let read_events = read_events(handle.run(&tree, "go").stream()).await;
        let session = handle.open().await.unwrap();
        let paths = |events: &mut dyn Iterator<Item = &Arc<Event>>| -> Vec<_> {
            events
                .map(|event| format!("{} {}", event.path, event.id))
                .collect()
        };
        assert_eq!(paths(&mut read_events.iter()), paths(&mut session.events()));
    }
}

#[tokio::test]
async fn a_run_that_never_waits_can_be_cancelled() {
    let silent = || by("silent", |_| Box::pin(async { Ok(Flow::Continue) }));
    let trees = [
        Tree::new("w", vec![repeat("l", None, vec![run(silent())])]),
        Tree::new(
            "w",
            vec![repeat("l", None, vec![parallel("p", vec![run(silent())])])],
        ),
        Tree::new(
            "w",
            vec![parallel("p", vec![repeat("l", None, vec![run(silent())])])],
        ),
        Tree::new("w", vec![repeat("l", None, vec![run(say("talks"))])]),
        Tree::new(
            "w",
            vec![repeat(
                "l",
                None,
                vec![parallel("p", vec![run(say("talks")), run(silent())])],
            )],
        ),
    ];
    for tree in trees {
        let run = runner().run(&tree, "go").into_future();
        assert!(
            timeout(Duration::from_millis(20), run).await.is_err(),
            "the run cannot end"
        );
    }
}

#[tokio::test]
async fn a_run_that_wakes_itself_yields_to_other_tasks() {
    let spins = by("spins", |_| {
        Box::pin(async {
            std::future::poll_fn(|task| {
                task.waker().wake_by_ref();
                std::task::Poll::<()>::Pending
            })
            .await;
            Ok(Flow::Continue)
        })
    });
    let tree = Tree::new("w", vec![run(spins)]);
    let run = runner().run(&tree, "go").into_future();
    assert!(
        timeout(Duration::from_millis(20), run).await.is_err(),
        "the run cannot end"
    );
}

#[tokio::test]
async fn a_cancelled_wait_does_not_block() {
    let waits = |name| {
        by(name, |cx| {
            Box::pin(async move {
                cx.wait::<()>("decision").await?;
                Ok(Flow::Continue)
            })
        })
    };
    let gives_up = vec![parallel("p", vec![run(waits("first")), run(exit("stop"))])];
    let tree = Tree::new("w", vec![repeat("l", None, gives_up), run(waits("second"))]);
    let runner = runner();
    let mut stream = runner.run(&tree, "go").stream();
    while let Some(event) = stream.next().await {
        event.unwrap();
    }
    let RunEnd::Paused(waiting) = stream.end() else {
        panic!()
    };
    let ids: Vec<_> = waiting
        .iter()
        .map(|waiting| waiting.id.split_once('/').unwrap().1)
        .collect();
    assert_eq!(ids, ["w/second:decision@0"]);
}

#[tokio::test]
async fn a_cancelled_wait_does_not_pause_the_run_later() {
    let waits = by("waits", |cx| {
        Box::pin(async move {
            cx.wait::<()>("decision").await?;
            Ok(Flow::Continue)
        })
    });
    let slow = by("slow", |_| {
        Box::pin(async {
            tokio::time::sleep(Duration::from_millis(1)).await;
            Ok(Flow::Continue)
        })
    });
    let gives_up = vec![parallel("p", vec![run(waits), run(exit("stop"))])];
    let tree = Tree::new("w", vec![repeat("l", None, gives_up), run(slow)]);
    runner().run(&tree, "go").await.unwrap();
}

#[tokio::test]
async fn a_temp_key_must_be_written_in_the_turn_like_any_other() {
    const KEY: &[KeySpec<'static>] = &[KeySpec::new("temp:note", "String")];
    let with_key = |mut agent: By| {
        agent.meta = agent.meta.writes(KEY);
        agent
    };
    let writes = |name| {
        with_key(by(name, |cx| {
            Box::pin(async move {
                cx.state().set("temp:note", "here")?;
                Ok(Flow::Continue)
            })
        }))
    };
    let tree = Tree::new("w", vec![run(writes("one")), run(with_key(say("two")))]);
    let error = runner().run(&tree, "go").await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::KeyNotWritten);
    assert!(
        error.to_string().starts_with("agent `two` (at w/two)"),
        "{error}"
    );
    runner()
        .run(
            &Tree::new("w", vec![run(writes("one")), run(writes("two"))]),
            "go",
        )
        .await
        .unwrap();
}

#[tokio::test]
async fn an_agent_that_forwards_an_error_keeps_its_path() {
    let fails = by("fails", |_| {
        Box::pin(async { Err(adk_build::Error::other("no luck")) })
    });
    let nested = Tree::with_keys(
        "nested",
        &[],
        &[],
        vec![sequence("s", vec![repeat("l", None, vec![run(fails)])])],
    );
    let nested = Arc::new(nested.lets("limit", 3));
    let tries = by("tries", move |cx| {
        let nested = nested.clone();
        Box::pin(async move {
            let error = adk_build::DynAgent::run_dyn(&*nested, cx)
                .await
                .unwrap_err();
            assert_eq!(error.path().unwrap().to_string(), "w/tries/s/l#1/fails");
            cx.emit(Event::new().with_state("note", error.message()))
                .await?;
            Ok(Flow::Continue)
        })
    });
    let tree = Tree::new("w", vec![run(tries)]);
    let outcome = runner().run(&tree, "go").await.unwrap();
    let last = outcome.session().events().next_back().unwrap();
    assert_eq!(last.path.to_string(), "w/tries");
    assert_eq!(
        outcome.get::<String>("note").unwrap().as_deref(),
        Some("no luck")
    );
}

#[tokio::test(start_paused = true)]
async fn an_agent_that_drops_a_nested_workflow_continues_where_it_was() {
    let waits = by("waits", |_| Box::pin(std::future::pending()));
    let nested = Tree::with_keys(
        "nested",
        &[],
        &[],
        vec![sequence("s", vec![repeat("l", None, vec![run(waits)])])],
    );
    let nested = Arc::new(nested.lets("limit", 3));
    let gives_up = by("gives_up", move |cx| {
        let nested = nested.clone();
        Box::pin(async move {
            let work = adk_build::DynAgent::run_dyn(&*nested, cx);
            timeout(Duration::from_secs(1), work).await.unwrap_err();
            assert_eq!(cx.agent_name(), "gives_up");
            cx.emit(Event::new().with_state("note", "here")).await?;
            Ok(Flow::Continue)
        })
    });
    let tree = Tree::new("w", vec![run(gives_up)]);
    let outcome = runner().run(&tree, "go").await.unwrap();
    let last = outcome.session().events().next_back().unwrap();
    assert_eq!(last.path.to_string(), "w/gives_up");
    let note = outcome.get::<String>("note").unwrap();
    assert_eq!(note.as_deref(), Some("here"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_stream_may_be_dropped_at_any_event() {
    let names = ["a", "b", "c"];
    let all = names.map(|name| run(talks(name, 6))).into();
    let tree = Arc::new(Tree::new(
        "w",
        vec![repeat("l", Some(2), vec![parallel("p", all)])],
    ));
    let runner = runner();
    for stop in 0..=37 {
        let handle = runner.session("u", stop.to_string());
        let (tree, own) = (tree.clone(), handle.clone());
        let task = tokio::spawn(async move {
            let mut stream = own.run(tree, "go").stream();
            let mut last = None;
            for _ in 0..stop {
                last = stream.next().await.map(Result::unwrap);
            }
            last
        });
        let last = task.await.unwrap();
        let session = handle.open().await.unwrap();
        // At most one event of each branch is committed but unread.
        assert!(
            (stop..=stop + names.len()).contains(&session.len()),
            "{} after {stop}",
            session.len()
        );
        assert!(last.is_none_or(|last| session.events().any(|event| Arc::ptr_eq(event, &last))));
        let finished = handle.run(&tree_of(&names), "again").await.unwrap();
        assert!(finished.session().events().is_sorted_by(|a, b| a.id < b.id));
    }
}

fn tree_of(names: &[&'static str]) -> Tree {
    Tree::new("w", names.iter().map(|name| run(say(name))).collect())
}
