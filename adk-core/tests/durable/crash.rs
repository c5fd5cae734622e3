//! Runs that were killed, compared with uninterrupted ones.

use super::engine::Crashing;
use super::people;
use crate::support::*;
use adk_build::engine::{MemoryJournal, RunFilter, WaitRegistry as _};
use adk_build::model::Usage;
use adk_build::session::{MemoryStore, SessionStore};
use adk_build::{Event, LEFT_OUT_KEY, Name, RunConfig, RunEnd, RunId, RunStream, Runner};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};

/// Data that outlives a process.
#[derive(Clone)]
pub struct World {
    pub journal: MemoryJournal,
    pub sessions: Arc<dyn SessionStore>,
    recorded: Arc<Mutex<BTreeSet<String>>>,
}

impl World {
    pub fn new() -> Self {
        let sessions: Arc<dyn SessionStore> = Arc::new(MemoryStore::new());
        Self {
            journal: MemoryJournal::new(),
            sessions,
            recorded: Arc::default(),
        }
    }

    /// Starts a process that is killed at point `at`.
    pub fn process(&self, at: usize) -> (Runner, Crashing) {
        self.knowing(at, None)
    }

    /// Starts a process that is killed at point `at`, and that recovers runs of a workflow. Replies
    /// of models stream.
    pub fn knowing(&self, at: usize, tree: Option<Tree>) -> (Runner, Crashing) {
        let engine = Crashing::new(self.journal.clone(), self.recorded.clone(), at);
        let runner = Runner::builder()
            .session_store(self.sessions.clone())
            .engine(engine.clone());
        let runner = runner.config(RunConfig::new().streaming(true));
        let runner = match tree {
            Some(tree) => runner.workflow(tree),
            None => runner,
        };
        (runner.build().unwrap(), engine)
    }
}

/// The end of a process.
#[derive(Clone, Debug, PartialEq)]
pub enum Ended {
    /// The process has ended, with the usage of the agents of a finished run.
    Through(BTreeMap<Name, Usage>),
    Killed,
}

/// Runs `work` until it is done or the process is killed.
async fn until_killed<T>(engine: &Crashing, work: impl Future<Output = T>) -> Option<T> {
    tokio::select! {
        biased;
        () = engine.crashed.notified() => None,
        done = work => Some(done),
    }
}

/// Reads a stream into `into` until its run ends or its process is killed. A process may be killed
/// after each event, and so in the middle of a streamed reply. The usage of the agents of a
/// finished run adds up to the usage of the run.
pub async fn drive(
    mut stream: RunStream<'_, ()>,
    engine: &Crashing,
    into: &mut Vec<Arc<Event>>,
) -> Ended {
    loop {
        match until_killed(engine, stream.next()).await {
            None => return Ended::Killed,
            Some(None) => {
                return Ended::Through(match stream.end() {
                    RunEnd::Finished(outcome) => usage_of_agents(&outcome).unwrap(),
                    _ => BTreeMap::new(),
                });
            }
            Some(Some(event)) => into.push(event.unwrap()),
        }
        if engine.ends_here() {
            return Ended::Killed;
        }
    }
}

/// The result that every run of a workflow has in common: events by path, events in order, and the
/// state.
pub type Shape = (BTreeMap<String, Vec<Value>>, Vec<Value>, Value);

/// Returns the shape of a session. Sequential workflows also compare the order of all events.
pub async fn shape(world: &World, run: RunId, parallel: bool) -> Shape {
    let keys = world.sessions.list("app", None, "").await.unwrap();
    assert_eq!(keys.len(), 1);
    let session = world.sessions.get(&keys[0].key).await.unwrap().unwrap();
    let (mut by_path, mut all) = (BTreeMap::<String, Vec<Value>>::new(), Vec::new());
    let mut ids = BTreeSet::new();
    for event in session.events() {
        assert_eq!(event.invocation_id, run);
        assert!(ids.insert(event.id), "an event is doubled");
        assert!(!event.partial, "a piece of a reply is stored");
        let state: Value = event
            .actions
            .state_delta
            .iter()
            .map(|(key, value)| (key.to_string(), Value::clone(value)))
            .collect();
        let calls = event
            .function_calls()
            .map(|call| json!([call.name, call.args]));
        let answers = event
            .function_responses()
            .map(|answer| json!([answer.name, answer.response]));
        let (calls, answers): (Value, Value) = (calls.collect(), answers.collect());
        let over = event.actions.transfer_to_agent.as_deref();
        let (path, author) = (event.path.to_string(), event.author.to_string());
        let failed = event
            .failed_attempt()
            .map(|failed| (failed.attempt, failed.error, failed.again));
        let left_out = event
            .details
            .as_ref()
            .and_then(|details| details.custom_metadata.get(LEFT_OUT_KEY));
        let blocks = json!([failed, event.winner(), left_out]);
        let summary = event
            .actions
            .compaction
            .as_ref()
            .map(|summary| summary.content.text());
        let said = json!([
            path,
            author,
            event.text(),
            state,
            calls,
            answers,
            over,
            blocks,
            summary
        ]);
        by_path
            .entry(event.path.to_string())
            .or_default()
            .push(said.clone());
        all.push(said);
    }
    if parallel {
        all.clear();
    }
    let state = session
        .state()
        .into_iter()
        .map(|(key, value)| (key.to_string(), Value::clone(&value)))
        .collect();
    (by_path, all, state)
}

/// Asserts that every delivered event, except pieces of replies, is stored and was delivered once.
async fn was_stored(world: &World, delivered: &[Arc<Event>]) {
    let keys = world.sessions.list("app", None, "").await.unwrap();
    let session = world.sessions.get(&keys[0].key).await.unwrap().unwrap();
    let stored: BTreeSet<_> = session.events().map(|event| event.id).collect();
    let mut seen = BTreeSet::new();
    for event in delivered.iter().filter(|event| !event.partial) {
        assert!(
            stored.contains(&event.id),
            "{} was seen and is not stored",
            event.path
        );
        assert!(seen.insert(event.id), "{} was delivered twice", event.path);
    }
}

/// A run at its end.
pub struct Whole {
    pub shape: Shape,
    pub usage: BTreeMap<Name, Usage>,
    /// The number of points at which its last process could have been killed.
    pub points: usize,
    /// The number of processes that were killed directly after a piece of a reply.
    pub in_pieces: usize,
}

/// Runs a workflow to its end with these kills. Returns `None` if it ends before the last kill, or
/// if no run was started.
pub async fn with_kills(tree: fn() -> Tree, kills: &[usize], parallel: bool) -> Option<Whole> {
    let world = World::new();
    let mut delivered = Vec::new();
    let (mut id, mut in_pieces) = (None, 0);
    for (process, at) in kills.iter().copied().chain([usize::MAX]).enumerate() {
        // Every process has its own workflow value.
        let (runner, engine) = world.knowing(at, Some(tree()));
        let tree = tree();
        let ended = loop {
            let stream = match id {
                None => runner.run(&tree, "go").stream(),
                Some(id) => runner.resume(&tree, id).stream(),
            };
            let ended = drive(stream, &engine, &mut delivered).await;
            let keys = world.sessions.list("app", None, "").await.unwrap();
            let session = world.sessions.get(&keys[0].key).await.unwrap().unwrap();
            id = id.or_else(|| session.event(0).map(|event| event.invocation_id));
            // A person answers one question at a time, regardless of the processes.
            let open = world
                .journal
                .waiting("app", &RunFilter::unfinished())
                .await
                .unwrap();
            let went_on = match (&ended, open.last()) {
                (Ended::Through(_), Some(waiting)) if waiting.deadline.is_some() => {
                    tokio::time::advance(2 * people::PATIENCE).await;
                    until_killed(&engine, async { drop(runner.recover().await.unwrap()) }).await
                }
                (Ended::Through(_), Some(waiting)) => {
                    let answer = runner.answer(&waiting.id, true);
                    until_killed(&engine, async { answer.await.unwrap() }).await
                }
                _ => break ended,
            };
            if went_on.is_none() {
                break Ended::Killed;
            }
        };
        match ended {
            Ended::Through(_) if process < kills.len() => return None,
            Ended::Through(usage) => {
                let shape = shape(&world, id?, parallel).await;
                was_stored(&world, &delivered).await;
                return Some(Whole {
                    shape,
                    usage,
                    points: engine.points(),
                    in_pieces,
                });
            }
            Ended::Killed => {
                in_pieces += usize::from(delivered.last().is_some_and(|event| event.partial))
            }
        }
        // If nothing was committed, there is no run to resume.
        id?;
    }
    None
}
