//! Says in an event who made it, where and in which run.

use super::{KeyScope, Overlay};
use crate::store::engine::Draft;
use crate::store::event::{Event, StateDelta};
use crate::store::session::Scope;
use crate::{Name, Path, Result, RunId};
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
    /// Says in an event who made it, where and in which run.
    pub(super) fn place(self, mut event: Event) -> Event {
        if event.author.is_empty() {
            event.author = self.author;
        }
        if event.branch.is_none() {
            event.branch = self.branch;
        }
        event.path = self.path;
        event.invocation_id = self.run_id;
        event
    }

    /// The same, turns its keys into stored keys, and adds what was set since the last event.
    ///
    /// # Errors
    /// When a value of the event is nested too deep. What was set was looked at when it was set.
    pub(super) fn draft(self, mut event: Event, pending: Overlay) -> Result<Draft> {
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
        let temp = take_temp(delta);
        Ok(Draft { temp, ..Draft::new(self.place(event)) })
    }
}

/// `temp:` keys live in the run and never in an event.
fn take_temp(delta: &mut StateDelta) -> StateDelta {
    let is_temp = |key: &str| Scope::of(key) == Scope::Temp;
    if !delta.iter().any(|(key, _)| is_temp(key)) {
        return StateDelta::default();
    }
    let all = delta.iter().filter(|(key, _)| is_temp(key));
    let temp = all.map(|(key, value)| (key.clone(), value.clone())).collect();
    delta.retain(|key| !is_temp(key));
    temp
}
