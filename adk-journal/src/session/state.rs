//! [`Scope`]: the lifetime of a key and the sessions that share it, by the prefix of the key.

use crate::event::{Event, StateDelta};
use crate::sync::{read, write};
use crate::{Name, Result};
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::{Arc, RwLock};

/// Keys and values. Values are shared with the events that wrote them.
pub type StateMap = BTreeMap<Name, Arc<Value>>;

/// Removes the `temp:` keys from events that are appended outside of a run, because `temp:` keys
/// belong to a run.
pub fn forget_temp(events: &mut [Event]) {
    for event in events {
        event
            .actions
            .state_delta
            .retain(|key| Scope::of(key) != Scope::Temp);
    }
}

/// The lifetime of a key, and the sessions that share it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// No prefix: the session.
    Session,
    /// `user:`, all sessions of a user within the app.
    User,
    /// `app:`, all sessions of the app.
    App,
    /// `temp:`, the run; never stored.
    Temp,
}

impl Scope {
    /// Returns the scope of a key.
    ///
    /// ```
    /// # use adk_build as adk;
    /// use adk::session::Scope;
    /// assert_eq!(Scope::of("user:name"), Scope::User);
    /// assert_eq!(Scope::of("draft"), Scope::Session);
    /// ```
    pub fn of(key: &str) -> Self {
        // Compares bytes, because this function runs for each key that is read or written.
        match key.as_bytes() {
            [b'u', b's', b'e', b'r', b':', ..] => Self::User,
            [b'a', b'p', b'p', b':', ..] => Self::App,
            [b't', b'e', b'm', b'p', b':', ..] => Self::Temp,
            _ => Self::Session,
        }
    }
}

/// State that several sessions share: the state of a user, or of the app. Clones share it.
#[derive(Clone, Debug, Default)]
pub struct SharedState(Arc<RwLock<StateMap>>);

impl SharedState {
    /// Returns the value of a key, given with its prefix.
    pub fn get(&self, key: &str) -> Option<Arc<Value>> {
        read(&self.0).get(key).cloned()
    }

    /// Returns all keys, with their prefix.
    pub fn all(&self) -> StateMap {
        read(&self.0).clone()
    }

    /// Replaces all keys with the current state in a store. Keys have their prefix.
    pub fn replace(&self, state: StateMap) {
        *write(&self.0) = state;
    }

    /// Writes the value that `make` returns for the value of a key. No other write comes in
    /// between.
    pub(super) fn replace_one<T>(
        &self,
        key: &Name,
        make: impl FnOnce(Option<&Value>) -> Result<(T, Option<Arc<Value>>)>,
    ) -> Result<T> {
        let mut all = write(&self.0);
        let (made, value) = make(all.get(key).map(|value| &**value))?;
        if let Some(value) = value {
            all.insert(key.clone(), value);
        }
        Ok(made)
    }

    pub(super) fn insert(&self, key: Name, value: Arc<Value>) {
        write(&self.0).insert(key, value);
    }
}

/// Splits a delta by scope, as it is stored: the keys of the session, of the user and of the app,
/// the latter two without their prefix. `temp:` keys are dropped.
///
/// ```
/// # use adk_build as adk;
/// use adk::StateDelta;
/// let delta: StateDelta = [("draft", 1), ("user:name", 2), ("temp:x", 3)]
///     .map(|(key, value)| (key, serde_json::Value::from(value)))
///     .into_iter()
///     .collect();
/// let [own, user, app] = adk::session::split(&delta);
/// assert_eq!((own.len(), user.len(), app.len()), (1, 1, 0));
/// assert_eq!(user[0].0, "name");
/// ```
pub fn split(delta: &StateDelta) -> [Vec<(&str, &Arc<Value>)>; 3] {
    let mut parts = [const { Vec::new() }; 3];
    for (key, value) in delta.iter() {
        let (part, prefix) = match Scope::of(key) {
            Scope::Session => (0, ""),
            Scope::User => (1, "user:"),
            Scope::App => (2, "app:"),
            Scope::Temp => continue,
        };
        parts[part].push((key.strip_prefix(prefix).unwrap_or(key), value));
    }
    parts
}
