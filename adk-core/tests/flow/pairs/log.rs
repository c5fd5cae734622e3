//! [`Log`]: the log of a run, with the values of all keys before each event.

use crate::discards::State;
use crate::tree::has_prefix;
use adk_build::{At, Event, Path, UNWRITTEN_KEY};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::sync::Arc;

pub struct Log {
    pub events: Vec<Arc<Event>>,
    /// The events of earlier runs of the session.
    pub earlier: Vec<Arc<Event>>,
    /// The values of all keys before each event, and after the last one.
    pub states: Vec<State>,
    by_path: HashMap<String, Vec<usize>>,
}

impl Log {
    /// Builds the log. `workflows` are the names of steps and tools that are workflows.
    pub fn new(events: Vec<Arc<Event>>, start: State, workflows: &BTreeSet<String>) -> Self {
        let (mut states, mut by_path) = (vec![start], HashMap::<_, Vec<_>>::new());
        for (at, event) in events.iter().enumerate() {
            let mut state = states[at].clone();
            apply(event, workflows, &mut state);
            states.push(state);
            if event.author != "user" {
                by_path.entry(event.path.to_string()).or_default().push(at);
            }
        }
        Self {
            events,
            earlier: Vec::new(),
            states,
            by_path,
        }
    }

    /// Returns the `nth` event of a path.
    pub fn event(&self, path: &str, nth: usize) -> Option<usize> {
        self.by_path.get(path)?.get(nth).copied()
    }
}

fn apply(event: &Event, workflows: &BTreeSet<String>, state: &mut State) {
    if let At::Item(_) = event.path.at() {
        // An element starts with empty keys.
        let prefix = prefix(&event.path, workflows);
        state.retain(|key, _| !key.starts_with(&prefix));
    }
    state.extend(delta(event));
    let unwritten = event.metadata(UNWRITTEN_KEY).and_then(Value::as_array);
    let unwritten = unwritten.into_iter().flatten().filter_map(Value::as_str);
    unwritten
        .filter(|key| !has_prefix(key))
        .for_each(|key| drop(state.remove(key)));
}

/// Returns the writes of an event.
pub fn delta(event: &Event) -> State {
    event
        .actions
        .state_delta
        .iter()
        .map(|(key, value)| (key.to_string(), Value::clone(value)))
        .collect()
}

/// Returns the prefix of the keys of an element.
fn prefix(path: &Path, workflows: &BTreeSet<String>) -> String {
    let mut nodes: Vec<_> = std::iter::successors(Some(path), |path| path.parent()).collect();
    nodes.reverse();
    let nodes = nodes.into_iter().skip(1).map(|node| match node.at() {
        At::Item(item) => format!("{}[{item}]/", node.name()),
        _ if workflows.contains(node.name().as_str()) => format!("{}/", node.name()),
        _ => String::new(),
    });
    nodes.collect()
}

/// The runs of agents that are tools, by path and in order. Each run contains its nested runs.
#[derive(Clone, Default)]
pub struct Inner(BTreeMap<String, VecDeque<Vec<Arc<Event>>>>);

impl Inner {
    /// Splits events into the events of runs of agents as tools, and all other events.
    ///
    /// `depth` is the number of steps from the root that contain all events.
    pub fn split(
        events: &[Arc<Event>],
        tools: &BTreeSet<String>,
        depth: usize,
    ) -> (Self, Vec<Arc<Event>>) {
        let (mut all, mut own) = (Self::default(), Vec::new());
        for event in events {
            let mut nodes: Vec<_> =
                std::iter::successors(Some(&event.path), |path| path.parent()).collect();
            nodes.reverse();
            let mut below = nodes.into_iter().skip(depth);
            let Some(root) = below.find(|path| tools.contains(path.name().as_str())) else {
                own.push(event.clone());
                continue;
            };
            // A later turn of the agent belongs to the same run.
            let parent = root.parent().map(Path::to_string).unwrap_or_default();
            let runs = all
                .0
                .entry(format!("{parent}/{}", root.name()))
                .or_default();
            if event.author == "user" && event.path == *root {
                runs.push_back(Vec::new());
            } else if let Some(run) = runs.back_mut() {
                run.push(event.clone());
            }
        }
        (all, own)
    }

    pub fn next(&mut self, path: &str) -> Option<Vec<Arc<Event>>> {
        self.0.get_mut(path)?.pop_front()
    }

    pub fn is_empty(&self) -> bool {
        self.0.values().all(|runs| runs.is_empty())
    }
}
