//! Which events of a session are wanted, and what comes back.

use super::{SessionKey, SessionRow, StateMap};
use crate::Result;
use crate::store::event::Event;
use serde_json::{Map, Value};
use std::ops::Range;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

/// Which events of a session are wanted. Of those that are left by [`places`](Self::places) and
/// [`since`](Self::since), [`last`](Self::last) takes the newest.
///
/// ```
/// # use adk_core as adk;
/// use adk::session::EventFilter;
/// let newest = EventFilter::new().last(20);
/// let second_page = EventFilter::new().places(100..200);
/// let none = EventFilter::new().last(0);
/// # let _ = (newest, second_page, none);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EventFilter {
    last: Option<usize>,
    since: u64,
    places: Option<Range<usize>>,
}

impl EventFilter {
    /// All events.
    pub fn new() -> Self {
        Self::default()
    }

    /// At most so many, the newest: ADK's `num_recent_events`. 0 is none, for those who want the state alone.
    #[must_use]
    pub fn last(mut self, events: usize) -> Self {
        self.last = Some(events);
        self
    }

    /// Those of that time or later: ADK's `after_timestamp`.
    #[must_use]
    pub fn since(mut self, time: SystemTime) -> Self {
        let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
        self.since = u64::try_from(since.as_micros()).unwrap_or(u64::MAX);
        self
    }

    /// Those at these places of the log, counted from 0: a page.
    #[must_use]
    pub fn places(mut self, places: Range<usize>) -> Self {
        self.places = Some(places);
        self
    }

    /// The most events wanted.
    pub fn most(&self) -> Option<usize> {
        self.last
    }

    /// The earliest time wanted, in microseconds since 1970.
    pub fn since_micros(&self) -> u64 {
        self.since
    }

    /// The places wanted of a log of that length.
    pub fn places_of(&self, len: usize) -> Range<usize> {
        let wanted = self.places.clone().unwrap_or(0..len);
        let end = wanted.end.min(len);
        wanted.start.min(end)..end
    }
}

/// A session as it was at one moment: ADK's `Session`.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct SessionSnapshot {
    /// App, user and id.
    pub key: SessionKey,
    /// All keys and values, those of the app and the user under their prefixes.
    pub state: StateMap,
    /// The events that were asked for, oldest first.
    pub events: Vec<Arc<Event>>,
    /// The place of the first of them in the log.
    pub first: usize,
    /// How many events the log holds, wanted or not.
    pub len: usize,
    /// When it was last written, in microseconds since 1970.
    pub updated: u64,
    /// In a list, why the state is not all here: rows of the session, its user or its app that cannot be read. To read or
    /// open such a session is an error that says the same.
    pub unreadable: Option<String>,
}

impl SessionSnapshot {
    /// A session without events that were asked for.
    pub fn new(key: SessionKey, state: StateMap, len: usize, updated: u64) -> Self {
        Self { key, state, events: Vec::new(), first: len, len, updated, unreadable: None }
    }

    /// A session of a list, with what can be read of its own state, that of its user and that of its app.
    pub fn listed(
        key: SessionKey,
        states: [Result<Map<String, Value>>; 3],
        len: usize,
        updated: u64,
    ) -> Self {
        let mut unreadable = Vec::new();
        let [own, user, app] = states.map(|state| {
            state.unwrap_or_else(|error| {
                unreadable.push(error.message().to_owned());
                Map::new()
            })
        });
        let state = SessionRow { own, user, app, ..SessionRow::default() }.into_state();
        let unreadable = (!unreadable.is_empty()).then(|| unreadable.join("; "));
        Self { unreadable, ..Self::new(key, state, len, updated) }
    }

    /// With these events; the first has that place.
    #[must_use]
    pub fn with_events(mut self, first: usize, events: Vec<Arc<Event>>) -> Self {
        (self.first, self.events) = (first, events);
        self
    }
}
