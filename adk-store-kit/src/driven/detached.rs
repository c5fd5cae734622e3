//! [`Detached`]: sessions that are not shared.

use adk_build::session::{
    EventFilter, Location, Opening, Scope, Session, SessionKey, SessionSnapshot, SessionStore,
    SharedState, StateMap,
};
use adk_build::{BoxFuture, Event, Result, StateDelta};
use std::sync::Arc;

/// A session store that opens a new `Session` for every caller.
pub(super) struct Detached(pub Arc<dyn SessionStore>);

impl SessionStore for Detached {
    fn location(&self) -> Location {
        self.0.location()
    }
    fn create(&self, key: SessionKey, state: StateDelta) -> BoxFuture<'_, Result<Arc<Session>>> {
        Box::pin(async move {
            self.0.create(key.clone(), state).await?;
            self.get(&key).await?.ok_or_else(|| key.missing())
        })
    }
    fn get<'a>(&'a self, key: &'a SessionKey) -> BoxFuture<'a, Result<Option<Arc<Session>>>> {
        Box::pin(async move {
            let Some(found) = self.0.read(key, &EventFilter::new()).await? else {
                return Ok(None);
            };
            let state_of = |scope: Scope| -> StateMap {
                let all = found
                    .state
                    .iter()
                    .filter(|(key, _)| Scope::of(key) == scope);
                all.map(|(key, value)| (key.clone(), value.clone()))
                    .collect()
            };
            let (user, app) = (SharedState::default(), SharedState::default());
            user.replace(state_of(Scope::User));
            app.replace(state_of(Scope::App));
            let (own, updated) = (state_of(Scope::Session), found.updated);
            let opening = Opening {
                own,
                user,
                app,
                earlier: 0,
                newest: found.events,
                updated,
            };
            Ok(Some(Arc::new(Session::open(key.clone(), opening, None))))
        })
    }
    fn read<'a>(
        &'a self,
        key: &'a SessionKey,
        filter: &'a EventFilter,
    ) -> BoxFuture<'a, Result<Option<SessionSnapshot>>> {
        self.0.read(key, filter)
    }
    fn append<'a>(&'a self, key: &'a SessionKey, events: Vec<Event>) -> BoxFuture<'a, Result<()>> {
        self.0.append(key, events)
    }
    fn list<'a>(
        &'a self,
        app: &'a str,
        user: Option<&'a str>,
        prefix: &'a str,
    ) -> BoxFuture<'a, Result<Vec<SessionSnapshot>>> {
        self.0.list(app, user, prefix)
    }
    fn delete<'a>(&'a self, key: &'a SessionKey) -> BoxFuture<'a, Result<bool>> {
        self.0.delete(key)
    }
}
