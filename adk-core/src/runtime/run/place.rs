//! Says in an event who made it, where and in which run.

use super::{KeyScope, Overlay};
use crate::store::engine::Draft;
use crate::store::event::{Event, StateDelta};
use crate::store::session::Scope;
use crate::{Name, Path, Result, RunId, secret};
use std::sync::Arc;

/// Who emits, and where. It owns what it needs, so that the event of a call can be placed where the call is made.
pub(super) struct Placing {
    pub(super) author: Name,
    pub(super) branch: Option<Arc<str>>,
    pub(super) path: Path,
    pub(super) run_id: RunId,
    pub(super) scope: Option<Arc<KeyScope>>,
}

impl Placing {
    /// The same for a piece of a reply. Nothing of that is kept.
    pub(super) fn piece(self, event: &mut Event) {
        take_temp(&mut event.actions.state_delta, &self.path);
        self.place(event);
    }

    /// Says in an event who made it, where and in which run.
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

    /// The same, turns its keys into stored keys, and adds what was set since the last event.
    ///
    /// # Errors
    /// When a value of the event is nested too deep. What was set was looked at when it was set.
    pub(super) fn draft(self, event: impl Into<Arc<Event>>, pending: Overlay) -> Result<Draft> {
        let mut draft = Draft::new(event);
        let event = Arc::make_mut(&mut draft.event);
        event.check_depth()?;
        let delta = &mut event.actions.state_delta;
        if let Some(scope) = &self.scope
            && !delta.is_empty()
        {
            let keys = std::mem::take(delta).into_iter();
            *delta = keys.map(|(key, value)| (scope.write(&key), value)).collect();
        }
        if !pending.is_empty() {
            let mut pending = pending;
            pending.state_delta.extend(std::mem::take(delta));
            *delta = pending.state_delta;
            event.actions.artifact_delta.splice(0..0, pending.artifact_delta);
        }
        draft.temp = take_temp(delta, &self.path);
        self.place(event);
        Ok(draft)
    }
}

/// `temp:` keys and secrets live in the run and never in an event, which says of a secret where.
fn take_temp(delta: &mut StateDelta, path: &Path) -> StateDelta {
    let is_temp = |key: &str| Scope::of(key) == Scope::Temp;
    let mut temp = StateDelta::default();
    if !delta.iter().any(|(key, value)| is_temp(key) || secret::is_in(value)) {
        return temp;
    }
    for (key, value) in std::mem::take(delta).into_iter() {
        if is_temp(&key) {
            temp.insert(key, value);
        } else if secret::is_in(&value) {
            let (name, kept) = secret::keep(&key, path);
            temp.insert(name, value);
            delta.insert(key, kept);
        } else {
            delta.insert(key, value);
        }
    }
    temp
}
