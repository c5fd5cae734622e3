//! Test of a server that crashes in the middle of runs. It has a file of its own, because it stops
//! the server for all other tests and cargo runs one file after the other.
//!
//! Run by
//! `tests/peers/run-postgres.sh cargo test -p adk-workflow-postgres --test crash -- --ignored`.

#![allow(clippy::unwrap_used, reason = "a test fails by a panic")]

mod support;

use adk_build::session::{EventFilter, SessionStore};
use adk_build::{Error, Event, Flow, StoreErrorKind};
use adk_postgres::{Options, PostgresStore};
use adk_store_kit::place::{key, kind, runner};
use adk_store_kit::trees::{Tree, by, repeat, run};
use std::process::{Command, Stdio};
use std::time::Duration;
use support::{Database, quick};
use tokio::task::{JoinHandle, spawn_blocking};

/// Stops the server as a crash does, starts it, or both. The server writes nothing when it stops,
/// and recovers from its log.
fn pg_ctl(does: &str) {
    let pg_ctl = std::env::var("ADK_PG_CTL").expect("start it by tests/peers/run-postgres.sh");
    let data = std::env::var("ADK_POSTGRES_DATA").unwrap();
    let mut words = pg_ctl.split_whitespace();
    let mut command = Command::new(words.next().unwrap());
    let command = command
        .args(words)
        .args(["-D", &data, "-m", "immediate", "-w", "-t", "300"]);
    let command = command.args(["-l", "/dev/null", does]).current_dir("/");
    let done = command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    assert!(done.unwrap().success(), "{does}");
}

/// Executes a run, and calls `pg_ctl` with `does` after each 150 events.
async fn through_crashes(
    options: Options,
    crashes: usize,
    does: &'static str,
) -> (Vec<adk_build::EventId>, Option<Error>, Database) {
    let database = Database::new().await;
    let store = PostgresStore::connect_with(&database.url, options)
        .await
        .unwrap();
    let counts = by("a", |cx| {
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
    let tree = Tree::new("w", vec![repeat("l", Some(600), vec![run(counts)])]);
    let mut stream = runner(&store).session("u", "s").run(&tree, "go").stream();
    let (mut seen, mut error) = (Vec::new(), None);
    let mut crash: Option<JoinHandle<()>> = None;
    while let Some(event) = stream.next().await {
        match event {
            Ok(event) => seen.push(event.id),
            Err(other) => {
                error = Some(other);
                continue;
            }
        }
        if seen.len() % 150 == 50 && seen.len() / 150 < crashes {
            if let Some(earlier) = crash.take() {
                // Concurrent calls conflict: the second waits for the end of a server that the
                // first has started.
                earlier.await.unwrap();
            }
            crash = Some(spawn_blocking(|| pg_ctl(does)));
        }
    }
    if let Some(crash) = crash {
        crash.await.unwrap();
    }
    (seen, error, database)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs Postgres: tests/peers/run-postgres.sh"]
async fn a_run_survives_crashes_of_the_server() {
    let (seen, error, database) =
        through_crashes(quick().patience(Duration::from_secs(60)), 3, "restart").await;
    assert!(error.is_none(), "{error:?}");
    let store = PostgresStore::connect(&database.url).await.unwrap();
    let there = store
        .read(&key(), &EventFilter::new())
        .await
        .unwrap()
        .unwrap();
    let stored: Vec<_> = there.events.iter().map(|event| event.id).collect();
    let differs = stored
        .iter()
        .zip(&seen)
        .position(|(stored, seen)| stored != seen);
    assert!(
        stored == seen,
        "{} are stored, {} seen, another at {differs:?}",
        stored.len(),
        seen.len()
    );
    let texts = there.events.iter().skip(1).map(|event| event.text());
    assert!(
        texts.eq((1..=600).map(|n: u32| n.to_string())),
        "each once, in order"
    );

    // When the patience is over, the error is retryable, and the run can be resumed where it was.
    let (seen, error, database) =
        through_crashes(quick().patience(Duration::from_secs(1)), 1, "stop").await;
    pg_ctl("start");
    let error = error.unwrap();
    // The server may have stopped during a commit, so the outcome may be unknown.
    let kinds = [StoreErrorKind::Unavailable, StoreErrorKind::OutcomeUnknown];
    assert!(kinds.contains(&kind(&error)), "{error}");
    assert!(error.is_retryable() && error.help().is_some(), "{error}");
    let store = PostgresStore::connect(&database.url).await.unwrap();
    let there = store
        .read(&key(), &EventFilter::new())
        .await
        .unwrap()
        .unwrap();
    let ids: Vec<_> = there.events.iter().map(|event| event.id).collect();
    assert!(
        ids.starts_with(&seen) && ids.len() <= seen.len() + 1,
        "{} of {}",
        ids.len(),
        seen.len()
    );
}
