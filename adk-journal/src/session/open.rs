//! [`OpenSessions`]: the sessions of a store outside the process that are open in this process.

use super::{Opening, Pages, Session, SessionKey, SharedState, StateMap};
use crate::Name;
use crate::sync::lock;
use serde_json::{Map, Value};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, Weak};

/// The open sessions, each once, so that all runs of a session share it; and the state of their
/// users and apps. Clones share the table. It keeps no session alive.
#[derive(Clone, Debug, Default)]
pub struct OpenSessions(Arc<Mutex<OpenTables>>);

#[derive(Debug, Default)]
struct OpenTables {
    /// Sessions with their numbers: a session that is created again under an old key gets another
    /// number.
    sessions: HashMap<SessionKey, (i64, Weak<Session>)>,
    /// The number of entries above which entries of dropped sessions are removed.
    enough: usize,
    users: HashMap<(String, String), SharedState>,
    apps: HashMap<String, SharedState>,
}

/// The stored rows of a session.
#[derive(Clone, Debug, Default)]
pub struct SessionRow {
    /// The number that distinguishes it from an earlier session with the same key.
    pub number: i64,
    /// The number of events in its log.
    pub len: usize,
    /// The time of the last write, in microseconds since 1970.
    pub updated: u64,
    /// The state of the session itself.
    pub own: Map<String, Value>,
    /// The state of its user, without the prefix of the keys.
    pub user: Map<String, Value>,
    /// The state of its app, without the prefix of the keys.
    pub app: Map<String, Value>,
}

impl SessionRow {
    /// Returns all keys and values, with the keys of the app and the user under their prefixes.
    pub fn into_state(self) -> StateMap {
        let mut all = add_prefix("", self.own);
        all.extend(add_prefix("user:", self.user));
        all.extend(add_prefix("app:", self.app));
        all
    }
}

impl OpenSessions {
    /// Returns the session, if it is open and was not created again with the same key.
    pub fn find(&self, key: &SessionKey, number: i64) -> Option<Arc<Session>> {
        let tables = lock(&self.0);
        let (_, session) = tables.sessions.get(key).filter(|(own, _)| *own == number)?;
        session.upgrade()
    }

    /// Returns true if a session of that key is in use.
    pub fn is_open(&self, key: &SessionKey) -> bool {
        lock(&self.0)
            .sessions
            .get(key)
            .is_some_and(|(_, session)| session.strong_count() > 0)
    }

    /// Removes a deleted session. Holders of it keep their copy.
    pub fn remove(&self, key: &SessionKey) {
        lock(&self.0).sessions.remove(key);
    }

    /// Opens a session from its rows, or returns the open one, whose log must be up to date. The
    /// rows replace the state of the user and of the app in all open sessions.
    pub fn open(&self, key: &SessionKey, row: SessionRow, pages: Arc<dyn Pages>) -> Arc<Session> {
        let mut tables = lock(&self.0);
        let user = tables
            .users
            .entry((key.app.clone(), key.user.clone()))
            .or_default()
            .clone();
        let app = tables.apps.entry(key.app.clone()).or_default().clone();
        user.replace(add_prefix("user:", row.user));
        app.replace(add_prefix("app:", row.app));
        let open = tables
            .sessions
            .get(key)
            .filter(|(number, _)| *number == row.number);
        if let Some(session) = open.and_then(|(_, session)| session.upgrade()) {
            return session;
        }
        let own = add_prefix("", row.own);
        let opening = Opening {
            own,
            user,
            app,
            earlier: row.len,
            updated: row.updated,
            newest: Vec::new(),
        };
        let session = Arc::new(Session::open(key.clone(), opening, Some(pages)));
        if tables.sessions.len() >= tables.enough.max(1024) {
            tables
                .sessions
                .retain(|_, (_, session)| session.strong_count() > 0);
            tables.enough = tables.sessions.len() * 2;
        }
        tables
            .sessions
            .insert(key.clone(), (row.number, Arc::downgrade(&session)));
        session
    }
}

/// Adds a prefix to the keys of a state.
fn add_prefix(prefix: &str, state: Map<String, Value>) -> StateMap {
    state
        .into_iter()
        .map(|(key, value)| (Name::from(format!("{prefix}{key}")), Arc::new(value)))
        .collect()
}
