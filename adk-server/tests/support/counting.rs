//! [`CountingSessions`]: sessions in memory that count what the server reads.

use adk::session::{
    EventFilter, Location, MemoryStore, Session, SessionKey, SessionSnapshot, SessionStore,
};
use adk::{BoxFuture, Event, Result, StateDelta};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

/// Sessions in memory. Clones share their state.
#[derive(Clone, Default)]
pub struct CountingSessions {
    inner: Arc<MemoryStore>,
    read: Arc<AtomicUsize>,
}

impl CountingSessions {
    /// Returns the sessions as a part of a runner.
    pub fn part(&self) -> Arc<dyn SessionStore> {
        Arc::new(self.clone())
    }

    /// Returns the number of sessions and events that were read since the last call.
    pub fn take_count(&self) -> usize {
        self.read.swap(0, SeqCst)
    }
}

impl SessionStore for CountingSessions {
    fn location(&self) -> Location {
        self.inner.location()
    }

    fn create(&self, key: SessionKey, state: StateDelta) -> BoxFuture<'_, Result<Arc<Session>>> {
        self.inner.create(key, state)
    }

    fn get<'a>(&'a self, key: &'a SessionKey) -> BoxFuture<'a, Result<Option<Arc<Session>>>> {
        self.inner.get(key)
    }

    fn read<'a>(
        &'a self,
        key: &'a SessionKey,
        filter: &'a EventFilter,
    ) -> BoxFuture<'a, Result<Option<SessionSnapshot>>> {
        Box::pin(async move {
            let found = self.inner.read(key, filter).await?;
            let events = found.iter().map(|session| session.events.len());
            self.read.fetch_add(events.sum(), SeqCst);
            Ok(found)
        })
    }

    fn append<'a>(&'a self, key: &'a SessionKey, events: Vec<Event>) -> BoxFuture<'a, Result<()>> {
        self.inner.append(key, events)
    }

    fn list<'a>(
        &'a self,
        app: &'a str,
        user: Option<&'a str>,
        prefix: &'a str,
    ) -> BoxFuture<'a, Result<Vec<SessionSnapshot>>> {
        Box::pin(async move {
            let found = self.inner.list(app, user, prefix).await?;
            self.read.fetch_add(found.len(), SeqCst);
            Ok(found)
        })
    }

    fn delete<'a>(&'a self, key: &'a SessionKey) -> BoxFuture<'a, Result<bool>> {
        self.inner.delete(key)
    }
}
