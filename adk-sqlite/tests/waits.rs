//! Runs that wait in a file: answered and taken up by other stores on it, as other processes do.

#![allow(clippy::unwrap_used, reason = "a test fails by a panic")]

#[path = "../../adk-core/tests/support/mod.rs"]
mod trees;

mod place;
mod support;

use adk_core::RunEnd;
use support::Folder;
use trees::people::{self, pause, process, two};

#[tokio::test]
async fn each_question_is_answered_once_by_whatever_process() {
    people::answers(&Folder::new()).await;
}

#[tokio::test]
async fn deadlines_are_taken_by_whoever_recovers() {
    people::deadlines(&Folder::new()).await;
}

#[tokio::test]
async fn whoever_watches_takes_answers_and_deadlines() {
    people::watches(&Folder::new()).await;
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

#[tokio::test]
async fn a_run_that_is_refused_is_as_it_was() {
    people::refusals(&Folder::new()).await;
}
