//! Commits that Restate has checked against the journal.
//!
//! A commit to the store is not an entry of Restate's journal. If an incompatible version commits,
//! Restate therefore notices it only when a later entry differs. By then the store keeps the event,
//! in a slot that the previous version needs after a rollback. Therefore an entry precedes the
//! commit wherever the journal may still contain entries. A mark in the event makes later attempts
//! request the entry again.

use adk_core::engine::{Body, Stored};
use serde_json::Value;
use std::sync::Arc;

/// A key that the store keeps with the event, and that agents do not see.
const CHECKED: &str = "temp:adk-restate.checked";

/// Reports whether a journal entry preceded the commit of an event.
pub(crate) fn is_checked(stored: &Stored) -> bool {
    stored.temp.get(CHECKED).is_some()
}

/// Marks an event as preceded by a journal entry.
pub(crate) fn mark(mut body: Body) -> Body {
    if let Body::Ready(draft) = &mut body {
        draft.temp.insert(CHECKED, Arc::new(Value::Bool(true)));
    }
    body
}

/// Removes the mark from an event, for agents.
pub(crate) fn remove_mark(mut stored: Stored) -> Stored {
    if is_checked(&stored) {
        stored.temp.retain(|key| key != CHECKED);
    }
    stored
}
