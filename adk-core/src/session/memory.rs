//! Sessions in memory, for as long as the process lives.

use super::{Session, SessionKey, SessionStore, SharedState};
use crate::event::StateDelta;
use crate::sync::lock;
use crate::{BoxFuture, Error, ErrorKind, Result};
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::sync::{Arc, Mutex};

/// Sessions in memory.
#[derive(Debug, Default)]
pub struct MemoryStore {
    tables: Mutex<Tables>,
}

#[derive(Debug, Default)]
struct Tables {
    sessions: BTreeMap<SessionKey, Arc<Session>>,
    users: BTreeMap<(String, String), SharedState>,
    apps: BTreeMap<String, SharedState>,
}

impl MemoryStore {
    /// A store without sessions.
    pub fn new() -> Self {
        Self::default()
    }
}

impl SessionStore for MemoryStore {
    fn create(&self, key: SessionKey, state: StateDelta) -> BoxFuture<'_, Result<Arc<Session>>> {
        let mut tables = lock(&self.tables);
        let tables = &mut *tables;
        let made = match tables.sessions.entry(key) {
            Entry::Occupied(entry) => {
                let message = format!("there is a session `{}` already", entry.key());
                Err(Error::new(ErrorKind::Store, message).with_help("open it, or choose another id"))
            }
            Entry::Vacant(entry) => {
                let key = entry.key().clone();
                let app = tables.apps.entry(key.app.clone()).or_default().clone();
                let user = tables.users.entry((key.app.clone(), key.user.clone())).or_default().clone();
                let session = Arc::new(Session::new(key, app, user));
                session.apply(&state);
                Ok(entry.insert(session).clone())
            }
        };
        Box::pin(std::future::ready(made))
    }

    fn get<'a>(&'a self, key: &'a SessionKey) -> BoxFuture<'a, Result<Option<Arc<Session>>>> {
        let found = lock(&self.tables).sessions.get(key).cloned();
        Box::pin(std::future::ready(Ok(found)))
    }

    fn list<'a>(&'a self, app: &'a str, user: Option<&'a str>) -> BoxFuture<'a, Result<Vec<SessionKey>>> {
        let wanted = |key: &&SessionKey| key.app == app && user.is_none_or(|user| key.user == user);
        let keys = lock(&self.tables).sessions.keys().filter(wanted).cloned().collect();
        Box::pin(std::future::ready(Ok(keys)))
    }

    fn delete<'a>(&'a self, key: &'a SessionKey) -> BoxFuture<'a, Result<bool>> {
        let found = lock(&self.tables).sessions.remove(key).is_some();
        Box::pin(std::future::ready(Ok(found)))
    }
}
