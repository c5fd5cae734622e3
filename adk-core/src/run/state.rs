//! State as an agent or a tool sees it: its own writes first, then what is committed.

use super::{KeyScope, Run};
use crate::event::Actions;
use crate::{Error, ErrorKind, Name, Result};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::borrow::Cow;
use std::sync::Arc;

/// What was written and is not committed yet. Keys are stored keys.
pub(crate) type Overlay = Actions;

/// The state of the session, and of the run for `temp:` keys.
///
/// What is set is seen here at once, and by others once the next event of the agent is committed, or when it ends.
#[derive(Debug)]
pub struct State<'a> {
    pub(crate) run: &'a Run,
    pub(crate) scope: Option<&'a KeyScope>,
    pub(crate) overlay: &'a mut Overlay,
}

impl State<'_> {
    /// The value of a key; `None` when nothing has written it.
    ///
    /// # Errors
    /// When the value is not of that type.
    pub fn get<T: DeserializeOwned>(&self, key: &str) -> Result<Option<T>> {
        match self.value(key) {
            Some(value) => decode(key, &value).map(Some),
            None => Ok(None),
        }
    }

    /// The JSON value of a key, shared.
    pub fn value(&self, key: &str) -> Option<Arc<Value>> {
        let key = stored(self.scope, key);
        match self.overlay.state_delta.get(&key) {
            Some(value) => Some(value.clone()),
            None => self.run.get(&key),
        }
    }

    /// Sets a key.
    ///
    /// # Errors
    /// When the value has no form in JSON.
    pub fn set(&mut self, key: impl Into<Name>, value: impl Serialize) -> Result<()> {
        let key = key.into();
        let value = encode(&key, value)?;
        let key = match self.scope {
            Some(scope) => scope.resolve(&key),
            None => key,
        };
        self.overlay.state_delta.insert(key, value);
        Ok(())
    }
}

pub(crate) fn stored<'a>(scope: Option<&KeyScope>, key: &'a str) -> Cow<'a, str> {
    match scope {
        Some(scope) => scope.key(key),
        None => Cow::Borrowed(key),
    }
}

pub(crate) fn decode<T: DeserializeOwned>(key: &str, value: &Value) -> Result<T> {
    T::deserialize(value).map_err(|error| {
        let wanted = std::any::type_name::<T>();
        let message = format!("state key `{key}` does not hold a `{wanted}`: {error}");
        Error::new(ErrorKind::KeyType, message).with_source(error)
    })
}

pub(crate) fn encode(key: &str, value: impl Serialize) -> Result<Arc<Value>> {
    serde_json::to_value(value).map(Arc::new).map_err(|error| {
        let message = format!("the value for state key `{key}` has no form in JSON: {error}");
        Error::new(ErrorKind::KeyType, message).with_source(error)
    })
}
