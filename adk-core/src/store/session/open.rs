//! The sessions of a store outside of the process that are open in this one.

use super::{Opening, Pages, Session, SessionKey, SharedState, StateMap};
use crate::Name;
use crate::sync::lock;
use serde_json::{Map, Value};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, Weak};

/// The sessions that are open, each once, so that all runs of one see the same; and the state of their users and apps.
/// Clones share it. It keeps none of them alive.
#[derive(Clone, Debug, Default)]
pub struct OpenSessions(Arc<Mutex<Tables>>);

#[derive(Debug, Default)]
struct Tables {
    /// With their numbers: a session that is made again under its old key has another.
    sessions: HashMap<SessionKey, (i64, Weak<Session>)>,
    /// When so many are there, those that nobody holds are thrown away.
    enough: usize,
    users: HashMap<(String, String), SharedState>,
    apps: HashMap<String, SharedState>,
}

/// What the rows of a session say.
#[derive(Clone, Debug, Default)]
pub struct SessionRow {
    /// What tells it from an earlier session of the same key.
    pub number: i64,
    /// How many events its log holds.
    pub len: usize,
    /// When it was last written, in microseconds since 1970.
    pub updated: u64,
    /// Its own state.
    pub own: Map<String, Value>,
    /// The state of its user, without the prefix of the keys.
    pub user: Map<String, Value>,
    /// The state of its app, without the prefix of the keys.
    pub app: Map<String, Value>,
}

impl SessionRow {
    /// All keys and values, those of the app and the user under their prefixes.
    pub fn into_state(self) -> StateMap {
        let mut all = prefixed("", self.own);
        all.extend(prefixed("user:", self.user));
        all.extend(prefixed("app:", self.app));
        all
    }
}

impl OpenSessions {
    /// The session, when it is open and no later one of the same key.
    pub fn find(&self, key: &SessionKey, number: i64) -> Option<Arc<Session>> {
        let tables = lock(&self.0);
        let (_, session) = tables.sessions.get(key).filter(|(own, _)| *own == number)?;
        session.upgrade()
    }

    /// Whether anybody holds a session of that key.
    pub fn is_open(&self, key: &SessionKey) -> bool {
        lock(&self.0).sessions.get(key).is_some_and(|(_, session)| session.strong_count() > 0)
    }

    /// Forgets a session that was deleted. Whoever holds it keeps what it has.
    pub fn remove(&self, key: &SessionKey) {
        lock(&self.0).sessions.remove(key);
    }

    /// Opens a session as its rows are, or gives the one that is open; that one has to be up with its log already. The
    /// state of the user and of the app becomes that of the rows for all sessions that are open.
    pub fn open(&self, key: &SessionKey, row: SessionRow, pages: Arc<dyn Pages>) -> Arc<Session> {
        let mut tables = lock(&self.0);
        let user = tables.users.entry((key.app.clone(), key.user.clone())).or_default().clone();
        let app = tables.apps.entry(key.app.clone()).or_default().clone();
        user.replace(prefixed("user:", row.user));
        app.replace(prefixed("app:", row.app));
        let open = tables.sessions.get(key).filter(|(number, _)| *number == row.number);
        if let Some(session) = open.and_then(|(_, session)| session.upgrade()) {
            return session;
        }
        let own = prefixed("", row.own);
        let opening = Opening { own, user, app, earlier: row.len, updated: row.updated, newest: Vec::new() };
        let session = Arc::new(Session::open(key.clone(), opening, Some(pages)));
        if tables.sessions.len() >= tables.enough.max(1024) {
            tables.sessions.retain(|_, (_, session)| session.strong_count() > 0);
            tables.enough = tables.sessions.len() * 2;
        }
        tables.sessions.insert(key.clone(), (row.number, Arc::downgrade(&session)));
        session
    }
}

/// A part of the state under its prefix.
fn prefixed(prefix: &str, state: Map<String, Value>) -> StateMap {
    state.into_iter().map(|(key, value)| (Name::from(format!("{prefix}{key}")), Arc::new(value))).collect()
}
