//! [`SessionStore`] and [`MemoryService`] of [`JsonStore`].

use crate::JsonStore;
use crate::data::Change;
use adk_journal::memory::{MemoryEntry, MemoryMark, MemoryService};
use adk_journal::session::{
    EventFilter, Location, Scope, Session, SessionKey, SessionSnapshot, SessionStore, now_micros,
};
use adk_journal::{Event, StateDelta};
use adk_model::{BoxFuture, Result};
use std::future::ready;
use std::sync::Arc;

impl JsonStore {
    fn create_now(&self, key: &SessionKey, mut state: StateDelta) -> Result<Arc<Session>> {
        key.check()?;
        state.check_depth()?;
        state.retain(|key| Scope::of(key) != Scope::Temp);
        self.change(|data, changes| {
            if data.sessions.find(key).is_some() {
                return Err(key.exists());
            }
            changes.push(Change::Create(key.clone(), state, now_micros()));
            Ok(())
        })?;
        self.look(|data| data.session(key))
    }
}

impl SessionStore for JsonStore {
    fn location(&self) -> Location {
        self.database()
    }

    fn create(&self, key: SessionKey, state: StateDelta) -> BoxFuture<'_, Result<Arc<Session>>> {
        Box::pin(ready(self.create_now(&key, state)))
    }

    fn get<'a>(&'a self, key: &'a SessionKey) -> BoxFuture<'a, Result<Option<Arc<Session>>>> {
        Box::pin(ready(self.look(|data| Ok(data.sessions.find(key)))))
    }

    fn read<'a>(
        &'a self,
        key: &'a SessionKey,
        filter: &'a EventFilter,
    ) -> BoxFuture<'a, Result<Option<SessionSnapshot>>> {
        Box::pin(async move {
            let sessions = self.look(|data| Ok(data.sessions.clone()))?;
            sessions.read(key, filter).await
        })
    }

    fn append<'a>(
        &'a self,
        key: &'a SessionKey,
        mut events: Vec<Event>,
    ) -> BoxFuture<'a, Result<()>> {
        Box::pin(ready(self.change(|data, changes| {
            data.session(key)?.check_new(&mut events)?;
            for event in &events {
                changes.push(Change::Event(key.clone(), event.to_stored()?));
            }
            Ok(())
        })))
    }

    fn list<'a>(
        &'a self,
        app: &'a str,
        user: Option<&'a str>,
        prefix: &'a str,
    ) -> BoxFuture<'a, Result<Vec<SessionSnapshot>>> {
        Box::pin(async move {
            let sessions = self.look(|data| Ok(data.sessions.clone()))?;
            sessions.list(app, user, prefix).await
        })
    }

    fn delete<'a>(&'a self, key: &'a SessionKey) -> BoxFuture<'a, Result<bool>> {
        Box::pin(ready(self.change(|data, changes| {
            let is_there = data.sessions.find(key).is_some();
            changes.extend(is_there.then(|| Change::Delete(key.clone())));
            Ok(is_there)
        })))
    }
}

impl MemoryService for JsonStore {
    fn added_until<'a>(&'a self, key: &'a SessionKey) -> BoxFuture<'a, Result<Option<MemoryMark>>> {
        Box::pin(async move {
            let memory = self.look(|data| Ok(data.memory.clone()))?;
            memory.added_until(key).await
        })
    }

    fn add_events_to_memory<'a>(
        &'a self,
        key: &'a SessionKey,
        entries: Vec<MemoryEntry>,
        until: MemoryMark,
    ) -> BoxFuture<'a, Result<()>> {
        Box::pin(ready(self.change(|_, changes| {
            changes.push(Change::Memory(key.clone(), entries, until));
            Ok(())
        })))
    }

    fn search_memory<'a>(
        &'a self,
        app: &'a str,
        user: &'a str,
        query: &'a str,
    ) -> BoxFuture<'a, Result<Vec<MemoryEntry>>> {
        Box::pin(async move {
            let memory = self.look(|data| Ok(data.memory.clone()))?;
            memory.search_memory(app, user, query).await
        })
    }
}
