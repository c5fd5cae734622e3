//! [`Session`]: the log of events and the state of one conversation, read in place and shared by
//! all its runs.

mod filter;
mod location;
mod log;
pub(crate) mod marks;
mod memory;
mod open;
pub(crate) mod own_keys;
mod pages;
pub(crate) mod sent_history;
mod state;
pub(crate) mod store;
mod transfer;
pub(crate) mod turn;

pub use filter::{EventFilter, SessionSnapshot};
pub use location::Location;
pub use marks::{MARKED_ARTIFACTS, PRIVATE_MARK, UNTRUSTED_MARK, marked_key};
pub use memory::MemoryStore;
pub use open::{OpenSessions, SessionRow};
pub use pages::{PAGE, Pages};
use sent_history::SentHistories;
pub use state::{Scope, SharedState, StateMap, forget_temp, split};
pub use store::{MAX_ID, SessionKey, SessionStore};
pub use transfer::{export, import};

use crate::event::{Event, StateDelta};
use crate::id::{IdSeed, MOST};
use crate::sync::{lock, read, write};
use crate::{BoxFuture, Name, Result};
use log::Log;
use pages::Earlier;
use serde_json::Value;
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, RwLock};
use std::time::{SystemTime, UNIX_EPOCH};

/// A conversation of one user with one app.
///
/// The log only grows and its entries never move: reading takes no lock and copies nothing. A
/// session of a store outside the process holds the events that were appended since it was opened;
/// [`load`](Self::load) reads earlier events.
#[derive(Debug)]
pub struct Session {
    key: SessionKey,
    /// The log from before the session was opened, read on demand.
    earlier: Earlier,
    log: Log<Arc<Event>>,
    own: RwLock<StateMap>,
    user: SharedState,
    app: SharedState,
    /// The clock. Holding its lock is the right to append.
    clock: Mutex<Clock>,
    turns: OnceLock<Box<turn::Turns>>,
    sent_histories: Mutex<SentHistories>,
}

/// The data of a stored session that is opened.
#[derive(Clone, Debug, Default)]
pub struct Opening {
    /// The state of the session itself, keys without a prefix.
    pub own: StateMap,
    /// The state of the user, shared by all open sessions of the user.
    pub user: SharedState,
    /// The state of the app, shared by all its open sessions.
    pub app: SharedState,
    /// The number of events in the log before [`newest`](Self::newest).
    pub earlier: usize,
    /// The newest events, oldest first. The store decides how many.
    pub newest: Vec<Arc<Event>>,
    /// The time of the last write, in microseconds since 1970.
    pub updated: u64,
}

impl Session {
    /// Opens a stored session. Events from before the newest ones are read from `pages` on demand.
    pub fn open(key: SessionKey, opening: Opening, pages: Option<Arc<dyn Pages>>) -> Self {
        let Opening {
            own,
            user,
            app,
            earlier,
            newest,
            updated,
        } = opening;
        let log = Log::default();
        let clock = Clock {
            micros: updated.max(newest.last().map_or(0, |event| event.timestamp)),
            nth: MOST,
        };
        newest.into_iter().for_each(|event| log.push(event));
        let (own, clock) = (RwLock::new(own), Mutex::new(clock));
        let turns = OnceLock::new();
        let sent_histories = Mutex::default();
        Self {
            key,
            earlier: Earlier::new(pages, earlier),
            log,
            own,
            user,
            app,
            clock,
            turns,
            sent_histories,
        }
    }

    /// Returns the key: app, user and id.
    pub fn key(&self) -> &SessionKey {
        &self.key
    }

    /// Returns the number of events in the log, loaded or not.
    pub fn len(&self) -> usize {
        self.earlier.len() + self.log.len()
    }

    /// Returns true if the log is empty.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the event at a place of the log, if it is loaded.
    pub fn event(&self, place: usize) -> Option<&Arc<Event>> {
        match place.checked_sub(self.earlier.len()) {
            Some(place) => self.log.get(place),
            None => self.earlier.get(place),
        }
    }

    /// Returns true if all events of the log are loaded, as they always are in memory.
    pub fn is_loaded(&self) -> bool {
        self.earlier.is_complete()
    }

    /// Loads the events at these places that are not loaded yet.
    ///
    /// # Errors
    /// When the store fails.
    pub fn load(&self, places: Range<usize>) -> BoxFuture<'_, Result<()>> {
        Box::pin(self.earlier.load(places))
    }

    /// Loads the newest events.
    ///
    /// # Errors
    /// When the store fails.
    pub fn load_newest(&self, events: usize) -> BoxFuture<'_, Result<()>> {
        let len = self.len();
        self.load(len.saturating_sub(events)..len)
    }

    /// Returns the time of the last write, in microseconds since 1970.
    pub fn updated(&self) -> u64 {
        lock(&self.clock).micros
    }

    /// Returns all loaded events so far, oldest first.
    pub fn events(&self) -> impl DoubleEndedIterator<Item = &Arc<Event>> {
        (0..self.len()).filter_map(|place| self.event(place))
    }

    /// Returns the value of a key; `app:` and `user:` keys belong to the app and the user.
    pub fn get(&self, key: &str) -> Option<Arc<Value>> {
        match Scope::of(key) {
            Scope::Session => read(&self.own).get(key).cloned(),
            Scope::User => self.user.get(key),
            Scope::App => self.app.get(key),
            Scope::Temp => None,
        }
    }

    /// Returns all keys and values, with the keys of the app and the user under their prefixes.
    pub fn state(&self) -> StateMap {
        let mut all = read(&self.own).clone();
        all.extend(self.user.all());
        all.extend(self.app.all());
        all
    }

    /// Applies all keys of a delta except `written`, whose new value is stored already.
    fn apply_except(&self, written: Option<&Name>, delta: &StateDelta) {
        if delta.is_empty() {
            return;
        }
        let mut own = write(&self.own);
        for (key, value) in delta.iter().filter(|(key, _)| Some(*key) != written) {
            let (key, value) = (key.clone(), value.clone());
            match Scope::of(&key) {
                Scope::Session => drop(own.insert(key, value)),
                Scope::User => self.user.insert(key, value),
                Scope::App => self.app.insert(key, value),
                Scope::Temp => {}
            }
        }
    }

    /// Appends an event with an id and a time from a store, and applies its changes.
    pub fn append_stored(&self, event: Arc<Event>) {
        let mut clock = lock(&self.clock);
        if event.timestamp > clock.micros {
            *clock = Clock {
                micros: event.timestamp,
                nth: MOST,
            };
        }
        self.apply(&event.actions.state_delta);
        self.log.push(event);
    }
}

/// The time of the latest event in microseconds, and the number of earlier events in that
/// microsecond. Time never runs backwards, even if the clock of the machine does.
#[derive(Debug, Default)]
struct Clock {
    micros: u64,
    nth: u16,
}

/// What only the runtime calls.
#[doc(hidden)]
impl Session {
    /// Returns the session at an earlier moment, with this state and the first `events` events. It
    /// shares only the events with this session, and [loads](Self::load) them for both.
    pub fn restored_at(self: &Arc<Self>, state: &StateDelta, events: usize) -> Self {
        let earlier = Earlier::from_session(self.clone(), events);
        let last = earlier.len().checked_sub(1).map(|place| self.event(place));
        // The last event may not be loaded; then its time is at most the time of this session.
        let updated = last.map_or(0, |last| {
            last.map_or_else(|| self.updated(), |event| event.timestamp)
        });
        let opening = Opening {
            updated,
            ..Opening::default()
        };
        let then = Self {
            earlier,
            ..Self::open(self.key.clone(), opening, None)
        };
        for (key, value) in state.iter() {
            then.preset(key.clone(), value.clone());
        }
        then
    }

    /// Returns a session with the same key and a copy of the state, but without events. It shares
    /// nothing with this session.
    pub fn copy_with(&self, delta: &StateDelta) -> Self {
        let (user, app) = (SharedState::default(), SharedState::default());
        user.replace(self.user.all());
        app.replace(self.app.all());
        let own = read(&self.own).clone();
        let copy = Self::open(
            self.key.clone(),
            Opening {
                own,
                user,
                app,
                ..Opening::default()
            },
            None,
        );
        for (key, value) in delta.iter() {
            copy.preset(key.clone(), value.clone());
        }
        copy
    }

    /// Sets a key without an event.
    pub fn preset(&self, key: Name, value: Arc<Value>) {
        match Scope::of(&key) {
            Scope::Session => drop(write(&self.own).insert(key, value)),
            Scope::User => self.user.insert(key, value),
            Scope::App => self.app.insert(key, value),
            Scope::Temp => {}
        }
    }

    /// Keeps events that a store has read in another query: they need no [`load`](Self::load).
    pub fn keep(&self, first: usize, events: &[Arc<Event>]) {
        (first..)
            .zip(events)
            .for_each(|(place, event)| self.earlier.keep(place, event.clone()));
    }

    /// Returns the parts of the log that agents were sent already.
    pub fn sent_histories(&self) -> MutexGuard<'_, SentHistories> {
        lock(&self.sent_histories)
    }

    /// Applies the changes of an event to the state.
    pub fn apply(&self, delta: &StateDelta) {
        self.apply_except(None, delta);
    }

    /// Assigns the event its id and time, applies its changes, and appends it, in one step for all
    /// readers. Returns its place in the log with it. `put` is called before the next append, so
    /// that events are delivered in the order of the log.
    pub fn append(
        &self,
        mut event: Arc<Event>,
        seed: IdSeed,
        put: impl FnOnce(&Arc<Event>),
    ) -> (u64, Arc<Event>) {
        let mut clock = lock(&self.clock);
        clock.stamp(Arc::make_mut(&mut event), seed);
        let place = self.len() as u64;
        self.apply(&event.actions.state_delta);
        self.log.push(event.clone());
        put(&event);
        (place, event)
    }

    /// Appends an event that is made from the value of a key, as [`append`](Self::append) does. No
    /// other write of the key comes in between: the lock of the clock protects the session's own
    /// keys, and the state of the user or the app is locked separately, because other sessions
    /// write it too.
    pub fn append_update(
        &self,
        key: &Name,
        mut make: impl FnMut(Option<&Value>) -> Result<Arc<Event>>,
        seed: IdSeed,
        put: impl FnOnce(&Arc<Event>),
    ) -> Result<(u64, Arc<Event>)> {
        let mut clock = lock(&self.clock);
        let mut made = |current: Option<&Value>| {
            let event = make(current)?;
            let value = event.actions.state_delta.get(key).cloned();
            Ok((event, value))
        };
        let mut event = match Scope::of(key) {
            Scope::User => self.user.replace_one(key, made)?,
            Scope::App => self.app.replace_one(key, made)?,
            Scope::Session | Scope::Temp => {
                let (event, value) = made(self.get(key).as_deref())?;
                if let Some(value) = value {
                    self.preset(key.clone(), value);
                }
                event
            }
        };
        clock.stamp(Arc::make_mut(&mut event), seed);
        let place = self.len() as u64;
        self.apply_except(Some(key), &event.actions.state_delta);
        self.log.push(event.clone());
        put(&event);
        Ok((place, event))
    }

    /// Assigns an id and a time to an event that is not stored.
    pub fn stamp(&self, event: &mut Event, seed: IdSeed) {
        lock(&self.clock).stamp(event, seed);
    }
}

impl Clock {
    fn stamp(&mut self, event: &mut Event, seed: IdSeed) {
        self.tick(now_micros());
        event.timestamp = self.micros;
        event.id = seed.event(self.micros, self.nth);
    }

    fn tick(&mut self, now: u64) {
        if now > self.micros {
            (self.micros, self.nth) = (now, 0);
        } else if self.nth + 1 < MOST {
            self.nth += 1;
        } else {
            (self.micros, self.nth) = (self.micros + 1, 0);
        }
    }
}

/// Returns microseconds since 1970, by the clock of the system. Sessions and events are stamped
/// with it.
pub fn now_micros() -> u64 {
    let since = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    since
        .as_secs()
        .saturating_mul(1_000_000)
        .saturating_add(u64::from(since.subsec_micros()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_sort_even_if_the_clock_is_set_back() {
        let mut clock = Clock::default();
        let mut last = (crate::EventId::default(), 0);
        // The clock stays at 50 for more events than one microsecond has ids, and is then set back.
        let still = std::iter::repeat_n(50, 2 * usize::from(MOST) + 1);
        for now in [10, 10, 11].into_iter().chain(still).chain([7, 53, 54, 54]) {
            clock.tick(now);
            let id = IdSeed::random().event(clock.micros, clock.nth);
            assert!(id > last.0 && clock.micros >= last.1, "at {now}");
            last = (id, clock.micros);
        }
        assert_eq!(last.1, 54);
    }
}
