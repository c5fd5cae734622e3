//! A session: the log of its events and its state, read in place and shared by everything that runs on it.

mod log;
mod memory;
mod state;
mod store;

pub use memory::MemoryStore;
pub use state::{Scope, StateMap};
pub use store::{SessionKey, SessionStore};

use crate::event::{Event, StateDelta};
use crate::id::{IdSeed, MOST};
use crate::sync::{lock, read, write};
use log::Log;
use serde_json::Value;
use std::sync::{Arc, Mutex, RwLock};
use std::time::{SystemTime, UNIX_EPOCH};

/// State that several sessions share: that of a user, or of the app.
pub(crate) type SharedState = Arc<RwLock<StateMap>>;

/// A conversation of one user with one app.
///
/// Its log only grows and its entries never move: reading takes no lock and copies nothing.
#[derive(Debug)]
pub struct Session {
    key: SessionKey,
    log: Log<Arc<Event>>,
    own: RwLock<StateMap>,
    user: SharedState,
    app: SharedState,
    /// Holding it is the right to append.
    clock: Mutex<Clock>,
}

impl Session {
    pub(crate) fn new(key: SessionKey, app: SharedState, user: SharedState) -> Self {
        let (log, own, clock) = (Log::default(), RwLock::default(), Mutex::default());
        Self { key, log, own, user, app, clock }
    }

    /// App, user and id.
    pub fn key(&self) -> &SessionKey {
        &self.key
    }

    /// How many events are in the log.
    pub fn len(&self) -> usize {
        self.log.len()
    }

    /// Whether nothing has happened yet.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The event at a place of the log.
    pub fn event(&self, place: usize) -> Option<&Arc<Event>> {
        self.log.get(place)
    }

    /// All events so far, oldest first.
    pub fn events(&self) -> impl DoubleEndedIterator<Item = &Arc<Event>> {
        (0..self.len()).filter_map(|place| self.event(place))
    }

    /// The value of a key; `app:` and `user:` keys are those of the app and of the user.
    pub fn get(&self, key: &str) -> Option<Arc<Value>> {
        match Scope::of(key) {
            Scope::Session => read(&self.own).get(key).cloned(),
            Scope::User => read(&self.user).get(key).cloned(),
            Scope::App => read(&self.app).get(key).cloned(),
            Scope::Temp => None,
        }
    }

    /// All keys and values, those of the app and the user under their prefixes.
    pub fn state(&self) -> StateMap {
        let mut all = read(&self.own).clone();
        for shared in [&self.user, &self.app] {
            all.extend(read(shared).iter().map(|(key, value)| (key.clone(), value.clone())));
        }
        all
    }

    pub(crate) fn apply(&self, delta: &StateDelta) {
        if delta.is_empty() {
            return;
        }
        let mut own = write(&self.own);
        for (key, value) in delta.iter() {
            let (key, value) = (key.clone(), value.clone());
            match Scope::of(&key) {
                Scope::Session => drop(own.insert(key, value)),
                Scope::User => drop(write(&self.user).insert(key, value)),
                Scope::App => drop(write(&self.app).insert(key, value)),
                Scope::Temp => {}
            }
        }
    }

    /// Gives the event its id and time, applies what it changes, and appends it: one step for all who look. With it comes its place in the log.
    /// `put` sees it while nobody else can append, so that events are delivered in the order of the log.
    pub(crate) fn append(
        &self,
        mut event: Event,
        seed: IdSeed,
        put: impl FnOnce(&Arc<Event>),
    ) -> (u64, Arc<Event>) {
        let mut clock = lock(&self.clock);
        clock.stamp(&mut event, seed);
        let event = Arc::new(event);
        let place = self.push(event.clone());
        put(&event);
        (place, event)
    }

    /// Appends an event that has its id and time already, and applies what it changes.
    pub(crate) fn adopt(&self, event: Arc<Event>) -> u64 {
        let mut clock = lock(&self.clock);
        if event.timestamp > clock.micros {
            // Its number within the microsecond is not known, so the next event is of a later one.
            *clock = Clock { micros: event.timestamp, nth: MOST - 1 };
        }
        self.push(event)
    }

    fn push(&self, event: Arc<Event>) -> u64 {
        let place = self.log.len() as u64;
        self.apply(&event.actions.state_delta);
        self.log.push(event);
        place
    }

    /// Gives an event that is not stored its id and time.
    pub(crate) fn stamp(&self, event: &mut Event, seed: IdSeed) {
        lock(&self.clock).stamp(event, seed);
    }
}

/// The time of the latest event in microseconds, and how many there were in that microsecond before it. Time never
/// runs backwards here, whatever the clock of the machine does.
#[derive(Debug, Default)]
struct Clock {
    micros: u64,
    nth: u16,
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

pub(crate) fn now_micros() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_micros()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_sort_whatever_the_clock_does() {
        let mut clock = Clock::default();
        let mut last = (crate::EventId::default(), 0);
        // It stands still for longer than a microsecond has numbers, and is then set back.
        let still = std::iter::repeat_n(50, 2 * usize::from(MOST) + 1);
        for now in [10, 10, 11].into_iter().chain(still).chain([7, 53, 54, 54]) {
            clock.tick(now);
            let id = IdSeed::new().event(clock.micros, clock.nth);
            assert!(id > last.0 && clock.micros >= last.1, "at {now}");
            last = (id, clock.micros);
        }
        assert_eq!(last.1, 54);
    }
}
