//! Where sessions are kept.

use super::Session;
use crate::event::StateDelta;
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

    /// The session of that key.
    ///
    /// # Errors
    /// When the store fails.
    fn get<'a>(&'a self, key: &'a SessionKey) -> BoxFuture<'a, Result<Option<Arc<Session>>>>;

    /// The keys of a user's sessions, or of all users, sorted.
    ///
    /// # Errors
    /// When the store fails.
    fn list<'a>(&'a self, app: &'a str, user: Option<&'a str>) -> BoxFuture<'a, Result<Vec<SessionKey>>>;

    /// Forgets a session; `false` when there was none.
    ///
    /// # Errors
    /// When the store fails.
    fn delete<'a>(&'a self, key: &'a SessionKey) -> BoxFuture<'a, Result<bool>>;
}
