//! Sessions in memory, for as long as the process lives.

use super::{Session, SessionKey, SessionStore, SharedState};
use crate::event::StateDelta;
use crate::sync::lock;
use crate::{BoxFuture, Error, ErrorKind, Result};
use std::collections::BTreeMap;
use std::future::ready;
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

impl Tables {
    fn session(&mut self, key: SessionKey) -> Arc<Session> {
        let app = self.apps.entry(key.app.clone()).or_default().clone();
        let user = self.users.entry((key.app.clone(), key.user.clone())).or_default().clone();
        Arc::new(Session::new(key, app, user))
    }
}

impl SessionStore for MemoryStore {
    fn create(&self, key: SessionKey, state: StateDelta) -> BoxFuture<'_, Result<Arc<Session>>> {
        let mut tables = lock(&self.tables);
        if tables.sessions.contains_key(&key) {
            let error = Error::new(ErrorKind::Store, format!("there is a session `{key}` already"));
            return Box::pin(ready(Err(error.with_help("open it, or choose another id"))));
        }
        let session = tables.session(key.clone());
        session.apply(&state);
        tables.sessions.insert(key, session.clone());
        Box::pin(ready(Ok(session)))
    }

    fn create_private(&self, key: SessionKey) -> BoxFuture<'_, Result<Arc<Session>>> {
        Box::pin(ready(Ok(lock(&self.tables).session(key))))
    }

    fn get<'a>(&'a self, key: &'a SessionKey) -> BoxFuture<'a, Result<Option<Arc<Session>>>> {
        let found = lock(&self.tables).sessions.get(key).cloned();
        Box::pin(ready(Ok(found)))
    }

    fn list<'a>(&'a self, app: &'a str, user: Option<&'a str>) -> BoxFuture<'a, Result<Vec<SessionKey>>> {
        let wanted = |key: &&SessionKey| key.app == app && user.is_none_or(|user| key.user == user);
        let keys = lock(&self.tables).sessions.keys().filter(wanted).cloned().collect();
        Box::pin(ready(Ok(keys)))
    }

    fn delete<'a>(&'a self, key: &'a SessionKey) -> BoxFuture<'a, Result<bool>> {
        let found = lock(&self.tables).sessions.remove(key).is_some();
        Box::pin(ready(Ok(found)))
    }
}
