//! The commit of an update: in the run of the caller, from the journal, or in the store.

use super::add_marks;
use crate::runtime::run::kind::NestedRun;
use crate::runtime::run::origin::EventOrigin;
use crate::runtime::run::{Caller, KeyScope, Run};
use crate::store::engine::{Body, Draft, Slot, Stored, Update};
use crate::store::event::{Event, STATE_UPDATE_KEY};
use crate::store::session::{Scope, marked_key};
use crate::{BoxFuture, Error, ErrorKind, Name, Path, Result};
use serde_json::{Value, json};
use std::fmt;
use std::sync::Arc;

/// The slot of an update.
pub(super) struct UpdateSlot {
    pub(super) path: Path,
    /// The text of the slot after the path.
    pub(super) text: Name,
    /// Whether a tool call makes the update.
    pub(super) is_in_call: bool,
}

impl UpdateSlot {
    fn slot(self, run: &Run) -> Slot {
        run.slot(self.path, 0, Some(self.text))
    }
}

/// An update, with the name of its key in the scope of the caller.
pub(super) struct NamedUpdate<'a> {
    pub(super) name: &'a str,
    pub(super) scope: Option<&'a KeyScope>,
    pub(super) update: Update,
}

impl Run {
    /// Returns whether this run and the enclosing run share the value of a key. An agent that is
    /// used as a tool shares all keys with the caller's run except `temp:` keys.
    pub(super) fn is_shared_with_call(&self, key: &str) -> bool {
        self.kind.is_nested() && Scope::of(key) != Scope::Temp
    }

    /// Returns whether the tool call of this run has set a key. The store does not have that value
    /// yet.
    pub(super) fn has_set(&self, key: &str) -> bool {
        let Some(NestedRun { set, .. }) = self.kind.nested() else {
            return false;
        };
        let sets =
            |event: &Arc<Event>| !is_update(event) && event.actions.state_delta.get(key).is_some();
        set.iter().any(|set| **set == *key) || self.session().events().any(sets)
    }

    pub(super) fn commit_update<'a>(
        self: &'a Arc<Self>,
        at: UpdateSlot,
        named: NamedUpdate<'a>,
    ) -> BoxFuture<'a, Result<Stored>> {
        Box::pin(async move {
            let (key, scope) = (named.update.key().clone(), named.scope);
            if let Some(NestedRun {
                outer, by, step, ..
            }) = self.kind.nested()
                && self.is_shared_with_call(&key)
            {
                let (tool, own) = (step.to_string(), at.to_string());
                let text = Name::from(format!("{tool}/{own}"));
                let around = UpdateSlot {
                    path: by.path.clone(),
                    text,
                    is_in_call: true,
                };
                let mut draft = call_draft(outer, by.caller(), &tool, &own);
                let also = named.update.also_writes().iter();
                let marks = also.filter(|(key, _)| marked_key(key).is_some());
                let marks = marks.map(|(key, value)| (key.clone(), value.clone()));
                add_marks(&mut draft, marks.collect());
                let (mut draft, update) = named.update.replace_draft(draft);
                let named = NamedUpdate { update, ..named };
                let stored = outer.commit_update(around, named).await?;
                // The nested run and its tool call see the new value as well.
                let value = updated_value(&stored, &key)?;
                Arc::make_mut(&mut draft.event)
                    .actions
                    .state_delta
                    .insert(key.clone(), value);
                let stored = self.commit(at.slot(self), Body::Ready(draft)).await?;
                return Ok(self.apply_update(scope, stored));
            }
            if let Some(stored) = self.replay_update(&at).await? {
                return Ok(self.apply_update(scope, stored));
            }
            self.make_update(at, named).await
        })
    }

    /// Returns the recorded event of an update.
    async fn replay_update(&self, at: &UpdateSlot) -> Result<Option<Stored>> {
        let Some(replay) = self.kind.replay() else {
            return Ok(None);
        };
        if at.is_in_call {
            return Ok(replay.replay_update(self, &at.to_string()));
        }
        if replay.is_over() {
            return Ok(None);
        }
        let slot = at.to_string();
        let stored = replay.replay_event(self, &slot, |_| Ok(())).await;
        stored.map_err(|error| error.at(&at.path))
    }

    /// Makes an update that is not in the journal.
    async fn make_update(
        self: &Arc<Self>,
        at: UpdateSlot,
        named: NamedUpdate<'_>,
    ) -> Result<Stored> {
        let NamedUpdate {
            name,
            scope,
            mut update,
        } = named;
        let key = update.key().clone();
        let is_temp = Scope::of(&key) == Scope::Temp;
        let is_read_elsewhere =
            || scope.is_some_and(|scope| scope.read_key(name).as_deref() != Some(&*key));
        // No store isolates updates of `temp:` keys, of keys that hold only the writes of this run,
        // and of names that are read from another key. All branches that share such a key are in
        // this process, so a lock here isolates them.
        let own = self.delivery.live_own().filter(|own| own.has(&key));
        let is_here = is_temp || own.is_some() || is_read_elsewhere();
        let _alone = if is_here {
            Some(self.progress.updating.lock().await)
        } else {
            None
        };
        if !update.has_base() && is_here {
            // An instance may read a name from another stored key until it has written the name.
            // The update then starts from the value of this other key.
            let own = own.filter(|_| !is_read_elsewhere());
            update.set_base(own.map_or_else(|| self.value(scope, name), |own| own.get(&key)));
        }
        let body = if is_temp {
            Body::Ready(update.apply(None)?)
        } else {
            Body::Update(Box::new(update))
        };
        let stored = self.commit(at.slot(self), body).await?;
        Ok(self.apply_update(scope, stored))
    }

    /// Applies the recorded updates of a tool call that was answered from its record. In a replay
    /// this is not necessary, because the journal contains the updates as events. If an engine
    /// executes the run again, neither the run nor the session of an agent in a tool call has seen
    /// these events.
    pub(crate) async fn repeat_updates(
        self: &Arc<Self>,
        path: &Path,
        call: &str,
        updated: &[(Name, Value)],
    ) -> Result<()> {
        if self.kind.replay().is_some() {
            return Ok(());
        }
        for (at, (key, value)) in updated.iter().enumerate() {
            let nth = updated[..at]
                .iter()
                .filter(|(other, _)| other == key)
                .count();
            let (value, update) = (Arc::new(value.clone()), format!("{key}@{nth}"));
            let by = Caller {
                agent: path.name(),
                path,
                branch: &None,
            };
            let draft = call_draft(self, by, call, &update);
            let text = Name::from(format!("{call}/{update}"));
            let update = Update::new(key.clone(), draft, Box::new(move |_| Ok(value.clone())));
            let at = UpdateSlot {
                path: path.clone(),
                text,
                is_in_call: true,
            };
            self.commit_update(
                at,
                NamedUpdate {
                    name: key,
                    scope: None,
                    update,
                },
            )
            .await?;
        }
        Ok(())
    }

    /// Applies a stored update to the run and its scope.
    fn apply_update(&self, scope: Option<&KeyScope>, stored: Stored) -> Stored {
        self.note_place(stored.place);
        for (key, _) in stored
            .event
            .actions
            .state_delta
            .iter()
            .chain(stored.temp.iter())
        {
            if let Some(scope) = scope {
                scope.mark_written(key);
            }
        }
        for (key, value) in stored.temp.iter() {
            self.delivery.set_temp(key.clone(), value.clone());
        }
        stored
    }
}

pub(super) fn origin(run: &Run, by: Caller<'_>) -> EventOrigin {
    EventOrigin {
        author: by.agent.clone(),
        branch: by.branch.clone(),
        path: by.path.clone(),
        run_id: run.id(),
        scope: None,
        stamp: None,
    }
}

/// Creates the event of an update in a tool call.
pub(super) fn call_draft(run: &Run, by: Caller<'_>, call: &str, update: &str) -> Draft {
    let mut event = update_event(json!({"call": call, "update": update}));
    origin(run, by).place(&mut event);
    Draft::new(event)
}

pub(super) fn update_event(update: Value) -> Event {
    Event::new().with_metadata(STATE_UPDATE_KEY, update)
}

/// Returns whether an event is an update of state.
pub(crate) fn is_update(event: &Event) -> bool {
    event
        .details
        .as_ref()
        .is_some_and(|details| details.custom_metadata.contains_key(STATE_UPDATE_KEY))
}

/// Returns the new value of an updated key.
pub(super) fn updated_value(stored: &Stored, key: &str) -> Result<Arc<Value>> {
    let delta = &stored.event.actions.state_delta;
    let value = delta.get(key).or_else(|| stored.temp.get(key)).cloned();
    value.ok_or_else(|| diverged_error(key))
}

fn diverged_error(key: &str) -> Error {
    let message = format!("it updates state key `{key}`, where its journal holds another event");
    Error::new(ErrorKind::Diverged, message).with_help(format!(
        "the code that updates `{key}` has changed, or its order: resume the run with the program \
         that recorded it, or undo the change"
    ))
}

impl fmt::Display for UpdateSlot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}!{}", self.path, self.text)
    }
}
