//! [`SessionStore`] of [`JsonStore`].

use crate::JsonStore;
use crate::data::Change;
use adk_journal::session::{
    EventFilter, Location, Pages, Scope, Session, SessionKey, SessionSnapshot, SessionStore,
    forget_temp, now_micros,
};
use adk_journal::{Event, StateDelta};
use adk_model::{BoxFuture, Result};
use std::collections::HashSet;
use std::ops::Range;
use std::sync::Arc;

/// Reads the events of a session that is open.
struct EarlierEvents(JsonStore, SessionKey);

impl Pages for EarlierEvents {
    fn load(&self, places: Range<usize>) -> BoxFuture<'_, Result<Vec<Arc<Event>>>> {
        let events = self.0.look(|data| {
            let session = data.sessions.get(&self.1).ok_or_else(|| self.1.missing())?;
            Ok(session.events.get(places).unwrap_or_default().to_vec())
        });
        Box::pin(std::future::ready(events))
    }
}

impl JsonStore {
    /// Opens a session, or returns the open one: all runs of a session in this process share it.
    /// The open one has all events by now, because `look` has applied the log.
    fn open_session(&self, key: &SessionKey) -> Result<Option<Arc<Session>>> {
        let pages = || Arc::new(EarlierEvents(self.clone(), key.clone()));
        let open = |row| self.0.live.open(key, row, pages());
        self.look(|data| Ok(data.row(key).map(open)))
    }
}

impl SessionStore for JsonStore {
    fn location(&self) -> Location {
        self.database()
    }

    fn create(
        &self,
        key: SessionKey,
        mut state: StateDelta,
    ) -> BoxFuture<'_, Result<Arc<Session>>> {
        Box::pin(async move {
            key.check()?;
            state.check_depth()?;
            state.retain(|key| Scope::of(key) != Scope::Temp);
            self.change(|data, changes| {
                if data.sessions.contains_key(&key) {
                    return Err(key.exists());
                }
                let new = Some((state, now_micros()));
                changes.push(Change::Session(key.clone(), new));
                Ok(())
            })?;
            self.open_session(&key)?.ok_or_else(|| key.missing())
        })
    }

    fn get<'a>(&'a self, key: &'a SessionKey) -> BoxFuture<'a, Result<Option<Arc<Session>>>> {
        Box::pin(async move { self.open_session(key) })
    }

    fn read<'a>(
        &'a self,
        key: &'a SessionKey,
        filter: &'a EventFilter,
    ) -> BoxFuture<'a, Result<Option<SessionSnapshot>>> {
        let read = self.look(|data| {
            let (Some(row), Some(session)) = (data.row(key), data.sessions.get(key)) else {
                return Ok(None);
            };
            let Range { mut start, end } = filter.places_of(row.len);
            let is_early = |place: usize| session.events[place].timestamp < filter.since_micros();
            while start < end && is_early(start) {
                start += 1;
            }
            if let Some(most) = filter.most() {
                start = start.max(end.saturating_sub(most));
            }
            let (len, updated) = (row.len, row.updated);
            let snapshot = SessionSnapshot::new(key.clone(), row.into_state(), len, updated);
            Ok(Some(
                snapshot.with_events(start, session.events[start..end].to_vec()),
            ))
        });
        Box::pin(std::future::ready(read))
    }

    fn append<'a>(
        &'a self,
        key: &'a SessionKey,
        mut events: Vec<Event>,
    ) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move {
            events.iter().try_for_each(Event::check_depth)?;
            forget_temp(&mut events);
            self.change(|data, changes| {
                let session = data.sessions.get(key).ok_or_else(|| key.missing())?;
                let mut ids: HashSet<_> = session.events.iter().map(|event| event.id).collect();
                for event in &events {
                    if !ids.insert(event.id) {
                        return Err(key.twice(event));
                    }
                    changes.push(Change::Event(key.clone(), event.to_stored()?));
                }
                Ok(())
            })
        })
    }

    fn list<'a>(
        &'a self,
        app: &'a str,
        user: Option<&'a str>,
    ) -> BoxFuture<'a, Result<Vec<SessionSnapshot>>> {
        let listed = self.look(|data| {
            let is_wanted =
                |key: &&SessionKey| key.app == app && user.is_none_or(|user| key.user == user);
            let keys = data.sessions.keys().filter(is_wanted);
            let mut all: Vec<_> = keys
                .filter_map(|key| {
                    let row = data.row(key)?;
                    let (len, updated) = (row.len, row.updated);
                    Some(SessionSnapshot::new(
                        key.clone(),
                        row.into_state(),
                        len,
                        updated,
                    ))
                })
                .collect();
            // The sort is stable, and the keys were sorted.
            all.sort_by_key(|session| session.updated);
            Ok(all)
        });
        Box::pin(std::future::ready(listed))
    }

    fn delete<'a>(&'a self, key: &'a SessionKey) -> BoxFuture<'a, Result<bool>> {
        self.0.live.remove(key);
        let deleted = self.change(|data, changes| {
            let is_there = data.sessions.contains_key(key);
            changes.extend(is_there.then(|| Change::Session(key.clone(), None)));
            Ok(is_there)
        });
        Box::pin(std::future::ready(deleted))
    }
}
