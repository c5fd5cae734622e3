//! Where sessions are kept.

use super::{EventFilter, Location, Session, SessionSnapshot};
use crate::store::event::{Event, StateDelta};
use crate::{BoxFuture, Error, ErrorKind, Result};
use std::sync::Arc;

/// The most characters of the name of an app and of the id of a user or a session: what the tables of ADK hold.
pub const MAX_ID: usize = 128;

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

    /// Refuses ids that not every store can keep: empty ones, those of more than [`MAX_ID`] characters, and those with a
    /// NUL. It is asked before a run begins, and by stores before they make a session; nothing of such a key is anywhere.
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
pub(crate) fn check_id(what: &str, id: &str) -> Result<()> {
    let count = || id.chars().count();
    let why = if id.is_empty() {
        "is empty".to_owned()
    } else if id.contains('\0') {
        "holds a NUL character".to_owned()
    } else if id.len() > MAX_ID && count() > MAX_ID {
        format!("has {} characters, and {MAX_ID} are the most", count())
    } else {
        return Ok(());
    };
    let shown: String = id.chars().take(32).collect();
    let more = if shown.len() < id.len() { "..." } else { "" };
    Err(Error::new(ErrorKind::IdInvalid, format!("the {what} {shown:?}{more} {why}"))
        .with_help(format!("take one of 1 to {MAX_ID} characters without NUL")))
}

impl std::fmt::Display for SessionKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}/{}/{}", self.app, self.user, self.id)
    }
}

/// Keeps sessions: ADK's session service.
pub trait SessionStore: Send + Sync + 'static {
    /// Where the sessions are. Only an [`Engine`](crate::engine::Engine) of the same location stores events in them.
    fn location(&self) -> Location;

    /// Makes a session with an initial state, which is split by the prefixes of its keys.
    ///
    /// # Errors
    /// When there is one of that key already, or the store fails; when [the key](SessionKey::check) or [the
    /// state](StateDelta::check_depth) cannot be kept.
    fn create(&self, key: SessionKey, state: StateDelta) -> BoxFuture<'_, Result<Arc<Session>>>;

    /// Makes the session of a run that was given none. Nobody can ask for it by its key, so a store that dies with
    /// the process need not keep it.
    ///
    /// # Errors
    /// When the store fails.
    fn create_private(&self, key: SessionKey) -> BoxFuture<'_, Result<Arc<Session>>> {
        self.create(key, StateDelta::default())
    }

    /// The session of that key, to be run in. A store outside of the process loads no event here: most runs need none, and
    /// others load what they need by the [`Pages`](super::Pages) of the session.
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
    /// When there is no such session, when it holds an event of one of these ids, when [a value](Event::check_depth) cannot
    /// be kept, or the store fails. Then none of them is appended.
    fn append<'a>(&'a self, key: &'a SessionKey, events: Vec<Event>) -> BoxFuture<'a, Result<()>>;

    /// The sessions of a user, or of all users, with their state and without events: ADK's `list_sessions`. Sorted by
    /// the time of their last change, then by user and id. One whose state cannot be read is in the list, and
    /// [says so](SessionSnapshot::unreadable).
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
