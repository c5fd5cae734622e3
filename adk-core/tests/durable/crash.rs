//! What a run is after it was killed, compared with one that was not.

use super::engine::Crashing;
use crate::support::*;
use adk_core::engine::{Engine as _, MemoryJournal};
use adk_core::session::{MemoryStore, SessionStore};
use adk_core::{Event, RunId, RunStream, Runner};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};

/// What outlives a process.
#[derive(Clone)]
pub struct World {
    pub journal: MemoryJournal,
    pub sessions: Arc<dyn SessionStore>,
    recorded: Arc<Mutex<BTreeSet<String>>>,
}

impl World {
    pub fn new() -> Self {
        let sessions: Arc<dyn SessionStore> = Arc::new(MemoryStore::new());
        Self { journal: MemoryJournal::new(), sessions, recorded: Arc::default() }
    }

    /// A process that is killed at that point.
    pub fn process(&self, at: usize) -> (Runner, Crashing) {
        let engine = Crashing::new(self.journal.clone(), self.recorded.clone(), at);
        let runner = Runner::builder().session_store(self.sessions.clone()).engine(engine.clone());
        (runner.build().unwrap(), engine)
    }
}

/// How a process ended.
pub enum Ended {
    Through,
    Killed,
}

/// Reads a stream until its run ends or its process is killed; gives the events that were delivered.
pub async fn drive(mut stream: RunStream<'_, ()>, engine: &Crashing, into: &mut Vec<Arc<Event>>) -> Ended {
    loop {
        tokio::select! {
            biased;
            () = engine.crashed.notified() => return Ended::Killed,
            event = stream.next() => match event {
                Some(event) => into.push(event.unwrap()),
                None => return Ended::Through,
            }
        }
    }
}

/// What is the same in every run of a workflow: what was said by path, in order, and the state.
pub type Shape = (BTreeMap<String, Vec<Value>>, Vec<Value>, Value);

/// The shape of a session; of the whole list only where nothing runs at the same time.
pub async fn shape(world: &World, run: RunId, parallel: bool) -> Shape {
    let keys = world.sessions.list("app", None).await.unwrap();
    assert_eq!(keys.len(), 1);
    let session = world.sessions.get(&keys[0].key).await.unwrap().unwrap();
    let (mut by_path, mut all) = (BTreeMap::<String, Vec<Value>>::new(), Vec::new());
    let mut ids = BTreeSet::new();
    for event in session.events() {
        assert_eq!(event.invocation_id, run);
        assert!(ids.insert(event.id), "an event is doubled");
        let state: Value = event
            .actions
            .state_delta
            .iter()
            .map(|(key, value)| (key.to_string(), Value::clone(value)))
            .collect();
        let said = json!([event.path.to_string(), event.author.to_string(), event.text(), state]);
        by_path.entry(event.path.to_string()).or_default().push(said.clone());
        all.push(said);
    }
    if parallel {
        all.clear();
    }
    let state =
        session.state().into_iter().map(|(key, value)| (key.to_string(), Value::clone(&value))).collect();
    (by_path, all, state)
}

/// Runs a workflow to its end, with these kills; gives its shape, and the points of the last process.
pub async fn with_kills(tree: fn() -> Tree, kills: &[usize], parallel: bool) -> Option<(Shape, usize)> {
    let world = World::new();
    let mut delivered = Vec::new();
    let mut id = None;
    for (process, at) in kills.iter().copied().chain([usize::MAX]).enumerate() {
        // Every process has workflows of its own.
        let tree = tree();
        let (runner, engine) = world.process(at);
        let ended = loop {
            let stream = match id {
                None => runner.run(&tree, "go").stream(),
                Some(id) => runner.resume(&tree, id).stream(),
            };
            let ended = drive(stream, &engine, &mut delivered).await;
            let session = {
                let keys = world.sessions.list("app", None).await.unwrap();
                world.sessions.get(&keys[0].key).await.unwrap().unwrap()
            };
            id = id.or_else(|| session.event(0).map(|event| event.invocation_id));
            // A person answers one question at a time, whatever happens to the processes.
            let open = world.journal.waiting("app", None).await.unwrap();
            match (&ended, open.last()) {
                (Ended::Through, Some(waiting)) => runner.answer(&waiting.id, true).await.unwrap(),
                _ => break ended,
            }
        };
        match ended {
            Ended::Through if process < kills.len() => return None,
            Ended::Through => return Some((shape(&world, id?, parallel).await, engine.points())),
            Ended::Killed => {}
        }
        // Where nothing was committed nothing is to be resumed.
        id?;
    }
    None
}
