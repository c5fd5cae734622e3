//! Runs that wait in a file: answered and taken up by other stores on it, as other processes do.

#![allow(clippy::unwrap_used, reason = "a test fails by a panic")]

#[path = "../../adk-core/tests/support/mod.rs"]
mod trees;

mod support;

use adk_core::{Await, Error, ErrorKind, RunEnd, Runner, Waiting};
use adk_sqlite::SqliteStore;
use serde_json::json;
use std::time::Duration;
use support::Folder;
use trees::{Tree, exit, parallel, repeat, run, say};

/// A runner of a process of its own.
async fn process(folder: &Folder, tree: fn() -> Tree) -> Runner {
    let store = SqliteStore::open(folder.file()).await.unwrap();
    Runner::builder().session_store(store.clone()).engine(store).workflow(tree()).build().unwrap()
}

async fn pause(folder: &Folder, tree: fn() -> Tree) -> Vec<Waiting> {
    let (runner, tree) = (process(folder, tree).await, tree());
    let mut stream = runner.run(&tree, "go").stream();
    while let Some(event) = stream.next().await {
        event.unwrap();
    }
    let RunEnd::Paused(waiting) = stream.end() else { panic!("it does not wait") };
    waiting
}

fn kind<T: std::fmt::Debug>(result: Result<T, Error>) -> ErrorKind {
    result.unwrap_err().kind()
}

fn two() -> Tree {
    let ask = |key| run(Await::builder::<bool>(key).question("Yes or no?").build());
    // The first is cut off, and nobody waits for it any more.
    let round = parallel("p", vec![ask("lost"), run(exit("leaver"))]);
    Tree::new(
        "w",
        vec![repeat("l", Some(2), vec![round]), parallel("q", vec![ask("a"), ask("b")]), run(say("end"))],
    )
}

#[tokio::test]
async fn each_question_is_answered_once_by_whatever_process() {
    let folder = Folder::new();
    let waiting = pause(&folder, two).await;
    let paths: Vec<_> = waiting.iter().map(|one| one.path.to_string()).collect();
    assert_eq!(paths, ["w/q/a", "w/q/b"]);
    let other = process(&folder, two).await;
    assert_eq!(other.waiting().await.unwrap(), waiting);

    assert_eq!(kind(other.answer(&waiting[1].id, "yes").await), ErrorKind::AnswerInvalid);
    assert_eq!(kind(other.answer("e-1/w/a:await@0", true).await), ErrorKind::UnknownWait);
    assert!(other.recover().await.unwrap().is_empty(), "nothing has changed");
    other.answer(&waiting[1].id, true).await.unwrap();
    assert_eq!(kind(other.answer(&waiting[1].id, false).await), ErrorKind::Answered);
    drop(other);

    let third = process(&folder, two).await;
    let open = third.recover().await.unwrap().remove(0).result.unwrap();
    assert_eq!(open, waiting[..1], "the other still waits");
    assert!(third.recover().await.unwrap().is_empty(), "an answer that was taken does not wake it again");
    third.answer(&waiting[0].id, false).await.unwrap();
    assert!(third.recover().await.unwrap().remove(0).result.unwrap().is_empty());
    let tree = two();
    let outcome = third.resume(&tree, waiting[0].run_id).await.unwrap();
    assert_eq!(
        (outcome.get("a").unwrap(), outcome.get("b").unwrap()),
        (Some(json!(false)), Some(json!(true)))
    );
    assert!(third.waiting().await.unwrap().is_empty());
}

fn late() -> Tree {
    let soon = Duration::from_micros(1);
    let default = Await::builder::<u32>("first").timeout(soon).default(7).build();
    Tree::new("w", vec![run(default), run(Await::builder::<u32>("second").timeout(soon).build())])
}

#[tokio::test]
async fn deadlines_are_taken_by_whoever_recovers() {
    let folder = Folder::new();
    let waiting = pause(&folder, late).await;
    let other = process(&folder, late).await;
    let open = other.recover().await.unwrap().remove(0).result.unwrap();
    assert_eq!(open[0].path.to_string(), "w/second");
    let error = other.recover().await.unwrap().remove(0).result.unwrap_err();
    assert_eq!(
        (error.kind(), error.path().unwrap().to_string()),
        (ErrorKind::Expired, "w/second".to_owned())
    );
    assert_eq!(kind(other.answer(&waiting[0].id, 8).await), ErrorKind::Answered);
}
#[tokio::test]
async fn a_resume_that_is_dropped_leaves_no_driver() {
    let folder = Folder::new();
    let waiting = pause(&folder, two).await;
    let (runner, tree) = (process(&folder, two).await, two());
    for polls in 0..6 {
        let mut stream = runner.resume(&tree, waiting[0].run_id).stream();
        let mut next = std::pin::pin!(stream.next());
        for _ in 0..polls {
            let polled = std::future::poll_fn(|task| std::task::Poll::Ready(next.as_mut().poll(task))).await;
            if polled.is_ready() {
                break;
            }
            tokio::task::yield_now().await;
        }
    }
    // What was asked for before is done before.
    let mut stream = runner.resume(&tree, waiting[0].run_id).stream();
    assert!(stream.next().await.is_none());
    assert!(matches!(stream.end(), RunEnd::Paused(_)), "nobody drives it");
}
