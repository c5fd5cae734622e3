//! [`EventOrigin`]: the author, path and run that are written into an event.

use super::{KeyScope, Overlay, Stamp};
use crate::store::engine::Draft;
use crate::store::event::{Event, StateDelta};
use crate::store::session::Scope;
use crate::{Name, Path, Result, RunId, secret};
use std::sync::Arc;

/// The origin of an event. The struct owns its fields, so that the event of a call can be completed
/// where the call is made.
pub(super) struct EventOrigin {
    pub(super) author: Name,
    pub(super) branch: Option<Arc<str>>,
    pub(super) path: Path,
    pub(super) run_id: RunId,
    pub(super) scope: Option<Arc<KeyScope>>,
    /// The marks of the turn; `None` in a workflow without guards.
    pub(super) stamp: Option<Box<Stamp>>,
}

impl EventOrigin {
    /// Writes the author, branch, path and run into an event.
    pub(super) fn place(self, event: &mut Event) {
        if event.author.is_empty() {
            event.author = self.author;
        }
        if event.branch.is_none() {
            event.branch = self.branch;
        }
        event.path = self.path;
        event.invocation_id = self.run_id;
    }

    /// Completes an event, and turns it into a draft as [`draft_event`] does.
    ///
    /// # Errors
    /// As [`draft_event`].
    pub(super) fn draft(mut self, mut event: Event, pending: Overlay) -> Result<Draft> {
        let (scope, path, stamp) = (self.scope.clone(), self.path.clone(), self.stamp.take());
        self.place(&mut event);
        draft_event(event.into(), scope.as_deref(), &path, pending, stamp)
    }
}

/// Turns the keys of an event into stored keys, and adds the pending writes and the marks.
///
/// # Errors
/// When a value of the event is nested too deep. Pending writes were checked when they were set.
pub(super) fn draft_event(
    event: Arc<Event>,
    scope: Option<&KeyScope>,
    path: &Path,
    mut pending: Overlay,
    stamp: Option<Box<Stamp>>,
) -> Result<Draft> {
    event.check_depth()?;
    let mut draft = Draft::new(event);
    if stamp.is_none() && draft.event.actions.state_delta.is_empty() && pending.is_empty() {
        return Ok(draft);
    }
    let event = Arc::make_mut(&mut draft.event);
    let delta = &mut event.actions.state_delta;
    if let Some(scope) = scope {
        let keys = std::mem::take(delta).into_iter();
        *delta = keys
            .map(|(key, value)| (scope.write(&key), value))
            .collect();
    }
    if !pending.is_empty() {
        pending.state_delta.extend(std::mem::take(delta));
        let (keys, files) = pending.into_deltas();
        *delta = keys;
        if !files.is_empty() {
            event.actions.artifact_delta.splice(0..0, files);
        }
    }
    if let Some(stamp) = stamp {
        stamp.apply(event);
    }
    draft.temp = take_temp(&mut event.actions.state_delta, path);
    Ok(draft)
}

/// Takes the `temp:` keys and secrets, which the run keeps. The event keeps only a reference to
/// each secret.
pub(super) fn take_temp(delta: &mut StateDelta, path: &Path) -> StateDelta {
    let is_temp = |key: &str| Scope::of(key) == Scope::Temp;
    let mut temp = StateDelta::default();
    if !delta
        .iter()
        .any(|(key, value)| is_temp(key) || secret::has_secret(value))
    {
        return temp;
    }
    for (key, value) in std::mem::take(delta).into_iter() {
        if is_temp(&key) {
            temp.insert(key, value);
        } else if secret::has_secret(&value) {
            let (name, kept) = secret::keep(&key, path);
            temp.insert(name, value);
            delta.insert(key, kept);
        } else {
            delta.insert(key, value);
        }
    }
    temp
}
