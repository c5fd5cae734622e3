//! [`Earlier`]: the events of a session that are not in its own log, loaded on demand.

use super::Session;
use crate::event::Event;
use crate::{BoxFuture, Error, ErrorKind, Result, StoreErrorKind};
use std::fmt;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

/// The number of events in a page, the unit of loading.
pub const PAGE: usize = 256;

/// Reads events of one session from its store.
pub trait Pages: Send + Sync + 'static {
    /// Returns the events at these places of the log, oldest first.
    ///
    /// # Errors
    /// When the store fails, or has lost the events.
    fn load(&self, places: Range<usize>) -> BoxFuture<'_, Result<Vec<Arc<Event>>>>;
}

/// The events before a place of the log.
pub(super) struct Earlier {
    len: usize,
    source: Source,
}

enum Source {
    Store(Loaded),
    /// Another session that has at least these events. Each event is loaded once, for both
    /// sessions.
    Session(Arc<Session>),
}

/// The events of a store that are in memory. They never move.
struct Loaded {
    store: Option<Arc<dyn Pages>>,
    /// Allocated with the first event, because most runs load none.
    pages: OnceLock<Box<[Page]>>,
    count: AtomicUsize,
}

/// The events of a page, allocated with the first of them.
type Page = OnceLock<Box<[OnceLock<Arc<Event>>]>>;

impl Earlier {
    pub(super) fn new(store: Option<Arc<dyn Pages>>, len: usize) -> Self {
        let loaded = Loaded {
            store,
            pages: OnceLock::new(),
            count: AtomicUsize::new(0),
        };
        Self {
            len,
            source: Source::Store(loaded),
        }
    }

    /// Returns the first events of another session.
    pub(super) fn from_session(session: Arc<Session>, len: usize) -> Self {
        Self {
            len: len.min(session.len()),
            source: Source::Session(session),
        }
    }

    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// Returns the event at a place before [`len`](Self::len), if it is loaded.
    pub(super) fn get(&self, place: usize) -> Option<&Arc<Event>> {
        match &self.source {
            Source::Store(loaded) => loaded
                .pages
                .get()?
                .get(place / PAGE)?
                .get()?
                .get(place % PAGE)?
                .get(),
            Source::Session(session) => session.event(place),
        }
    }

    pub(super) fn is_complete(&self) -> bool {
        match &self.source {
            Source::Store(loaded) => loaded.count.load(Ordering::Acquire) == self.len,
            Source::Session(session) => session.is_loaded(),
        }
    }

    /// Keeps an event that the caller has loaded.
    pub(super) fn keep(&self, place: usize, event: Arc<Event>) {
        let loaded = match &self.source {
            Source::Store(loaded) if place < self.len => loaded,
            _ => return,
        };
        let pages = || {
            (0..self.len.div_ceil(PAGE))
                .map(|_| OnceLock::new())
                .collect()
        };
        let page = &loaded.pages.get_or_init(pages)[place / PAGE];
        let first = place - place % PAGE;
        let events = || {
            (first..self.len.min(first + PAGE))
                .map(|_| OnceLock::new())
                .collect()
        };
        // Another caller may have loaded the same event.
        if page.get_or_init(events)[place % PAGE].set(event).is_ok() {
            loaded.count.fetch_add(1, Ordering::Release);
        }
    }

    pub(super) async fn load(&self, places: Range<usize>) -> Result<()> {
        let places = places.start..places.end.min(self.len);
        let store = match &self.source {
            Source::Store(Loaded {
                store: Some(store), ..
            }) => store,
            Source::Store(Loaded { store: None, .. }) => return Ok(()),
            Source::Session(session) => return session.load(places).await,
        };
        // Consecutive missing events are read together.
        let mut missing = places.filter(|place| self.get(*place).is_none()).peekable();
        while let Some(first) = missing.next() {
            let mut end = first + 1;
            while missing.next_if_eq(&end).is_some() {
                end += 1;
            }
            let events = store.load(first..end).await?;
            if events.len() != end - first {
                let message = format!(
                    "the log of the session has lost events between {:?}",
                    first..end
                );
                return Err(
                    Error::new(ErrorKind::Store(StoreErrorKind::Missing), message)
                        .with_help("was it deleted, or rewound by another program? open it again"),
                );
            }
            (first..)
                .zip(events)
                .for_each(|(place, event)| self.keep(place, event));
        }
        Ok(())
    }
}

impl fmt::Debug for Earlier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Earlier({} events)", self.len)
    }
}
