//! What an agent may see of the conversation so far.

use crate::store::session::Session;
use crate::{Event, Result};
use std::sync::Arc;

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

    /// Oldest first: all that are in memory, see [`load`](Self::load).
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &Arc<Event>> {
        let all = (0..self.len).filter_map(|place| self.session.event(place));
        all.filter(|event| visible(event.branch.as_deref(), self.branch.as_deref()))
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
