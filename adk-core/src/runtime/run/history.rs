//! What an agent may see of the conversation so far.

use crate::store::session::{PAGE, Session, Told};
use crate::{Event, Result};
use std::ops::ControlFlow;
use std::sync::{Arc, MutexGuard};

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

    /// Gets what is not in memory: a session that was opened from a store has only its newest events there.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn load(&self) -> Result<()> {
        if self.session.is_loaded() { Ok(()) } else { self.session.load(0..self.len).await }
    }

    /// How many events the log has, seen or not.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// The branch whose events are seen.
    pub(crate) fn branch(&self) -> Option<&Arc<str>> {
        self.branch.as_ref()
    }

    /// What agents were told of the session.
    pub(crate) fn told(&self) -> MutexGuard<'_, Told> {
        self.session.told()
    }

    /// Newest first, down to a place of the log, each loaded when it is asked for, with its place in the log, until `next` has enough.
    ///
    /// # Errors
    /// When the store fails.
    pub(crate) async fn walk_back<'a>(
        &'a self,
        from: usize,
        mut next: impl FnMut(usize, &'a Arc<Event>) -> ControlFlow<()>,
    ) -> Result<()> {
        for place in (from..self.len).rev() {
            if self.session.event(place).is_none() {
                self.session.load((place + 1).saturating_sub(PAGE)..place + 1).await?;
            }
            let event = self.session.event(place).filter(|event| self.sees(event));
            if event.is_some_and(|event| next(place, event).is_break()) {
                break;
            }
        }
        Ok(())
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
