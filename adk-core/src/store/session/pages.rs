//! The part of a session's log that is not in memory: pages that are loaded on demand.

use crate::store::event::Event;
use crate::{BoxFuture, Error, ErrorKind, Result, StoreErrorKind};
use std::fmt;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

/// How many events are loaded together.
pub const PAGE: usize = 256;

/// Reads events of one session from where it is kept.
pub trait Pages: Send + Sync + 'static {
    /// The events at these places of the log, oldest first.
    ///
    /// # Errors
    /// When the store fails, or does not have them any more.
    fn load(&self, places: Range<usize>) -> BoxFuture<'_, Result<Vec<Arc<Event>>>>;
}

/// A page, once it is there.
type Page = OnceLock<Box<[Arc<Event>]>>;

/// Events before a place, in pages that never move once they are there.
pub(super) struct Earlier {
    source: Option<Arc<dyn Pages>>,
    len: usize,
    pages: Box<[Page]>,
}

impl Earlier {
    pub(super) fn new(source: Option<Arc<dyn Pages>>, len: usize) -> Self {
        let pages = (0..len.div_ceil(PAGE)).map(|_| OnceLock::new()).collect();
        Self { source, len, pages }
    }

    pub(super) fn len(&self) -> usize {
        self.len
    }

    pub(super) fn get(&self, place: usize) -> Option<&Arc<Event>> {
        self.pages.get(place / PAGE)?.get()?.get(place % PAGE)
    }

    pub(super) fn is_complete(&self) -> bool {
        self.pages.iter().all(|page| page.get().is_some())
    }

    /// Fills the pages whose events are all there already.
    pub(super) fn take_over(&self, there: impl Fn(usize) -> Option<Arc<Event>>) {
        for (number, page) in self.pages.iter().enumerate() {
            let places = number * PAGE..((number + 1) * PAGE).min(self.len);
            if let Some(events) = places.map(&there).collect() {
                let _ = page.set(events);
            }
        }
    }

    pub(super) async fn load(&self, places: Range<usize>) -> Result<()> {
        let Some(source) = &self.source else { return Ok(()) };
        let pages = places.start / PAGE..places.end.min(self.len).div_ceil(PAGE);
        // Pages that follow each other and are missing are read together.
        let mut missing = pages.filter(|page| self.pages[*page].get().is_none()).peekable();
        while let Some(first) = missing.next() {
            let mut end = first + 1;
            while missing.next_if_eq(&end).is_some() {
                end += 1;
            }
            let wanted = first * PAGE..(end * PAGE).min(self.len);
            let events = source.load(wanted.clone()).await?;
            if events.len() != wanted.len() {
                let message = format!("the log of the session has lost events between {wanted:?}");
                return Err(Error::new(ErrorKind::Store(StoreErrorKind::Missing), message)
                    .with_help("was it deleted, or rewound by another program? open it again"));
            }
            let mut events = events.into_iter();
            for page in first..end {
                let many = PAGE.min(self.len - page * PAGE);
                let events: Box<[_]> = events.by_ref().take(many).collect();
                // Somebody else may have been faster: the same events.
                let _ = self.pages[page].set(events);
            }
        }
        Ok(())
    }
}

impl fmt::Debug for Earlier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Earlier({} events)", self.len)
    }
}
