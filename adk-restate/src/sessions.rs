//! [`Detached`]: sessions in the state in which a handler found them. Only the commits of the
//! handler's own run are added later.

use crate::local::Local;
use adk_core::session::{
    EventFilter, Location, Opening, Pages, Scope, Session, SessionKey, SessionSnapshot,
    SessionStore, SharedState, StateMap,
};
use adk_core::{BoxFuture, Event, Result, StateDelta};
use std::ops::Range;
use std::sync::Arc;

pub(crate) struct Detached {
    pub(crate) store: Arc<dyn SessionStore>,
    pub(crate) local: Local,
}

/// The events that a session had when it was opened.
struct Earlier {
    store: Arc<dyn SessionStore>,
    local: Local,
    key: SessionKey,
}

impl Pages for Earlier {
    fn load(&self, places: Range<usize>) -> BoxFuture<'_, Result<Vec<Arc<Event>>>> {
        self.local.count(Box::pin(async move {
            let page = self
                .store
                .read(&self.key, &EventFilter::new().places(places))
                .await?;
            Ok(page.map_or_else(Vec::new, |page| page.events))
        }))
    }
}

impl Detached {
    async fn open(&self, key: &SessionKey) -> Result<Option<Arc<Session>>> {
        let Some(found) = self.store.read(key, &EventFilter::new().last(0)).await? else {
            return Ok(None);
        };
        let SessionSnapshot {
            state,
            len: earlier,
            updated,
            ..
        } = found;
        let scope_state = |scope| -> StateMap {
            let own = state.iter().filter(|(key, _)| Scope::of(key) == scope);
            own.map(|(key, value)| (key.clone(), value.clone()))
                .collect()
        };
        let (user, app) = (SharedState::default(), SharedState::default());
        user.replace(scope_state(Scope::User));
        app.replace(scope_state(Scope::App));
        let opening = Opening {
            own: scope_state(Scope::Session),
            user,
            app,
            earlier,
            updated,
            newest: Vec::new(),
        };
        let pages = Earlier {
            store: self.store.clone(),
            local: self.local.clone(),
            key: key.clone(),
        };
        Ok(Some(Arc::new(Session::open(
            key.clone(),
            opening,
            Some(Arc::new(pages)),
        ))))
    }
}

impl SessionStore for Detached {
    fn location(&self) -> Location {
        self.store.location()
    }

    fn create(&self, key: SessionKey, state: StateDelta) -> BoxFuture<'_, Result<Arc<Session>>> {
        self.local.count(Box::pin(async move {
            let made = self.store.create(key.clone(), state).await?;
            Ok(self.open(&key).await?.unwrap_or(made))
        }))
    }

    fn get<'a>(&'a self, key: &'a SessionKey) -> BoxFuture<'a, Result<Option<Arc<Session>>>> {
        self.local.count(Box::pin(self.open(key)))
    }

    fn read<'a>(
        &'a self,
        key: &'a SessionKey,
        filter: &'a EventFilter,
    ) -> BoxFuture<'a, Result<Option<SessionSnapshot>>> {
        self.local.count(self.store.read(key, filter))
    }

    fn append<'a>(&'a self, key: &'a SessionKey, events: Vec<Event>) -> BoxFuture<'a, Result<()>> {
        self.local.count(self.store.append(key, events))
    }

    fn list<'a>(
        &'a self,
        app: &'a str,
        user: Option<&'a str>,
        prefix: &'a str,
    ) -> BoxFuture<'a, Result<Vec<SessionSnapshot>>> {
        self.local.count(self.store.list(app, user, prefix))
    }

    fn delete<'a>(&'a self, key: &'a SessionKey) -> BoxFuture<'a, Result<bool>> {
        self.local.count(self.store.delete(key))
    }
}
