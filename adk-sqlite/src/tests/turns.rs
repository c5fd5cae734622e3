//! Tests that a turn takes as many steps of SQLite in a long session as in a short one.

#![allow(clippy::unwrap_used, reason = "a test fails by a panic")]

use crate::SqliteStore;
use adk_build::llm::{Compaction, IncludeContents, LlmAgent};
use adk_build::{Agent, AgentMeta, Context, Needs, RunRequest, Runner, SequentialAgent, Workflow};
use adk_journal::{Event, EventCompaction, StateDelta};
use adk_model::testing::ScriptedModel;
use adk_model::{Content, Flow, Result};
use rusqlite::Connection;
use std::collections::HashMap;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::sync::{Arc, LazyLock, Mutex};

/// Step counters of the connections, by file.
static STEPS: LazyLock<Mutex<HashMap<PathBuf, Arc<AtomicU64>>>> = LazyLock::new(Mutex::default);

fn steps(path: &Path) -> Arc<AtomicU64> {
    STEPS
        .lock()
        .unwrap()
        .entry(path.to_owned())
        .or_default()
        .clone()
}

/// Adds the steps of a connection to the counter of its file.
pub(crate) fn count_steps(mut connection: Connection) -> Connection {
    let steps = steps(connection.path().unwrap().as_ref());
    let step = move || {
        steps.fetch_add(1, SeqCst);
        false
    };
    connection.progress_handler(1, Some(step)).unwrap();
    connection
}

/// Emits a text without reading the history.
struct Says;

impl Agent for Says {
    const META: AgentMeta<'static> = AgentMeta::custom("says");

    async fn run(&self, cx: &mut Context) -> Result<Flow> {
        cx.emit(Event::new().with_text("said")).await?;
        Ok(Flow::Continue)
    }
}

/// Asks a person, then emits a text.
struct Asks;

impl Agent for Asks {
    const META: AgentMeta<'static> = AgentMeta::custom("asks");

    async fn run(&self, cx: &mut Context) -> Result<Flow> {
        cx.wait::<bool>("answer").await?;
        Says.run(cx).await
    }
}

const SHORT: u64 = 100;
const LONG: u64 = 3_000;

/// Returns alternating events of a user and an agent; the tenth from the end is a summary of the
/// events before it.
fn conversation(places: Range<u64>) -> Vec<Event> {
    let event = |n: u64| {
        let mut event = Event::new().with_content(Content::user("text"));
        event.author = if n.is_multiple_of(2) { "user" } else { "other" }.into();
        event.timestamp = 1_767_225_600_000_000 + n;
        event.id = format!("01890000-0000-7000-8000-{:012x}", n + 1)
            .parse()
            .unwrap();
        event.invocation_id = "e-01890000-0000-7000-8000-000000000000".parse().unwrap();
        if n + 10 == places.end {
            let summary = EventCompaction::until(event.timestamp - 1, "summary");
            (event.content, event.actions.compaction) = (None, Some(Arc::new(summary)));
        }
        event
    };
    places.clone().map(event).collect()
}

/// A file with a session of many events, removed on drop.
struct SessionFile(PathBuf);

impl SessionFile {
    async fn new(name: &str, many: u64) -> Self {
        let name = format!("adk-sqlite-turns-{}-{name}-{many}.db", std::process::id());
        let place = Self(std::env::temp_dir().join(name));
        let (_, runner) = place.open().await;
        runner
            .session("u", "s")
            .create(StateDelta::default())
            .await
            .unwrap();
        runner
            .session("u", "s")
            .append(conversation(0..many))
            .await
            .unwrap();
        place
    }

    async fn open(&self) -> (Arc<AtomicU64>, Runner) {
        let store = SqliteStore::open(&self.0).await.unwrap();
        let model = ScriptedModel::new().text("said").repeat_last();
        let builder = Runner::builder()
            .app_name("app")
            .model(model)
            .session_store(store.clone());
        (steps(store.path()), builder.engine(store).build().unwrap())
    }
}

impl Drop for SessionFile {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

/// Returns the steps of a run, and the number of events that its session holds in memory.
async fn measured<T>(steps: &AtomicU64, run: RunRequest<'_, T>) -> (u64, usize)
where
    T: Send + 'static,
{
    let before = steps.load(SeqCst);
    let outcome = run.await.unwrap();
    (
        steps.load(SeqCst) - before,
        outcome.session().events().count(),
    )
}

/// Measures the first two turns of a process.
async fn turns<W>(name: &str, workflow: &W, many: u64) -> [(u64, usize); 2]
where
    W: Workflow<Input = Content> + Needs,
{
    let place = SessionFile::new(name, many).await;
    let (steps, runner) = place.open().await;
    let session = runner.session("u", "s");
    let first = measured(&steps, session.run(workflow, "go")).await;
    [first, measured(&steps, session.run(workflow, "go")).await]
}

#[tokio::test]
async fn a_turn_takes_as_many_steps_in_a_long_session() {
    let function = SequentialAgent::builder("w")
        .sub_agent(Says)
        .build()
        .unwrap();
    let short = turns("function", &function, SHORT).await;
    assert!(
        short
            .iter()
            .all(|(steps, events)| *steps > 100 && *events == 2),
        "{short:?}"
    );
    assert_eq!(short, turns("function", &function, LONG).await);

    // An agent without history reads no earlier event. The other agents read the few events that
    // they show, and at most one batch more.
    let talks = || LlmAgent::builder("talks");
    for (name, agent, most) in [
        ("none", talks().include_contents(IncludeContents::None), 2),
        (
            "last",
            talks().include_contents(IncludeContents::Last(3)),
            2 + 16,
        ),
        (
            "compact",
            talks().compact(Compaction::new().after(40)),
            2 + 16,
        ),
    ] {
        let agent = agent.build().unwrap();
        let short = turns(name, &agent, SHORT).await;
        assert!(
            short.iter().all(|(_, events)| *events <= most),
            "{name}: {short:?}"
        );
        assert_eq!(short, turns(name, &agent, LONG).await, "{name}");
    }
}

#[tokio::test]
async fn a_resumed_run_takes_as_many_steps_after_later_events() {
    let resumed = async |many: u64| {
        let asks = SequentialAgent::builder("w")
            .sub_agent(Asks)
            .build()
            .unwrap();
        let place = SessionFile::new("asks", many).await;
        let (_, runner) = place.open().await;
        let session = runner.session("u", "s");
        session.run(&asks, "go").await.unwrap_err();
        session.append(conversation(many..2 * many)).await.unwrap();
        drop((session, runner));
        let (steps, runner) = place.open().await;
        let [waiting] = &runner.waiting().await.unwrap()[..] else {
            panic!("one waits")
        };
        runner.answer(&waiting.id, true).await.unwrap();
        measured(&steps, runner.resume(&asks, waiting.run_id)).await
    };
    let short = resumed(SHORT).await;
    assert_eq!(short.1, 2, "the message and what was said after the answer");
    assert_eq!(short, resumed(LONG).await);
}
