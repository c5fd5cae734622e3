//! [`OwnKeys`]: the keys of a closed workflow, which hold what its own run has written and nothing else.

use super::{Scope, StateMap};
use crate::Name;
use crate::store::event::{Event, StateDelta};
use crate::sync::{read, write};
use serde_json::Value;
use std::collections::BTreeSet;
use std::sync::{Arc, RwLock};

/// The keys without a prefix that no workflow of the tree declares as `state`.
///
/// They are written to the session as all keys are, and read here: so a run sees neither what an earlier run of the session
/// has left, nor what another one writes while this one waits for a person. Values are shared with the events.
#[derive(Debug)]
pub(crate) struct OwnKeys {
    states: Arc<BTreeSet<Name>>,
    values: RwLock<StateMap>,
}

impl OwnKeys {
    /// Those of a tree with these `state` keys. Nothing is written yet.
    pub(crate) fn new(states: BTreeSet<Name>) -> Self {
        Self { states: Arc::new(states), values: RwLock::default() }
    }

    /// The same keys with the same values, for a run inside of this one.
    pub(crate) fn copy(&self) -> Self {
        Self { states: self.states.clone(), values: RwLock::new(read(&self.values).clone()) }
    }

    /// Whether a stored key is one of them.
    pub(crate) fn has(&self, key: &str) -> bool {
        Scope::of(key) == Scope::Session && !self.states.contains(key)
    }

    /// The value that the run has written.
    pub(crate) fn get(&self, key: &str) -> Option<Arc<Value>> {
        read(&self.values).get(key).cloned()
    }

    /// The run has committed this event.
    pub(crate) fn record_event(&self, event: &Event) {
        self.record(&event.actions.state_delta);
        let unwritten = event.unwritten();
        if !unwritten.is_empty() {
            write(&self.values).retain(|key, _| !unwritten.contains(&key.as_str()));
        }
    }

    /// The run has written these keys.
    pub(crate) fn record(&self, delta: &StateDelta) {
        if !delta.is_empty() {
            let own = delta.iter().filter(|(key, _)| self.has(key));
            write(&self.values).extend(own.map(|(key, value)| (key.clone(), value.clone())));
        }
    }

    /// The state of a session as the run sees it.
    pub(crate) fn seen(&self, mut state: StateMap) -> StateMap {
        state.retain(|key, _| !self.has(key));
        state.extend(read(&self.values).clone());
        state
    }
}
