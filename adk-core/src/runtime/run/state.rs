//! [`State`]: the state as an agent or a tool sees it. Own writes come first, then committed
//! values.

use super::{KeyScope, MarkCell, Marks, Run, Updates, Writer};
use crate::encode::to_json;
use crate::store::event::{Actions, StateDelta};
use crate::store::session::marked_key;
use crate::{Error, ErrorKind, Name, Result, depth, secret};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

/// The uncommitted writes and saved artifacts. The keys are stored keys.
pub(crate) type Overlay = Actions;

/// The state of the session, and of the run for `temp:` keys.
///
/// The writer sees a set key at once. Other agents see it after the commit of the next event of the
/// agent, or after its end. An [update](Self::update) is committed at once.
pub struct State<'a> {
    pub(crate) run: &'a Arc<Run>,
    pub(crate) scope: Option<&'a KeyScope>,
    pub(crate) overlay: &'a mut Overlay,
    pub(crate) updates: Updates<'a>,
    pub(crate) writer: Writer<'a>,
    /// The marks of all that the turn or the call has read; `None` in a workflow without guards.
    pub(crate) marks: Option<&'a MarkCell>,
    /// The first forbidden write of a tool. It fails the run, because the model cannot correct the
    /// tool.
    pub(crate) refused: Option<&'a mut Option<Error>>,
}

impl State<'_> {
    /// Returns the value of a key; `None` when nothing has written it. A null that is not a value
    /// of the type counts as unwritten: a block whose branch is discarded leaves a null in a key
    /// that was not written before.
    ///
    /// **`user:` and `app:` keys** are shared by sessions, and a plain read returns the values that
    /// this process knows. These are the values of the store at the time when a session of the user
    /// or the app was last opened here, which each run does at its start, and later writes of runs
    /// in this process, in any session. A running agent sees such a write once it is committed. The
    /// agent sees a write of another process when the next session of the user or the app is opened
    /// here. With sessions in memory no other process exists. On Postgres, sessions commit side by
    /// side: of two writes at the same moment this process may know the earlier one until then.
    ///
    /// Another session may write between a `get` and a `set`, and the `set` would undo that write:
    /// [`update`](Self::update) does both in one step, on the value in the store. A resumed run
    /// reads the values from its start and those of its own session until the end of its replay. An
    /// agent must therefore not depend on a plain read of keys that others write; the value of an
    /// `update` is recorded.
    ///
    /// # Errors
    /// When the value is not of that type.
    pub fn get<T: DeserializeOwned>(&self, key: &str) -> Result<Option<T>> {
        get(key, self.value(key).as_deref())
    }

    /// Returns the JSON value of a key, shared.
    pub fn value(&self, key: &str) -> Option<Arc<Value>> {
        if let Some(cell) = self.marks {
            cell.join(self.marks_of(key));
        }
        value(
            self.run,
            self.scope,
            (self.overlay, self.updates.seen_keys()),
            key,
        )
    }

    /// Sets a key that the agent or tool has announced to write, to a value of its type. `temp:`
    /// keys need no announcement. Callbacks and plugins may set keys with any prefix, those of
    /// their agent, and `state` keys of the workflow.
    ///
    /// # Errors
    /// [`ErrorKind::KeyUnannounced`] for another key, and [`ErrorKind::KeyType`] for another type;
    /// a tool that makes such a write fails the run.
    /// [`RunConfig::require_announced_writes`](crate::RunConfig::require_announced_writes) switches
    /// both checks. When the value has no form in JSON, or is nested deeper than
    /// [`MAX_DEPTH`](crate::MAX_DEPTH). JSON has no form for NaN and infinities, for integers that
    /// are neither `i64` nor `u64`, and for maps whose keys are neither text nor numbers. All other
    /// values are the same bit for bit after any store.
    pub fn set(&mut self, key: impl Into<Name>, value: impl Serialize) -> Result<()> {
        let key = key.into();
        let value = encode(&key, value)?;
        match self.writer.check(&key, &value) {
            Ok(None) => self.put(key, value),
            Ok(Some(own)) => {
                let stored = stored_key(self.scope, &key);
                let is_recorded = self.run.has_recorded(self.writer.path, &stored, &value);
                self.put(key, if is_recorded { value } else { own });
            }
            Err(error) => return Err(self.refuse(error)),
        }
        Ok(())
    }

    /// Sets an announced key to a value of its type.
    pub(crate) fn put(&mut self, key: Name, value: Arc<Value>) {
        let key = match self.scope {
            Some(scope) => scope.write(&key),
            None => key,
        };
        if self.marks.is_some() {
            // The marks of an earlier write do not count for this one.
            let is_mark = |other: &str| marked_key(other) == Some(&*key);
            self.overlay.state_delta.retain(|other| !is_mark(other));
        }
        self.overlay.state_delta.insert(key, value);
    }

    /// Returns the marks of a key as it is read here.
    pub(super) fn marks_of(&self, key: &str) -> Marks {
        let read = match self.scope {
            Some(scope) => scope.read_key(key),
            None => Some(Cow::Borrowed(key)),
        };
        read.map_or(Marks::NONE, |key| {
            Marks::of_key(&key, Some(self.overlay), self.run)
        })
    }

    /// Keeps the first forbidden write of a tool, because the tool may ignore the returned error.
    pub(crate) fn refuse(&mut self, error: Error) -> Error {
        if let Some(refused) = &mut self.refused {
            refused.get_or_insert(error.copy());
        }
        error
    }
}

impl fmt::Debug for State<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "State({:?}, not committed: {:?})",
            self.run, self.overlay
        )
    }
}

/// Returns the value of a name. Uncommitted writes come first.
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
            // A plugin that sees an event has the secrets of the event in the overlay.
            Some(name) => overlay
                .state_delta
                .get(name)
                .cloned()
                .or_else(|| run.delivery.temp(name)),
            None => Some(value.clone()),
        }
    };
    let Some(scope) = scope else {
        return own(key).or_else(|| run.get(key));
    };
    if !(overlay.state_delta.is_empty() && seen.is_none())
        && let Some(value) = own(&scope.written_key(key)).or_else(|| own(&scope.source_key(key)))
    {
        return Some(value);
    }
    run.get(&scope.read_key(key)?)
}

/// Returns the stored key for writes of a name.
pub(crate) fn stored_key<'a>(scope: Option<&'a KeyScope>, key: &'a str) -> Cow<'a, str> {
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
    T::deserialize(value).map_err(|error| wrong_type_error::<T>(key, error))
}

/// Creates the error of a key that holds no `T`.
pub(crate) fn wrong_type_error<T>(key: &str, error: serde_json::Error) -> Error {
    let wanted = std::any::type_name::<T>();
    let message = format!("state key `{key}` does not hold a `{wanted}`: {error}");
    let help = "read the key as the type that it is written as; a session keeps what older \
        programs wrote";
    Error::new(ErrorKind::KeyType, message)
        .with_help(help)
        .with_source(error)
}

pub(crate) fn encode(key: &str, value: impl Serialize) -> Result<Arc<Value>> {
    let value = to_json(&value)
        .map_err(|error| error.into_error(ErrorKind::NotJson, format_args!("state key `{key}`")))?;
    depth::check(&value)
        .map_err(|deep| deep.error(format_args!("the value for state key `{key}`")))?;
    Ok(Arc::new(value))
}
