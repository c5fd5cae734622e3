//! State as an agent or a tool sees it: its own writes first, then what is committed.

use super::{KeyScope, Run, Updates, Writer};
use crate::encode::to_json;
use crate::store::event::{Actions, StateDelta};
use crate::{Error, ErrorKind, Name, Result, depth, secret};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

/// What was written and is not committed yet. Keys are stored keys.
pub(crate) type Overlay = Actions;

/// The state of the session, and of the run for `temp:` keys.
///
/// What is set is seen here at once, and by others once the next event of the agent is committed, or when it ends. What is
/// [updated](Self::update) is committed at once.
pub struct State<'a> {
    pub(crate) run: &'a Arc<Run>,
    pub(crate) scope: Option<&'a KeyScope>,
    pub(crate) overlay: &'a mut Overlay,
    pub(crate) updates: Updates<'a>,
    pub(crate) writer: Writer<'a>,
    /// Where a write is kept that a tool may not make: what is wrong with the tool is not for its model.
    pub(crate) refused: Option<&'a mut Option<Error>>,
}

impl State<'_> {
    /// The value of a key; `None` when nothing has written it. A null that is no value of the type counts as nothing: a block
    /// whose part is discarded leaves it in a key that was not written before.
    ///
    /// **`user:` and `app:` keys** are shared by sessions, and a plain read gives what this process knows of them: what the
    /// store held when a session of the user or the app was last opened here, which every run begins with, and what runs in
    /// this process have written since, in any session. A running agent sees such a write once it is committed. It sees a
    /// write of another process when the next session of the user or the app is opened here. With sessions in memory there
    /// is no other process. On Postgres, sessions commit side by side: of two writes at the same moment this process may
    /// know the earlier one until then.
    ///
    /// Another session may write between a `get` and a `set`, and the `set` would undo that:
    /// [`update`](Self::update) does both in one step, on what the store holds. A run that is resumed reads the values with
    /// which it began and those of its own session until its record is given back, so what an agent does next must not
    /// depend on a plain read of what others write; the value of an `update` is recorded.
    ///
    /// # Errors
    /// When the value is not of that type.
    pub fn get<T: DeserializeOwned>(&self, key: &str) -> Result<Option<T>> {
        get(key, self.value(key).as_deref())
    }

    /// The JSON value of a key, shared.
    pub fn value(&self, key: &str) -> Option<Arc<Value>> {
        value(self.run, self.scope, (self.overlay, self.updates.seen()), key)
    }

    /// Sets a key that the agent or tool has announced to write, to a value of its type. `temp:` keys need no announcement.
    /// Callbacks and plugins may set keys with any prefix, those of their agent, and `state` keys of the workflow.
    ///
    /// # Errors
    /// [`ErrorKind::KeyUnannounced`] for another key, and [`ErrorKind::KeyType`] for another type; a tool that makes such a
    /// write fails the run. [`RunConfig::require_announced_writes`](crate::RunConfig::require_announced_writes) is a switch
    /// for it. When the value has no form in JSON, or is nested deeper than [`MAX_DEPTH`](crate::MAX_DEPTH). JSON has none for NaN
    /// and infinities, for integers that are neither `i64` nor `u64`, and for maps whose keys are neither text nor numbers.
    /// All else comes back bit for bit from every store.
    pub fn set(&mut self, key: impl Into<Name>, value: impl Serialize) -> Result<()> {
        let key = key.into();
        let value = encode(&key, value)?;
        if let Err(error) = self.writer.check(&key, &value) {
            return Err(self.refuse(error));
        }
        self.put(key, value);
        Ok(())
    }

    /// Sets a key that is announced to a value of its type.
    pub(crate) fn put(&mut self, key: Name, value: Arc<Value>) {
        let key = match self.scope {
            Some(scope) => scope.write(&key),
            None => key,
        };
        self.overlay.state_delta.insert(key, value);
    }

    /// Keeps what is wrong with a tool, which may do with the error what it likes.
    pub(crate) fn refuse(&mut self, error: Error) -> Error {
        if let Some(refused) = &mut self.refused {
            refused.get_or_insert(error.copy());
        }
        error
    }
}

impl fmt::Debug for State<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "State({:?}, not committed: {:?})", self.run, self.overlay)
    }
}

/// The value of a name: what was written and is not committed yet comes first.
pub(super) fn value(
    run: &Run,
    scope: Option<&KeyScope>,
    (overlay, seen): (&Overlay, Option<&StateDelta>),
    key: &str,
) -> Option<Arc<Value>> {
    let seen = seen.filter(|seen| !seen.is_empty());
    let own = |key: &str| {
        let value = overlay.state_delta.get(key).or_else(|| seen?.get(key))?;
        match secret::kept_name(key, value) {
            // A plugin that sees an event has its secrets in the overlay.
            Some(name) => overlay.state_delta.get(name).cloned().or_else(|| run.kept(name)),
            None => Some(value.clone()),
        }
    };
    let Some(scope) = scope else { return own(key).or_else(|| run.get(key)) };
    if !(overlay.state_delta.is_empty() && seen.is_none())
        && let Some(value) = own(&scope.written_key(key)).or_else(|| own(&scope.source_key(key)))
    {
        return Some(value);
    }
    run.get(&scope.read_key(key)?)
}

/// The stored key that a name is written to.
pub(crate) fn stored<'a>(scope: Option<&'a KeyScope>, key: &'a str) -> Cow<'a, str> {
    match scope {
        Some(scope) => scope.written_key(key),
        None => Cow::Borrowed(key),
    }
}

pub(super) fn get<T: DeserializeOwned>(key: &str, value: Option<&Value>) -> Result<Option<T>> {
    match value {
        Some(value) if value.is_null() => Ok(T::deserialize(value).ok()),
        Some(value) => decode(key, value).map(Some),
        None => Ok(None),
    }
}

pub(crate) fn decode<'v, T: Deserialize<'v>>(key: &str, value: &'v Value) -> Result<T> {
    T::deserialize(value).map_err(|error| {
        let wanted = std::any::type_name::<T>();
        let message = format!("state key `{key}` does not hold a `{wanted}`: {error}");
        let help =
            "read the key as the type that it is written as; a session keeps what older programs wrote";
        Error::new(ErrorKind::KeyType, message).with_help(help).with_source(error)
    })
}

pub(crate) fn encode(key: &str, value: impl Serialize) -> Result<Arc<Value>> {
    let value = to_json(&value)
        .map_err(|error| error.into_error(ErrorKind::NotJson, format_args!("state key `{key}`")))?;
    depth::check(&value).map_err(|deep| deep.error(format_args!("the value for state key `{key}`")))?;
    Ok(Arc::new(value))
}
