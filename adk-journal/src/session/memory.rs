//! [`MemoryStore`]: sessions in memory, which end with the process.

use super::{
    EventFilter, Location, Opening, Scope, Session, SessionKey, SessionSnapshot, SessionStore,
    SharedState, StateMap, forget_temp, now_micros,
};
use crate::event::{Event, StateDelta};
use crate::sync::lock;
use crate::{BoxFuture, Error, ErrorKind, EventId, Result, StoreErrorKind};
use std::collections::{BTreeMap, HashSet};
use std::fmt::Display;
use std::future::ready;
use std::sync::{Arc, Mutex};

/// Keeps sessions in memory.
#[derive(Debug, Default)]
pub struct MemoryStore {
    tables: Mutex<MemoryTables>,
}

#[derive(Debug, Default)]
struct MemoryTables {
    sessions: BTreeMap<SessionKey, Arc<Session>>,
    apps: BTreeMap<String, App>,
}

#[derive(Debug, Default)]
struct App {
    state: SharedState,
    users: BTreeMap<String, SharedState>,
}

impl MemoryStore {
    /// Creates a store without sessions.
    pub fn new() -> Self {
        Self::default()
    }
}

/// The methods of a store that keeps its sessions both in memory and elsewhere.
impl MemoryStore {
    /// Returns the session of that key.
    pub fn find(&self, key: &SessionKey) -> Option<Arc<Session>> {
        lock(&self.tables).sessions.get(key).cloned()
    }

    /// Creates a session with a state that was written at this time, in microseconds since 1970.
    ///
    /// # Errors
    /// When a session of that key exists.
    pub fn insert(&self, key: SessionKey, state: &StateDelta, time: u64) -> Result<Arc<Session>> {
        let mut tables = lock(&self.tables);
        if tables.sessions.contains_key(&key) {
            return Err(key.exists());
        }
        let session = tables.session(key.clone(), time);
        session.apply(state);
        tables.sessions.insert(key, session.clone());
        Ok(session)
    }

    /// Removes a session; returns `false` if it did not exist.
    pub fn remove(&self, key: &SessionKey) -> bool {
        lock(&self.tables).sessions.remove(key).is_some()
    }
}

impl MemoryTables {
    fn session(&mut self, key: SessionKey, time: u64) -> Arc<Session> {
        // Only a new entry copies its name.
        let found = self
            .apps
            .get(&key.app)
            .and_then(|app| Some((app, app.users.get(&key.user)?)));
        let (app, user) = match found {
            Some((app, user)) => (app.state.clone(), user.clone()),
            None => {
                let app = self.apps.entry(key.app.clone()).or_default();
                (
                    app.state.clone(),
                    app.users.entry(key.user.clone()).or_default().clone(),
                )
            }
        };
        // `..Opening::default()` would allocate two shared states only to drop them.
        let opening = Opening {
            own: StateMap::new(),
            user,
            app,
            earlier: 0,
            newest: Vec::new(),
            updated: time,
        };
        Arc::new(Session::open(key, opening, None))
    }
}

impl SessionStore for MemoryStore {
    fn location(&self) -> Location {
        Location::Memory
    }

    fn create(&self, key: SessionKey, state: StateDelta) -> BoxFuture<'_, Result<Arc<Session>>> {
        let fits = key.check().and_then(|()| state.check_depth());
        Box::pin(ready(
            fits.and_then(|()| self.insert(key, &state, now_micros())),
        ))
    }

    fn create_private(&self, key: SessionKey) -> BoxFuture<'_, Result<Arc<Session>>> {
        Box::pin(ready(Ok(lock(&self.tables).session(key, now_micros()))))
    }

    fn get<'a>(&'a self, key: &'a SessionKey) -> BoxFuture<'a, Result<Option<Arc<Session>>>> {
        Box::pin(ready(Ok(self.find(key))))
    }

    fn read<'a>(
        &'a self,
        key: &'a SessionKey,
        filter: &'a EventFilter,
    ) -> BoxFuture<'a, Result<Option<SessionSnapshot>>> {
        Box::pin(ready(Ok(self
            .find(key)
            .map(|session| session.snapshot(filter)))))
    }

    fn append<'a>(
        &'a self,
        key: &'a SessionKey,
        mut events: Vec<Event>,
    ) -> BoxFuture<'a, Result<()>> {
        let session = self.find(key).ok_or_else(|| key.missing());
        let appended = session.and_then(|session| {
            session.check_new(&mut events)?;
            let events = events.into_iter().map(Arc::new);
            events.for_each(|event| session.append_stored(event));
            Ok(())
        });
        Box::pin(ready(appended))
    }

    fn list<'a>(
        &'a self,
        app: &'a str,
        user: Option<&'a str>,
        prefix: &'a str,
    ) -> BoxFuture<'a, Result<Vec<SessionSnapshot>>> {
        let none = EventFilter::new().last(0);
        // Keys are sorted by app, user and id, so the search ends at the first other key.
        let first = match user {
            Some(user) => SessionKey::new(app, user, prefix),
            None => SessionKey::new(app, "", ""),
        };
        let has_prefix = |key: &SessionKey| key.id.starts_with(prefix);
        let goes_on = |key: &SessionKey| {
            key.app == app && user.is_none_or(|user| key.user == user && has_prefix(key))
        };
        let tables = lock(&self.tables);
        let found = tables.sessions.range(first..);
        let found = found.take_while(|(key, _)| goes_on(key));
        let mut all: Vec<_> = found
            .filter(|(key, _)| has_prefix(key))
            .map(|(_, session)| session.snapshot(&none))
            .collect();
        all.sort_by(|a, b| a.updated.cmp(&b.updated).then_with(|| a.key.cmp(&b.key)));
        Box::pin(ready(Ok(all)))
    }

    fn delete<'a>(&'a self, key: &'a SessionKey) -> BoxFuture<'a, Result<bool>> {
        Box::pin(ready(Ok(self.remove(key))))
    }
}

impl SessionKey {
    /// Returns the error of a store that has a session of that key already.
    pub fn exists(&self) -> Error {
        let message = format!("session `{self}` exists already");
        Error::new(ErrorKind::Store(StoreErrorKind::Exists), message)
            .with_help("open it, or choose another id")
    }

    /// Returns the error of a store that has no session of that key.
    pub fn missing(&self) -> Error {
        let message = format!("session `{self}` does not exist");
        Error::new(ErrorKind::Store(StoreErrorKind::Missing), message)
            .with_help("create it first; was it deleted in the meantime?")
    }

    /// Returns the error of a store that cannot read a row of state: the row of the session, of its
    /// user, or of its app.
    pub fn unreadable_state(&self, scope: Scope, why: impl Display) -> Error {
        let row = match scope {
            Scope::User => format!("user `{}` of app `{}`", self.user, self.app),
            Scope::App => format!("app `{}`", self.app),
            Scope::Session | Scope::Temp => format!("session `{self}`"),
        };
        let message = format!("the state of {row} cannot be read: {why}");
        Error::new(ErrorKind::Store(StoreErrorKind::Corrupt), message)
            .with_help("repair its row, or delete it; was it written by another program?")
    }

    /// Returns the error of a store that cannot read an event in its log.
    pub fn unreadable_event(&self, id: &str, place: u64, why: impl Display) -> Error {
        let message =
            format!("the event {id} at place {place} of session `{self}` cannot be read: {why}");
        Error::new(ErrorKind::Store(StoreErrorKind::Corrupt), message).with_help(
            "repair its row; `EventFilter::places` reads those around it; was it written by \
             another program?",
        )
    }

    /// Returns the error for an appended event that the session holds already.
    pub fn twice(&self, event: &Event) -> Error {
        let message = format!("session `{self}` has the event {} already", event.id);
        Error::new(ErrorKind::Store(StoreErrorKind::Exists), message)
            .with_help("append only what is new, or import into a session of another id")
    }
}

impl Session {
    /// Checks events that are appended outside of a run to a session whose log is loaded, and
    /// removes their `temp:` keys.
    ///
    /// # Errors
    /// When the session has an event of the same id; when [a value](Event::check_depth) cannot be
    /// stored.
    pub fn check_new(&self, events: &mut [Event]) -> Result<()> {
        events.iter().try_for_each(Event::check_depth)?;
        let mut ids: HashSet<EventId> = self.events().map(|event| event.id).collect();
        if let Some(event) = events.iter().find(|event| !ids.insert(event.id)) {
            return Err(self.key.twice(event));
        }
        forget_temp(events);
        Ok(())
    }

    /// Returns the loaded part of the session, filtered.
    pub(super) fn snapshot(&self, filter: &EventFilter) -> SessionSnapshot {
        let len = self.len();
        let places = filter.places_of(len);
        let (mut first, mut end) = (places.start, places.end);
        // Time never runs backwards in a log.
        let later = |place: usize| {
            self.event(place)
                .is_some_and(|e| e.timestamp >= filter.since_micros())
        };
        let (mut low, mut high) = (first, end);
        while low < high {
            let middle = low + (high - low) / 2;
            if later(middle) {
                high = middle
            } else {
                low = middle + 1
            }
        }
        first = first.max(low);
        if let Some(most) = filter.most_from_first() {
            end = end.min(first.saturating_add(most));
        }
        if let Some(most) = filter.most() {
            first = first.max(end.saturating_sub(most));
        }
        let events = (first..end)
            .filter_map(|place| self.event(place).cloned())
            .collect();
        SessionSnapshot::new(self.key.clone(), self.state(), len, self.updated())
            .with_events(first, events)
    }
}
