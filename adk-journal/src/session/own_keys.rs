//! [`OwnKeys`]: the keys of a closed workflow, which hold only the writes of the current run.

use super::marks::{is_of_session, marked_key};
use super::{Scope, StateMap};
use crate::Name;
use crate::event::{Event, StateDelta};
use crate::sync::{read, write};
use serde_json::Value;
use std::collections::BTreeSet;
use std::sync::{Arc, RwLock};

/// The values of a closed workflow's own keys: all keys without a prefix, except those that a
/// workflow of the tree declares as `state`.
///
/// A run writes these keys to the session like all others, but reads them from here. It therefore
/// sees neither the writes of an earlier run of the session, nor the writes of another run while
/// this one waits for a person. Values are shared with the events.
#[derive(Debug)]
pub struct OwnKeys {
    states: Arc<BTreeSet<Name>>,
    values: RwLock<StateMap>,
}

impl OwnKeys {
    /// Creates the keys of a tree with these `state` keys. They hold no values.
    pub fn new(states: BTreeSet<Name>) -> Self {
        Self {
            states: Arc::new(states),
            values: RwLock::default(),
        }
    }

    /// Copies the keys with their values, for an inner run.
    pub fn copy(&self) -> Self {
        Self {
            states: self.states.clone(),
            values: RwLock::new(read(&self.values).clone()),
        }
    }

    /// Returns true if a stored key is an own key.
    /// A mark is where its key is.
    pub fn has(&self, key: &str) -> bool {
        let marked = marked_key(key).unwrap_or(key);
        Scope::of(key) == Scope::Session && !self.states.contains(marked) && !is_of_session(key)
    }

    /// Returns the value that the run has written.
    pub fn get(&self, key: &str) -> Option<Arc<Value>> {
        read(&self.values).get(key).cloned()
    }

    /// Records the writes of an event that the run has committed.
    pub fn record_event(&self, event: &Event) {
        self.record(&event.actions.state_delta);
        let unwritten = event.unwritten();
        if !unwritten.is_empty() {
            write(&self.values).retain(|key, _| !unwritten.contains(&key.as_str()));
        }
    }

    /// Records the writes of the run.
    pub fn record(&self, delta: &StateDelta) {
        if !delta.is_empty() {
            let own = delta.iter().filter(|(key, _)| self.has(key));
            write(&self.values).extend(own.map(|(key, value)| (key.clone(), value.clone())));
        }
    }

    /// Returns the state of a session as the run sees it.
    pub fn visible_state(&self, mut state: StateMap) -> StateMap {
        state.retain(|key, _| !self.has(key));
        state.extend(read(&self.values).clone());
        state
    }
}
