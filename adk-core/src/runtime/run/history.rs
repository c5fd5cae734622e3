//! [`History`]: the part of a conversation that an agent may see.

use crate::store::session::{PAGE, SentHistories, Session};
use crate::{Event, Result};
use std::ops::ControlFlow;
use std::sync::{Arc, MutexGuard};

/// The number of events that [`History::walk_back`] loads first.
const FIRST_STEP: usize = 16;

/// The events that an agent may see: events without a branch, of its own branch, and of the
/// enclosing branches.
///
/// The history borrows nothing and copies no event: the log only grows, and the history keeps the
/// length that the log had.
#[derive(Clone, Debug)]
pub struct History {
    session: Arc<Session>,
    branch: Option<Arc<str>>,
    len: usize,
}

impl History {
    pub(crate) fn new(session: Arc<Session>, branch: Option<Arc<str>>) -> Self {
        Self {
            len: session.len(),
            session,
            branch,
        }
    }

    /// Returns the part of the history before a place in the log.
    pub(crate) fn before(mut self, place: u64) -> Self {
        self.len = usize::try_from(place).unwrap_or(usize::MAX).min(self.len);
        self
    }

    /// Loads all events. If the store is outside of the process, a session holds in memory only the
    /// events that were appended since it was opened, such as the events of this run.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn load(&self) -> Result<()> {
        self.load_newest(self.len).await
    }

    /// Loads the newest events of the log, visible or not.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn load_newest(&self, events: usize) -> Result<()> {
        if self.session.is_loaded() {
            return Ok(());
        }
        self.session
            .load(self.len.saturating_sub(events)..self.len)
            .await
    }

    /// Returns the number of events in the log, visible or not.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Returns the branch whose events are visible.
    pub(crate) fn branch(&self) -> Option<&Arc<str>> {
        self.branch.as_ref()
    }

    /// Returns the cached messages of the requests that agents have sent before.
    pub(crate) fn sent_histories(&self) -> MutexGuard<'_, SentHistories> {
        self.session.sent_histories()
    }

    /// Passes the visible events to `next`, with their places in the log, from the newest back to
    /// the place `from`, until `next` breaks. Events are loaded on demand. Each load reads twice as
    /// many events as the load before, up to a page.
    ///
    /// # Errors
    /// When the store fails.
    pub(crate) async fn walk_back<'a>(
        &'a self,
        from: usize,
        mut next: impl FnMut(usize, &'a Arc<Event>) -> ControlFlow<()>,
    ) -> Result<()> {
        let mut step = FIRST_STEP;
        for place in (from..self.len).rev() {
            if self.session.event(place).is_none() {
                let end = place + 1;
                self.session
                    .load(end.saturating_sub(step).max(from)..end)
                    .await?;
                step = PAGE.min(2 * step);
            }
            let event = self.session.event(place).filter(|event| self.sees(event));
            if event.is_some_and(|event| next(place, event).is_break()) {
                break;
            }
        }
        Ok(())
    }

    /// Returns the first result of `find`, newest event first.
    ///
    /// # Errors
    /// When the store fails.
    pub(crate) async fn find_back<'a, T>(
        &'a self,
        mut find: impl FnMut(&'a Arc<Event>) -> Option<T>,
    ) -> Result<Option<T>> {
        let mut found = None;
        let next = |_, event| {
            found = find(event);
            if found.is_some() {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        };
        self.walk_back(0, next).await?;
        Ok(found)
    }

    fn sees(&self, event: &Event) -> bool {
        is_visible(event.branch.as_deref(), self.branch.as_deref())
    }

    /// Returns whether a summary covers all events that are visible here. A summary from outside of
    /// all branches covers the events of each branch, and any other covers only the events that its
    /// own branch sees.
    pub(crate) fn is_covered_by(&self, event: &Event) -> bool {
        event.branch.is_none() || event.branch == self.branch
    }

    /// Returns the visible events in memory, oldest first; see [`load`](Self::load).
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &Arc<Event>> {
        let all = (0..self.len).filter_map(|place| self.session.event(place));
        all.filter(|event| self.sees(event))
    }
}

/// Compares branches by segments, because `par.a` does not enclose `par.ab`.
fn is_visible(event: Option<&str>, own: Option<&str>) -> bool {
    match (event, own) {
        (None, _) | (_, None) => true,
        (Some(event), Some(own)) => own
            .strip_prefix(event)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with('.')),
    }
}

#[cfg(test)]
mod tests {
    use super::is_visible;

    #[test]
    fn a_branch_sees_its_own_events_and_those_of_enclosing_branches() {
        assert!(is_visible(None, Some("par.a")) && is_visible(Some("par.b"), None));
        assert!(
            is_visible(Some("par.a"), Some("par.a"))
                && is_visible(Some("par.a"), Some("par.a.q.x"))
        );
        assert!(
            !is_visible(Some("par.a"), Some("par.ab"))
                && !is_visible(Some("par.a.q.x"), Some("par.a"))
        );
    }
}
