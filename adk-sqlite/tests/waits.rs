//! Runs that wait for people, on the store.

#![allow(clippy::unwrap_used, reason = "a test fails by a panic")]

#[path = "../../adk-core/tests/support/mod.rs"]
mod trees;

mod support;

use adk_core::{ErrorKind, Event, Flow, RunEnd, RunId, Runner};
use adk_sqlite::SqliteStore;
use serde_json::json;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use support::Folder;
use trees::{By, Tree, by, parallel, run};

fn asks() -> By {
    by("asks", |cx| {
        Box::pin(async move {
            let yes: bool = cx.wait("decision").await?;
            cx.emit(Event::new().with_text(format!("it says {yes}"))).await?;
            Ok(Flow::Continue)
        })
    })
}

fn counts(runs: &Arc<AtomicUsize>) -> By {
    let runs = runs.clone();
    by("counts", move |cx| {
        let runs = runs.clone();
        Box::pin(async move {
            runs.fetch_add(1, Relaxed);
            cx.emit(Event::new().with_text("counted")).await?;
            Ok(Flow::Continue)
        })
    })
}

/// A process of its own, as far as the file is concerned.
async fn runner(folder: &Folder) -> Runner {
    let store = SqliteStore::open(folder.file()).await.unwrap();
    Runner::builder().app_name("app").session_store(store.clone()).engine(store).build().unwrap()
}

#[tokio::test]
async fn an_agent_that_finishes_after_the_last_commit_of_a_pause_is_not_run_again() {
    let (folder, runs) = (Folder::new(), Arc::new(AtomicUsize::new(0)));
    let tree = Tree::new("w", vec![parallel("p", vec![run(asks()), run(counts(&runs))])]);
    let first = runner(&folder).await;
    let mut stream = first.session("u", "s").run(&tree, "go").stream();
    while let Some(event) = stream.next().await {
        event.unwrap();
    }
    let RunEnd::Paused(waiting) = stream.end() else { panic!() };
    drop((stream, first));

    let second = runner(&folder).await;
    second.answer(&waiting[0].id, true).await.unwrap();
    second.resume(&tree, waiting[0].run_id).await.unwrap();
    assert_eq!(runs.load(Relaxed), 1);
}

#[tokio::test]
async fn what_answers_nobody_is_refused_and_changes_nothing() {
    let (folder, runs) = (Folder::new(), Arc::new(AtomicUsize::new(0)));
    let tree = Tree::new("w", vec![run(counts(&runs)), run(asks())]);
    let runner = runner(&folder).await;
    let session = runner.session("u", "s");
    assert_eq!(session.run(&tree, "go").await.unwrap_err().kind(), ErrorKind::Paused);
    let waiting = runner.waiting().await.unwrap();
    let state = async || {
        let mut lines = Vec::new();
        let line = |line: &str| {
            lines.push(line.to_owned());
            Ok(())
        };
        assert!(session.export(line).await.unwrap());
        lines
    };
    let before = state().await;

    let unknown: RunId = "e-00000000-0000-7000-8000-000000000001".parse().unwrap();
    let error = runner.resume(&tree, unknown).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::UnknownRun, "{error}");
    let error = runner.answer("e-1/w/asks:decision@0", true).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::UnknownWait, "{error}");
    assert_eq!((state().await, runner.waiting().await.unwrap()), (before.clone(), waiting.clone()));

    runner.answer(&waiting[0].id, true).await.unwrap();
    let error = runner.answer(&waiting[0].id, false).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Answered, "{error}");
    assert_eq!(state().await, before);
    runner.resume(&tree, waiting[0].run_id).await.unwrap();
    let last = session.open().await.unwrap().events().last().unwrap().text();
    assert_eq!(json!(last), "it says true", "the first answer stands");
    let error = runner.answer(&waiting[0].id, false).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Answered, "also when the run has ended: {error}");
}
