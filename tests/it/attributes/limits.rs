//! `timeout` and `retry` of functions and tools.

use adk::engine::{MemoryJournal, RunFilter};
use adk::prelude::*;
use adk::testing::ScriptedModel;
use adk::{AgentMeta, ErrorKind, Tool};
use serde_json::json;
use std::future::pending;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::time::Duration;
use tokio::sync::{Mutex, Notify};

/// Hangs in its second call.
#[agent(writes = found, timeout = "1.5m")]
async fn search(topic: &str) -> String {
    static CALLS: AtomicU32 = AtomicU32::new(0);
    if CALLS.fetch_add(1, SeqCst) > 0 {
        pending::<()>().await;
    }
    topic.to_owned()
}

/// Emits an event, then hangs.
#[agent(timeout = "20s")]
async fn talks(cx: &mut Context) -> Result<()> {
    cx.emit(Event::new().with_text("on it")).await?;
    pending().await
}

workflow! {
    /// Searches twice, so that it hangs.
    Searching(topic: String) -> found: String { search; search as again }
}

workflow! {
    /// Talks.
    Talking(topic: String) { talks }
}

#[tokio::test(start_paused = true)]
async fn a_function_that_hangs_fails_the_run() {
    const META: AgentMeta<'static> = <search as Agent>::META;
    assert_eq!(META.timeout, Some(Duration::from_secs(90)));
    let runner = Runner::builder()
        .engine(MemoryJournal::new())
        .build()
        .unwrap();
    let since = tokio::time::Instant::now();
    let error = runner.run(&Searching::default(), "cats").await.unwrap_err();
    assert_eq!(
        (error.kind(), since.elapsed().as_secs()),
        (ErrorKind::Timeout, 90)
    );
    assert_eq!(
        error.to_string(),
        "agent `again` (at searching/again): the function gave no result in 90s, its `timeout`; \
         help: give it a longer `timeout`, or look for what it waits for"
    );
    assert!(error.is_retryable());
    let failed = runner.runs(&RunFilter::failed()).await.unwrap();
    assert_eq!(failed.len(), 1);

    let session = runner.session("ann", "talk");
    let error = session.run(&Talking::default(), "cats").await.unwrap_err();
    assert_eq!(
        (error.kind(), since.elapsed().as_secs()),
        (ErrorKind::Timeout, 110)
    );
    assert_eq!(
        session.open().await.unwrap().len(),
        2,
        "what it has said stays"
    );
}

/// The lock that a test holds while a function must block.
static GATE: Mutex<()> = Mutex::const_new(());
static STARTED: Notify = Notify::const_new();

fn block() {
    STARTED.notify_one();
    drop(GATE.blocking_lock());
}

/// Blocks.
#[agent(timeout = "20s", blocking)]
fn blocks() {
    block();
}

/// Blocks.
#[tool(timeout = "20s", retry = 3, blocking)]
fn waits(cx: &mut ToolContext) {
    cx.actions.escalate = true;
    block();
}

workflow! {
    /// Blocks.
    Blocking(topic: String) { blocks }
}

workflow! {
    /// Blocks in a tool.
    Asking(topic: String) -> answer: String {
        let answer: String = "";
        state asked: Option<bool>;
        agent clerk -> answer: String {
            instruction: "Answer {topic}",
            tools: [waits],
            before_tool: |cx, _| cx.state().set("asked", true),
        }
        loop(max = 2) < clerk >
    }
}

#[tokio::test(start_paused = true)]
async fn a_blocked_thread_is_abandoned() {
    let meta = <waits as Tool>::META;
    assert_eq!(
        (meta.timeout, meta.retry, meta.blocking),
        (Some(Duration::from_secs(20)), 3, true)
    );
    let held = GATE.lock().await;
    // The paused clock of a test does not advance while a thread works.
    let late = async {
        STARTED.notified().await;
        tokio::time::advance(Duration::from_secs(20)).await;
    };
    let runner = Runner::builder().model(Rehearsal::new()).build().unwrap();
    let blocking = Blocking::default();
    let (error, ()) = tokio::join!(runner.run(&blocking, "cats"), late);
    let error = error.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Timeout);
    let left = "in 20s, its `timeout`; it still runs on its thread, and its result is dropped";
    assert!(error.message().ends_with(left), "{error}");

    let model = ScriptedModel::new()
        .call("waits", json!({}))
        .text("too bad")
        .repeat_last();
    let runner = Runner::builder().model(model.clone()).build().unwrap();
    let late = async {
        STARTED.notified().await;
        tokio::time::advance(Duration::from_secs(20)).await;
    };
    let asking = Asking::default();
    let (outcome, ()) = tokio::join!(runner.run(&asking, "cats"), late);
    let outcome = outcome.unwrap();
    drop(held);
    let told = format!("{:?}", model.requests()[1].contents);
    assert!(
        told.contains(left) && !told.contains("attempts"),
        "it is not called twice at a time: {told}"
    );
    assert_eq!(outcome.loops[0].rounds, 2, "the call has ended no loop");
    assert_eq!(
        outcome.get::<bool>("asked").unwrap(),
        Some(true),
        "what a callback has set before it stays"
    );
}
