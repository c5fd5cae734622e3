//! Tests of a network that goes silent: waits for the server end, and work continues over a new
//! connection.

use crate::silent_network::Silent;
use crate::support::{Database, quick};
use adk_build::engine::RunFilter;
use adk_build::memory::MemoryService;
use adk_build::session::{EventFilter, SessionStore};
use adk_build::{ArtifactStore, Event, Flow, Part, RunId, StateDelta, StoreErrorKind};
use adk_postgres::{Options, PostgresStore};
use adk_store_kit::place::{key, kind, runner};
use adk_store_kit::trees::{Tree, by, repeat, run, say};
use std::time::Duration;

/// Fails if the work does not end. The timeout is much longer than any limit of the store in the
/// test.
async fn ends<T>(what: &str, work: impl Future<Output = T>) -> T {
    let ended = tokio::time::timeout(Duration::from_secs(60), work).await;
    ended.unwrap_or_else(|_| panic!("{what} has no limit"))
}

fn patient() -> Options {
    quick().patience(Duration::from_secs(2)).connections(4)
}

fn counts(rounds: u32) -> Tree {
    let count = by("count", |cx| {
        Box::pin(async move {
            let n: u64 = cx.state().get("n")?.unwrap_or(0);
            let next = cx.step("count", async move { Ok(n + 1) }).await?;
            cx.emit(
                Event::new()
                    .with_text(format!("{next}"))
                    .with_state("n", next),
            )
            .await?;
            Ok(Flow::Continue)
        })
    });
    Tree::new("w", vec![repeat("l", Some(rounds), vec![run(count)])])
}

/// Each stream continues over a new connection, and nothing is done twice.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs Postgres: tests/peers/run-postgres.sh"]
async fn a_run_continues_after_its_connections_were_dropped() {
    let database = Database::new().await;
    let network = Silent::new(&database).await;
    let store = PostgresStore::connect_with(&network.url, patient())
        .await
        .unwrap();
    let runner = runner(&store);
    let streams: Vec<_> = (0..4)
        .map(|n| {
            let runner = runner.clone();
            tokio::spawn(async move {
                let tree = counts(200);
                let mut stream = runner
                    .session("u", format!("s{n}"))
                    .run(&tree, "go")
                    .stream();
                let mut texts = Vec::new();
                while let Some(event) = stream.next().await {
                    texts.push(event?.text());
                }
                Ok::<_, adk_build::Error>(texts)
            })
        })
        .collect();
    for events in [100_i64, 300] {
        let sql = "SELECT count(*) FROM events";
        let mut own = database.connect().await;
        while sqlx::query_scalar::<_, i64>(sql)
            .fetch_one(&mut own)
            .await
            .unwrap()
            < events
        {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        network.cut();
    }
    for stream in streams {
        let texts = ends("a stream", stream).await.unwrap().unwrap();
        assert!(
            texts
                .iter()
                .skip(1)
                .eq(&(1..=200).map(|n| n.to_string()).collect::<Vec<_>>()),
            "{texts:?}"
        );
    }
}

/// Each call first gets connections that the network has dropped while they were free. One timeout
/// covers all of them.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs Postgres: tests/peers/run-postgres.sh"]
async fn dropped_free_connections_fail_no_call() {
    let database = Database::new().await;
    let network = Silent::new(&database).await;
    let store = PostgresStore::connect_with(&network.url, patient())
        .await
        .unwrap();
    let runner = runner(&store);
    store.create(key(), StateDelta::default()).await.unwrap();
    runner
        .session("u", "s")
        .run(&Tree::new("w", vec![run(say("a"))]), "go")
        .await
        .unwrap();
    let id = runner.runs(&RunFilter::any()).await.unwrap()[0].run_id;
    // The pool holds several connections, all free.
    let any = RunFilter::any();
    let all: Vec<_> = (0..8).map(|_| runner.runs(&any)).collect();
    for listed in futures_util::future::join_all(all).await {
        assert_eq!(listed.unwrap().len(), 1);
    }
    network.cut();
    ends("a list", runner.runs(&RunFilter::any()))
        .await
        .unwrap();
    network.cut();
    ends("to read", store.read(&key(), &EventFilter::new()))
        .await
        .unwrap();
    network.cut();
    ends("to cancel", runner.cancel(id)).await.unwrap();
    network.cut();
    ends("to save", store.save(&key(), "file", Part::text("text")))
        .await
        .unwrap();
    network.cut();
    ends("to search", store.search_memory("app", "u", "word"))
        .await
        .unwrap();
    network.cut();
    let tree = Tree::new("w", vec![run(say("a"))]);
    ends("a run", async {
        runner.session("u", "s").run(&tree, "go").await
    })
    .await
    .unwrap();
}

/// The server seems reachable but does not answer. Each wait for it ends with a retryable error.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs Postgres: tests/peers/run-postgres.sh"]
async fn each_wait_for_a_silent_server_is_limited() {
    let database = Database::new().await;
    let network = Silent::new(&database).await;
    let store = PostgresStore::connect_with(&network.url, patient())
        .await
        .unwrap();
    let runner = runner(&store);
    let tree = counts(1_000_000);
    let mut stream = runner.session("u", "s").run(&tree, "go").stream();
    for _ in 0..3 {
        stream.next().await.unwrap().unwrap();
    }
    network.die();
    let error = ends("a stream", async {
        loop {
            if let Err(error) = stream.next().await.unwrap() {
                break error;
            }
        }
    });
    let (any, key, all) = (RunFilter::any(), key(), EventFilter::new());
    let (error, listed, cancelled, read, opened) = tokio::join!(
        error,
        ends("a list", runner.runs(&any)),
        ends("to cancel", runner.cancel(RunId::new())),
        ends("to read", store.read(&key, &all)),
        ends(
            "to connect",
            PostgresStore::connect_with(&network.url, patient())
        ),
    );
    // For a write, the server may have died during the commit.
    let kinds = [StoreErrorKind::Unavailable, StoreErrorKind::OutcomeUnknown];
    assert!(
        kinds.contains(&kind(&error)) && error.is_retryable(),
        "{error}"
    );
    for error in [
        listed.unwrap_err(),
        cancelled.unwrap_err(),
        read.unwrap_err(),
        opened.unwrap_err(),
    ] {
        assert_eq!(kind(&error), StoreErrorKind::Unavailable, "{error}");
        assert!(error.is_retryable(), "{error}");
    }
    drop(stream);
    ends("to shut down", store.shut_down()).await.unwrap_err();
}
