//! [`SessionStore`]: the storage of sessions.

use super::{EventFilter, Location, Session, SessionSnapshot};
use crate::event::{Event, StateDelta};
use crate::{BoxFuture, Error, ErrorKind, Result};
use std::sync::Arc;

/// The largest number of characters in the name of an app and in the id of a user or a session: the
/// width of ADK's columns.
pub const MAX_ID: usize = 128;

/// The key of a session.
#[derive(
    Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize,
)]
pub struct SessionKey {
    /// The app.
    pub app: String,
    /// The user within the app.
    pub user: String,
    /// The session within the sessions of the user.
    pub id: String,
}

impl SessionKey {
    /// Creates a key.
    pub fn new(app: impl Into<String>, user: impl Into<String>, id: impl Into<String>) -> Self {
        Self {
            app: app.into(),
            user: user.into(),
            id: id.into(),
        }
    }

    /// Refuses ids that not every store can keep: empty ids, ids of more than [`MAX_ID`]
    /// characters, and ids with a NUL. The runtime calls it before a run begins, and stores call it
    /// before they create a session, so such keys are never stored.
    ///
    /// # Errors
    /// [`ErrorKind::IdInvalid`].
    pub fn check(&self) -> Result<()> {
        check_id("app name", &self.app)?;
        check_id("user id", &self.user)?;
        check_id("session id", &self.id)
    }
}

/// Refuses an id as [`SessionKey::check`] does.
pub fn check_id(what: &str, id: &str) -> Result<()> {
    let count = || id.chars().count();
    let why = if id.is_empty() {
        "is empty".to_owned()
    } else if id.contains('\0') {
        "holds a NUL character".to_owned()
    } else if id.len() > MAX_ID && count() > MAX_ID {
        format!("has {} characters, above the limit of {MAX_ID}", count())
    } else {
        return Ok(());
    };
    let shown: String = id.chars().take(32).collect();
    let more = if shown.len() < id.len() { "..." } else { "" };
    Err(Error::new(
        ErrorKind::IdInvalid,
        format!("the {what} {shown:?}{more} {why}"),
    )
    .with_help(format!(
        "choose one of 1 to {MAX_ID} characters without NUL"
    )))
}

impl std::fmt::Display for SessionKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}/{}/{}", self.app, self.user, self.id)
    }
}

/// Keeps sessions: ADK's session service.
pub trait SessionStore: Send + Sync + 'static {
    /// Returns the location of the sessions. Only an [`Engine`](crate::engine::Engine) of the same
    /// location stores events in them.
    fn location(&self) -> Location;

    /// Creates a session with an initial state, which is split by the prefixes of its keys.
    ///
    /// # Errors
    /// When a session of that key exists, or the store fails; when [the key](SessionKey::check) or
    /// [the state](StateDelta::check_depth) cannot be stored.
    fn create(&self, key: SessionKey, state: StateDelta) -> BoxFuture<'_, Result<Arc<Session>>>;

    /// Creates a session for a run that names none. Its key is not known to users, so a store that
    /// ends with the process need not keep it.
    ///
    /// # Errors
    /// When the store fails.
    fn create_private(&self, key: SessionKey) -> BoxFuture<'_, Result<Arc<Session>>> {
        self.create(key, StateDelta::default())
    }

    /// Returns the session of that key, for a run. A store outside the process loads no event here:
    /// most runs need none, and the others load events by the [`Pages`](super::Pages) of the
    /// session.
    ///
    /// # Errors
    /// When the store fails.
    fn get<'a>(&'a self, key: &'a SessionKey) -> BoxFuture<'a, Result<Option<Arc<Session>>>>;

    /// Returns the current session of that key, with the selected events: ADK's `get_session`.
    ///
    /// # Errors
    /// When the store fails.
    fn read<'a>(
        &'a self,
        key: &'a SessionKey,
        filter: &'a EventFilter,
    ) -> BoxFuture<'a, Result<Option<SessionSnapshot>>>;

    /// Appends events with ids and times, outside of any run: for an import, or a program that
    /// writes a conversation itself. Applies the changes of the events.
    ///
    /// # Errors
    /// When the session does not exist, when it holds an event with one of these ids, when [a
    /// value](Event::check_depth) cannot be stored, or the store fails. Then no event is appended.
    fn append<'a>(&'a self, key: &'a SessionKey, events: Vec<Event>) -> BoxFuture<'a, Result<()>>;

    /// Returns the sessions of a user, or of all users, whose ids begin with a prefix, with their
    /// state and without events: ADK's `list_sessions`. The store reads no state of a session that
    /// it does not return. The sessions are sorted by the time of their last change, then by user
    /// and id. The list includes sessions whose state cannot be read, with the
    /// [reason](SessionSnapshot::unreadable).
    ///
    /// # Errors
    /// When the store fails.
    fn list<'a>(
        &'a self,
        app: &'a str,
        user: Option<&'a str>,
        prefix: &'a str,
    ) -> BoxFuture<'a, Result<Vec<SessionSnapshot>>>;

    /// Deletes a session with its events; returns `false` if it did not exist. The state of the
    /// user and of the app stays.
    ///
    /// # Errors
    /// When the store fails.
    fn delete<'a>(&'a self, key: &'a SessionKey) -> BoxFuture<'a, Result<bool>>;
}
