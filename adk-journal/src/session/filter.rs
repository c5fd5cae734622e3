//! [`EventFilter`] and [`SessionSnapshot`]: a selection of events of a session, and the session
//! with these events.

use super::{SessionKey, SessionRow, StateMap};
use crate::Result;
use crate::event::Event;
use serde_json::{Map, Value};
use std::ops::Range;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

/// A selection of events of a session. From the events that [`places`](Self::places) and
/// [`since`](Self::since) select, [`first`](Self::first) takes the oldest, and of these
/// [`last`](Self::last) the newest.
///
/// ```
/// # use adk_build as adk;
/// use adk::session::EventFilter;
/// let newest = EventFilter::new().last(20);
/// let second_page = EventFilter::new().places(100..200);
/// let none = EventFilter::new().last(0);
/// # let _ = (newest, second_page, none);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EventFilter {
    last: Option<usize>,
    first: Option<usize>,
    since: u64,
    places: Option<Range<usize>>,
}

impl EventFilter {
    /// Selects all events.
    pub fn new() -> Self {
        Self::default()
    }

    /// Selects at most the `events` newest events: ADK's `num_recent_events`. 0 selects only the
    /// state.
    #[must_use]
    pub fn last(mut self, events: usize) -> Self {
        self.last = Some(events);
        self
    }

    /// Selects at most the `events` oldest events: a page after [`since`](Self::since). The store
    /// does not read the events after them.
    #[must_use]
    pub fn first(mut self, events: usize) -> Self {
        self.first = Some(events);
        self
    }

    /// Selects the events of that time or later: ADK's `after_timestamp`.
    #[must_use]
    pub fn since(mut self, time: SystemTime) -> Self {
        let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
        self.since = u64::try_from(since.as_micros()).unwrap_or(u64::MAX);
        self
    }

    /// Selects the events at these places of the log, counted from 0: a page.
    #[must_use]
    pub fn places(mut self, places: Range<usize>) -> Self {
        self.places = Some(places);
        self
    }

    /// Returns the largest number of events.
    pub fn most(&self) -> Option<usize> {
        self.last
    }

    /// Returns the largest number of events from the oldest on, if it is limited.
    pub fn most_from_first(&self) -> Option<usize> {
        self.first
    }

    /// Returns the earliest time, in microseconds since 1970.
    pub fn since_micros(&self) -> u64 {
        self.since
    }

    /// Returns the selected places in a log of that length.
    pub fn places_of(&self, len: usize) -> Range<usize> {
        let wanted = self.places.clone().unwrap_or(0..len);
        let end = wanted.end.min(len);
        wanted.start.min(end)..end
    }
}

/// A session at one moment: ADK's `Session`.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct SessionSnapshot {
    /// App, user and id.
    pub key: SessionKey,
    /// All keys and values, with the keys of the app and the user under their prefixes.
    pub state: StateMap,
    /// The selected events, oldest first.
    pub events: Vec<Arc<Event>>,
    /// The place of the first selected event in the log.
    pub first: usize,
    /// The number of events in the log, selected or not.
    pub len: usize,
    /// The time of the last write, in microseconds since 1970.
    pub updated: u64,
    /// In a list, the reason why the state is incomplete: unreadable rows of the session, its user
    /// or its app. Reading or opening such a session fails with the same reason.
    pub unreadable: Option<String>,
}

impl SessionSnapshot {
    /// Creates a snapshot without events.
    pub fn new(key: SessionKey, state: StateMap, len: usize, updated: u64) -> Self {
        Self {
            key,
            state,
            events: Vec::new(),
            first: len,
            len,
            updated,
            unreadable: None,
        }
    }

    /// Creates a snapshot for a list, with the readable parts of the states of the session, its
    /// user and its app.
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
        let state = SessionRow {
            own,
            user,
            app,
            ..SessionRow::default()
        }
        .into_state();
        let unreadable = (!unreadable.is_empty()).then(|| unreadable.join("; "));
        Self {
            unreadable,
            ..Self::new(key, state, len, updated)
        }
    }

    /// Sets the events. The first of them is at the place `first`.
    #[must_use]
    pub fn with_events(mut self, first: usize, events: Vec<Arc<Event>>) -> Self {
        (self.first, self.events) = (first, events);
        self
    }
}
