//! Where sessions are kept.

use super::{EventFilter, Session, SessionSnapshot};
use crate::event::{Event, StateDelta};
use crate::{BoxFuture, Result};
use std::sync::Arc;

/// What a session is found by.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
pub struct SessionKey {
    /// The app.
    pub app: String,
    /// The user within the app.
    pub user: String,
    /// The session within those of the user.
    pub id: String,
}

impl SessionKey {
    /// A key.
    pub fn new(app: impl Into<String>, user: impl Into<String>, id: impl Into<String>) -> Self {
        Self { app: app.into(), user: user.into(), id: id.into() }
    }
}

impl std::fmt::Display for SessionKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}/{}/{}", self.app, self.user, self.id)
    }
}

/// Keeps sessions: ADK's session service.
pub trait SessionStore: Send + Sync + 'static {
    /// Makes a session with an initial state, which is split by the prefixes of its keys.
    ///
    /// # Errors
    /// When there is one of that key already, or the store fails.
    fn create(&self, key: SessionKey, state: StateDelta) -> BoxFuture<'_, Result<Arc<Session>>>;

    /// Makes the session of a run that was given none. Nobody can ask for it by its key, so a store that dies with
    /// the process need not keep it.
    ///
    /// # Errors
    /// When the store fails.
    fn create_private(&self, key: SessionKey) -> BoxFuture<'_, Result<Arc<Session>>> {
        self.create(key, StateDelta::default())
    }

    /// The session of that key, to be run in. A store outside of the process need not load all of its events.
    ///
    /// # Errors
    /// When the store fails.
    fn get<'a>(&'a self, key: &'a SessionKey) -> BoxFuture<'a, Result<Option<Arc<Session>>>>;

    /// The session of that key as it is now, with the events that are asked for: ADK's `get_session`.
    ///
    /// # Errors
    /// When the store fails.
    fn read<'a>(
        &'a self,
        key: &'a SessionKey,
        filter: &'a EventFilter,
    ) -> BoxFuture<'a, Result<Option<SessionSnapshot>>>;

    /// Appends events that have their id and time already, outside of any run: for an import, or a program that
    /// writes a conversation of its own. What they change is applied.
    ///
    /// # Errors
    /// When there is no such session, when it holds an event of one of these ids, or the store fails. Then none of
    /// them is appended.
    fn append<'a>(&'a self, key: &'a SessionKey, events: Vec<Event>) -> BoxFuture<'a, Result<()>>;

    /// The sessions of a user, or of all users, with their state and without events: ADK's `list_sessions`. Sorted by
    /// the time of their last change, then by user and id.
    ///
    /// # Errors
    /// When the store fails.
    fn list<'a>(&'a self, app: &'a str, user: Option<&'a str>)
    -> BoxFuture<'a, Result<Vec<SessionSnapshot>>>;

    /// Forgets a session with its events; `false` when there was none. The state of the user and of the app stays.
    ///
    /// # Errors
    /// When the store fails.
    fn delete<'a>(&'a self, key: &'a SessionKey) -> BoxFuture<'a, Result<bool>>;
}
