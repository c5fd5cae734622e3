//! A workflow over time: each run has its own keys, `state` lasts, and runs of one session take
//! turns.
#![allow(clippy::unwrap_used, clippy::needless_pass_by_value)]

use adk::engine::MemoryJournal;
use adk::prelude::*;
use adk::testing::{Reply, ScriptedModel};
use adk::{ErrorKind, RunConfig, RunEnd, SessionTurns};
use std::sync::Arc;
use std::time::Duration;

/// Returns the note, if it exists.
#[agent(writes = told)]
fn look(note: Option<&str>) -> String {
    note.unwrap_or("nothing").to_owned()
}

/// Writes a note.
#[agent(writes = note)]
fn keep(topic: &str) -> String {
    topic.to_owned()
}

workflow! {
    /// Looks before it writes.
    Once(topic: String) -> told: String { look; keep }
}

workflow! {
    /// Sees the note of the first round in the second round.
    Twice(topic: String) -> told: String { loop(max = 2) < look; keep > }
}

workflow! {
    /// Does the same one level deeper.
    Deeper(topic: String) -> told: String { Once }
}

#[tokio::test]
async fn a_run_does_not_see_the_keys_of_an_earlier_run() {
    let runner: Runner = Runner::builder().build().unwrap();
    let session = runner.session("u", "s");
    for topic in ["a", "b"] {
        assert_eq!(
            session.run(&Once::default(), topic).await.unwrap().output,
            "nothing"
        );
        assert_eq!(
            session.run(&Deeper::default(), topic).await.unwrap().output,
            "nothing"
        );
        assert_eq!(
            session.run(&Twice::default(), topic).await.unwrap().output,
            topic
        );
    }
    // The session still holds the key, for readers of the session.
    assert_eq!(
        session
            .run(&Once::default(), "c")
            .await
            .unwrap()
            .get::<String>("note")
            .unwrap()
            .as_deref(),
        Some("c")
    );
}

/// Adds to the notes of the session.
#[agent(writes = notes)]
fn add(notes: Option<&str>, topic: &str) -> String {
    notes.map_or_else(|| topic.to_owned(), |notes| format!("{notes} {topic}"))
}

/// Reads the notes, which exist at this point.
#[agent(writes = told)]
fn tell(notes: &str) -> String {
    notes.to_owned()
}

workflow! {
    /// Uses a key that lasts, and that a new session does not hold.
    Lasting(topic: String) -> told: String {
        state notes: Option<String>;
        add; tell
    }
}

#[tokio::test]
async fn state_lasts_and_may_be_absent_at_first() {
    let runner: Runner = Runner::builder().build().unwrap();
    let session = runner.session("u", "s");
    for told in ["a", "a a", "a a a"] {
        assert_eq!(
            session.run(&Lasting::default(), "a").await.unwrap().output,
            told
        );
    }
    let error = session
        .run(&Lasting::default(), "a")
        .state("notes", 1)
        .await
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::KeyType, "{error}");
}

workflow! {
    /// Waits between the write and the read.
    Waits(topic: String) -> (told: String, total: u64) {
        state total: Option<u64>;
        keep; count;
        /// Go on?
        await go: bool;
        look; count as again
    }
}

/// Increments a counter of the session.
#[agent(writes = total)]
async fn count(cx: &mut Context) -> Result<u64> {
    cx.state()
        .update("total", |n: Option<u64>| n.unwrap_or(0) + 1)
        .await
}

#[tokio::test]
async fn a_waiting_run_releases_its_turn_and_keeps_its_keys() {
    let runner: Runner = Runner::builder()
        .engine(MemoryJournal::new())
        .build()
        .unwrap();
    let session = runner.session("u", "s");
    for topic in ["a", "b", "c"] {
        let waits = Waits::default();
        let mut stream = session.run(&waits, topic).stream();
        while let Some(event) = stream.next().await {
            event.unwrap();
        }
        assert!(matches!(stream.end(), RunEnd::Paused(_)));
    }
    // Each run continues with its own note, in another order, and all increment the counter of the
    // session.
    let waiting = session.waiting().await.unwrap();
    for (nth, total) in [(1, 4), (2, 5), (0, 6)] {
        runner.answer(&waiting[nth].id, true).await.unwrap();
        let output = runner
            .resume(&Waits::default(), waiting[nth].run_id)
            .await
            .unwrap()
            .output;
        assert_eq!((&*output.told, output.total), (["a", "b", "c"][nth], total));
    }
}

workflow! {
    /// Runs two steps.
    Two(topic: String) -> b: String {
        agent one -> a: String { instruction: "One {topic}" }
        agent second -> b: String { instruction: "Second of {topic}: {a}" }
        one; second
    }
}

fn slow() -> ScriptedModel {
    let slow = Reply::new().text("a").after(Duration::from_secs(30));
    ScriptedModel::new()
        .on("one")
        .reply(slow)
        .repeat_last()
        .on("second")
        .text("b")
        .repeat_last()
}

/// Returns the topics of the model requests, in the order of the calls.
async fn asked_topics(config: RunConfig) -> Vec<String> {
    let model = slow();
    let runner: Runner = Runner::builder()
        .model(model.clone())
        .config(config)
        .build()
        .unwrap();
    let runs = (0..20).map(|n| {
        let session = runner.session("u", "s");
        tokio::spawn(async move {
            session
                .run(Arc::new(Two::default()), format!("topic {n}"))
                .await
                .map(|_| ())
        })
    });
    for run in runs.collect::<Vec<_>>() {
        run.await.unwrap().unwrap();
    }
    let prompt = |request: &Arc<adk::model::ModelRequest>| {
        let line = request
            .system_instruction
            .lines()
            .next()
            .unwrap_or_default()
            .to_owned();
        line.replace("Second of ", "")
            .replace("One ", "")
            .replace(": a", "")
    };
    model.requests().iter().map(prompt).collect()
}

#[tokio::test(start_paused = true)]
async fn runs_of_a_session_take_turns_in_the_order_of_arrival() {
    let began = tokio::time::Instant::now();
    let each_twice: Vec<_> = (0..20)
        .flat_map(|n| [format!("topic {n}"), format!("topic {n}")])
        .collect();
    assert_eq!(asked_topics(RunConfig::new()).await, each_twice);
    assert_eq!(began.elapsed().as_secs() / 30, 20, "one after the other");
}

#[tokio::test(start_paused = true)]
async fn runs_that_share_a_session_read_their_own_keys() {
    let began = tokio::time::Instant::now();
    let mut all = asked_topics(RunConfig::new().turns(SessionTurns::Share)).await;
    assert_eq!(began.elapsed().as_secs() / 30, 1, "at the same time");
    all.sort();
    all.dedup();
    assert_eq!(all.len(), 20, "{all:?}");
}

#[tokio::test(start_paused = true)]
async fn a_run_may_be_refused_and_a_dropped_stream_releases_its_turn() {
    let runner: Runner = Runner::builder().model(slow()).build().unwrap();
    let session = runner.session("u", "s");
    let two = Two::default();
    let mut first = session.run(&two, "a").stream();
    let event = first.next().await.unwrap().unwrap();
    let refuse = || {
        session
            .run(&two, "b")
            .config(RunConfig::new().turns(SessionTurns::Refuse))
    };
    let error = refuse().await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::SessionBusy);
    let says = format!(
        "session `{}` is busy: run `{}` has its turn",
        session.key(),
        event.invocation_id
    );
    assert!(error.to_string().starts_with(&says), "{error}");
    // Another session is free, and this session is free after its stream is dropped.
    runner.session("u", "other").run(&two, "c").await.unwrap();
    drop(first);
    refuse().await.unwrap();
}

#[derive(adk::Resources)]
struct Shop {
    runner: Runner,
}

/// Starts a run in the given session.
#[agent(writes = reply)]
async fn ask(#[resource] runner: &Runner, session: &str) -> Result<String> {
    Ok(runner
        .session("u", session.to_owned())
        .run(&Two::default(), "x")
        .await?
        .output)
}

workflow! {
    /// Starts a run inside a run.
    Inside(session: String) -> reply: String { ask }
}

#[tokio::test(start_paused = true)]
async fn a_run_does_not_wait_for_the_enclosing_run() {
    let store: Arc<dyn adk::session::SessionStore> = Arc::new(adk::session::MemoryStore::new());
    let inner: Runner = Runner::builder()
        .model(slow())
        .session_store(store.clone())
        .build()
        .unwrap();
    let runner = Runner::builder()
        .session_store(store)
        .resources(Shop { runner: inner })
        .build()
        .unwrap();
    let session = runner.session("u", "s");
    assert_eq!(
        session
            .run(&Inside::default(), "other")
            .await
            .unwrap()
            .output,
        "b"
    );
    let error = session.run(&Inside::default(), "s").await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::SessionBusy, "{error}");
    assert!(
        error
            .to_string()
            .contains("give the inner run a session of its own"),
        "{error}"
    );
}
