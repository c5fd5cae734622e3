//! What is known without asking: of the rows of sessions as long as nobody else writes, and the sessions that are open.

use adk_core::RunId;
use adk_core::session::{Session, SessionKey, SharedState};
use serde_json::{Map, Value};
use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

/// So many sessions are remembered.
const MOST: usize = 4096;

/// The rows of a session.
#[derive(Clone, Debug)]
pub(crate) struct Known {
    /// Its number in our tables.
    pub(crate) number: i64,
    /// How many events its log has.
    pub(crate) len: u64,
    /// When it was last written.
    pub(crate) latest: u64,
    /// Its own state.
    pub(crate) own: Map<String, Value>,
}

/// The rows of sessions, as they are in the transaction that is open.
#[derive(Debug, Default)]
pub(crate) struct Cache {
    version: i64,
    pub(crate) sessions: HashMap<SessionKey, Known>,
    /// Runs that this process drives.
    pub(crate) runs: HashSet<RunId>,
}

impl Cache {
    pub(crate) fn clear(&mut self) {
        self.sessions.clear();
        self.runs.clear();
    }

    /// SQLite counts what other connections have written: when that changes, nothing here can be trusted.
    pub(crate) fn at_version(&mut self, version: i64) {
        if self.version != version || self.sessions.len() > MOST || self.runs.len() > MOST {
            self.clear();
            self.version = version;
        }
    }
}

/// The sessions that are open, each once, so that all runs of one see the same.
#[derive(Clone, Debug, Default)]
pub(crate) struct Live(Arc<Mutex<Tables>>);

#[derive(Debug, Default)]
struct Tables {
    /// With their numbers: a session that is made again under its old key has another.
    sessions: HashMap<SessionKey, (i64, Weak<Session>)>,
    /// When so many are there, those that nobody holds are thrown away.
    enough: usize,
    users: HashMap<(String, String), SharedState>,
    apps: HashMap<String, SharedState>,
}

impl Live {
    fn tables(&self) -> MutexGuard<'_, Tables> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn find(&self, key: &SessionKey, number: i64) -> Option<Arc<Session>> {
        let tables = self.tables();
        let (_, session) = tables.sessions.get(key).filter(|(own, _)| *own == number)?;
        session.upgrade()
    }

    pub(crate) fn is_open(&self, key: &SessionKey) -> bool {
        self.tables().sessions.get(key).is_some_and(|(_, session)| session.strong_count() > 0)
    }

    pub(crate) fn add(&self, session: &Arc<Session>, number: i64) {
        let mut tables = self.tables();
        if tables.sessions.len() >= tables.enough.max(1024) {
            tables.sessions.retain(|_, (_, session)| session.strong_count() > 0);
            tables.enough = tables.sessions.len() * 2;
        }
        tables.sessions.insert(session.key().clone(), (number, Arc::downgrade(session)));
    }

    pub(crate) fn remove(&self, key: &SessionKey) {
        self.tables().sessions.remove(key);
    }

    pub(crate) fn user(&self, key: &SessionKey) -> SharedState {
        self.tables().users.entry((key.app.clone(), key.user.clone())).or_default().clone()
    }

    pub(crate) fn app(&self, key: &SessionKey) -> SharedState {
        self.tables().apps.entry(key.app.clone()).or_default().clone()
    }
}
