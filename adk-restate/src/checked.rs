//! Commits that Restate has checked.
//!
//! A commit is no entry of the journal, so Restate does not see one of a version that does not fit, before the entry that it
//! refuses. The event would be there when the program of before is back, in a slot that this fills. So where a journal may
//! go on, an entry comes before the commit. The event says so, for later attempts: they ask for the entry again.

use adk_core::engine::{Body, Stored};
use serde_json::Value;
use std::sync::Arc;

/// A key that the store keeps with the event, and no agent gets.
const CHECKED: &str = "temp:adk-restate.checked";

/// Whether an entry of the journal came before the commit of this event.
pub(crate) fn is_checked(stored: &Stored) -> bool {
    stored.temp.get(CHECKED).is_some()
}

/// The same event, which says that an entry came before its commit.
pub(crate) fn mark(mut body: Body) -> Body {
    if let Body::Ready(draft) = &mut body {
        draft.temp.insert(CHECKED, Arc::new(Value::Bool(true)));
    }
    body
}

/// What agents get of an event.
pub(crate) fn unmarked(mut stored: Stored) -> Stored {
    if is_checked(&stored) {
        stored.temp.retain(|key| key != CHECKED);
    }
    stored
}
