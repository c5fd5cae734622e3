//! What an agent may see of the conversation so far.

use crate::store::session::{PAGE, SentHistories, Session};
use crate::{Event, Result};
use std::ops::ControlFlow;
use std::sync::{Arc, MutexGuard};

/// How many events [`History::walk_back`] loads first.
const FIRST_STEP: usize = 16;

/// The events that an agent may see: those without a branch, of its own branch, and of the branches around it.
///
/// It borrows nothing and copies no event: the log only grows, and this remembers how long it was.
#[derive(Clone, Debug)]
pub struct History {
    session: Arc<Session>,
    branch: Option<Arc<str>>,
    len: usize,
}

impl History {
    pub(crate) fn new(session: Arc<Session>, branch: Option<Arc<str>>) -> Self {
        Self { len: session.len(), session, branch }
    }

    /// Loads all events. A session that comes from a store outside of the process has only those in memory that were appended
    /// since it was opened, such as the events of this run.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn load(&self) -> Result<()> {
        self.load_newest(self.len).await
    }

    /// Loads the newest events of the log, seen here or not.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn load_newest(&self, events: usize) -> Result<()> {
        if self.session.is_loaded() {
            return Ok(());
        }
        self.session.load(self.len.saturating_sub(events)..self.len).await
    }

    /// How many events the log has, seen or not.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// The branch whose events are seen.
    pub(crate) fn branch(&self) -> Option<&Arc<str>> {
        self.branch.as_ref()
    }

    /// Returns the parts of the log that agents were sent already.
    pub(crate) fn sent_histories(&self) -> MutexGuard<'_, SentHistories> {
        self.session.sent_histories()
    }

    /// Newest first, down to a place of the log, each loaded when it is asked for, with its place in the log, until `next` has
    /// enough. Each load reads twice as many events as the one before, up to a page.
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
                self.session.load(end.saturating_sub(step).max(from)..end).await?;
                step = PAGE.min(2 * step);
            }
            let event = self.session.event(place).filter(|event| self.sees(event));
            if event.is_some_and(|event| next(place, event).is_break()) {
                break;
            }
        }
        Ok(())
    }

    /// The first result of `find`, newest event first.
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
            if found.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        self.walk_back(0, next).await?;
        Ok(found)
    }

    fn sees(&self, event: &Event) -> bool {
        visible(event.branch.as_deref(), self.branch.as_deref())
    }

    /// Whether a summary holds no less than what is seen here. One that was made outside of all branches holds what was said in
    /// each of them, and any other only what its own branch sees.
    pub(crate) fn is_covered_by(&self, event: &Event) -> bool {
        event.branch.is_none() || event.branch == self.branch
    }

    /// Oldest first: all that are in memory, see [`load`](Self::load).
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &Arc<Event>> {
        let all = (0..self.len).filter_map(|place| self.session.event(place));
        all.filter(|event| self.sees(event))
    }
}

/// By segments, since `par.a` is no part of `par.ab`.
fn visible(event: Option<&str>, own: Option<&str>) -> bool {
    match (event, own) {
        (None, _) | (_, None) => true,
        (Some(event), Some(own)) => {
            own.strip_prefix(event).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::visible;

    #[test]
    fn a_branch_sees_itself_and_what_is_around_it() {
        assert!(visible(None, Some("par.a")) && visible(Some("par.b"), None));
        assert!(visible(Some("par.a"), Some("par.a")) && visible(Some("par.a"), Some("par.a.q.x")));
        assert!(!visible(Some("par.a"), Some("par.ab")) && !visible(Some("par.a.q.x"), Some("par.a")));
    }
}
