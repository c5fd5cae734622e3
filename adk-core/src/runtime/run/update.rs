//! Atomic reads and writes of state: [`State::update`], and the records of updates.
//!
//! An update is an event in a slot of its own, so it is made once. Updates are not numbered with
//! the events of their agent, because an update that fails leaves no event and must leave no gap.
//! The update of an agent has the number of a step, and is replayed in the order of the log. A tool
//! call that is made again may take another path. Its updates are therefore recorded under the
//! call, the key, and the number of earlier updates of that key by the call. They take effect at
//! once, while keys that the call sets wait for its response.

mod commit;

pub(crate) use commit::is_update;

use super::record::{self, RecordSubject};
use super::{
    CallCounts, CallStep, Caller, KeyScope, Overlay, Run, State, decode, encode, perform, state,
    stored_key,
};
use crate::store::engine::{
    CallInputs, CallKind, Change, Draft, StepKey, Stored, Update, is_failure,
};
use crate::store::event::StateDelta;
use crate::store::session::marked_key;
use crate::{BoxFuture, Error, ErrorKind, Name, Result, depth, secret};
use commit::{NamedUpdate, UpdateSlot, call_draft, origin, update_event, updated_value};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::future::ready;
use std::sync::Arc;

/// The form in which the updates of a context are recorded.
pub(crate) enum Updates<'a> {
    /// Events of the agent.
    Agent {
        by: Caller<'a>,
        calls: &'a mut CallCounts,
        written: UpdatedKeys<'a>,
    },
    /// Records under a tool call.
    Call {
        by: Caller<'a>,
        step: &'a CallStep,
        updated: &'a mut Vec<(Name, Value)>,
    },
    /// No record: updates are refused for this reason.
    Refused(&'static str),
}

/// The list that collects the written stored keys.
pub(crate) enum UpdatedKeys<'a> {
    /// The keys of all open turns; the keys of this turn begin at `first`.
    InTurn {
        keys: &'a mut Vec<Name>,
        first: usize,
    },
    /// The keys of a callback, which its agent takes over when the callback ends.
    ByCallback(&'a mut Vec<(Name, Value)>),
}

impl Updates<'_> {
    /// Returns the keys that earlier calls of the turn have set.
    pub(super) fn seen_keys(&self) -> Option<&StateDelta> {
        match self {
            Self::Call { step, .. } => Some(&step.seen),
            Self::Agent { .. } | Self::Refused(_) => None,
        }
    }
}

impl UpdatedKeys<'_> {
    pub(crate) fn add(&mut self, key: &Name) {
        match self {
            Self::InTurn { keys, first } => {
                if !keys.get(*first..).unwrap_or_default().contains(key) {
                    keys.push(key.clone());
                }
            }
            Self::ByCallback(updated) => updated.push((key.clone(), Value::Null)),
        }
    }
}

impl State<'_> {
    /// Reads a key and writes the value that `f` returns, in one step. No other write of that key
    /// comes between, also not from other sessions and other processes for `user:` and `app:` keys.
    /// Returns the new value.
    ///
    /// `f` gets the value that the store holds now, or `None` when nothing has written the key. `f`
    /// may be called more than once, so it should only compute the new value. When a run is
    /// resumed, `update` returns the recorded value and does not make the update again.
    ///
    /// ```
    /// # use adk_core as adk;
    /// use adk::{Context, Result};
    /// async fn count(cx: &mut Context) -> Result<u64> {
    ///     cx.state().update("user:visits", |n: Option<u64>| n.unwrap_or(0) + 1).await
    /// }
    /// ```
    ///
    /// **In an agent and its callbacks** an update is an event of its own, which also commits the
    /// keys that were set before. Plugins do not see the event before it is committed, because its
    /// value is not known then. An update of a key that was set and not committed starts from the
    /// set value.
    ///
    /// **In a tool** and the callbacks of its call an update takes effect at once. It does not wait
    /// for the response, and it stays when the call fails. When the call is made again after a
    /// crash, an update of the same key is answered from its record: continue with the value that
    /// `update` returns. A key that the call has set cannot be updated, because the set value is
    /// written with the response and would undo the update.
    ///
    /// **`temp:` keys** belong to one run, so an update is atomic among the parallel branches of
    /// the run. A branch in another process and an agent that is used as a tool each have a copy of
    /// these keys.
    ///
    /// # Errors
    /// [`ErrorKind::KeyType`] when the value is not of type `T`, or the new one not of the
    /// announced type; [`ErrorKind::KeyUnannounced`] as with [`set`](Self::set);
    /// [`ErrorKind::NotJson`] when the new value has no form in JSON; [`ErrorKind::TooDeep`] when
    /// the new value is nested deeper than [`MAX_DEPTH`](crate::MAX_DEPTH); [`ErrorKind::Panic`]
    /// when `f` panics; [`ErrorKind::Config`] in
    /// [`Plugin::on_event`](crate::runtime::callback::Plugin::on_event) and
    /// [`Plugin::on_user_message`](crate::runtime::callback::Plugin::on_user_message), which have
    /// no slot for an update, for a key that this tool call has set, and for a
    /// [`Secret`](crate::Secret); when the store fails. In each case the key keeps its value.
    pub async fn update<T, R>(
        &mut self,
        key: impl Into<Name>,
        mut f: impl FnMut(Option<T>) -> R + Send + 'static,
    ) -> Result<R>
    where
        T: DeserializeOwned,
        R: Serialize + DeserializeOwned,
    {
        let name = key.into();
        let updated = name.clone();
        let ty = match self.writer.updated_type(&name) {
            Ok(ty) => ty,
            Err(error) => return Err(self.refuse(error)),
        };
        let change: Change = Box::new(move |current| {
            let current = state::get(&updated, current)?;
            let mut value = encode(&updated, f(current))?;
            if let Some(ty) = &ty
                && let Some(own) = ty.check(&updated, &value)?
            {
                value = own;
            }
            if secret::has_secret(&value) {
                Err(secret_error(&updated))
            } else {
                Ok(value)
            }
        });
        let value = self.change(&name, change).await?;
        decode(&name, &value)
    }

    /// Gives the pending writes the marks of what was read before them, and returns those of an
    /// update of a key. An update starts from a value of the store, so it never clears marks.
    fn mark_writes(&mut self, name: &Name) -> StateDelta {
        let mut marks = StateDelta::default();
        let Some(cell) = self.marks else {
            return marks;
        };
        let (run, scope, read) = (self.run.clone(), self.scope, cell.marks());
        let closed: Vec<_> = self
            .writer
            .keys()
            .filter(|own| own.is_closed())
            .map(|own| stored_key(scope, own.name).into_owned())
            .collect();
        let read_as = |key: &str| {
            if closed.iter().any(|own| own == key) {
                read.clone().without_text()
            } else {
                read.clone()
            }
        };
        let pending: Vec<_> = self
            .overlay
            .state_delta
            .iter()
            .map(|(key, _)| key.clone())
            .collect();
        for key in pending.iter().filter(|key| marked_key(key).is_none()) {
            read_as(key).write(key, &mut self.overlay.state_delta, &run, false);
        }
        let key = stored_key(scope, name).into_owned();
        for (mark, source) in read_as(&key).of_writes(&key) {
            marks.insert(mark, source);
        }
        marks
    }

    /// Makes an update, and returns the new value.
    fn change<'a>(
        &'a mut self,
        name: &'a Name,
        change: Change,
    ) -> BoxFuture<'a, Result<Arc<Value>>> {
        let marks = self.mark_writes(name);
        let Self {
            run,
            scope,
            overlay,
            updates,
            ..
        } = self;
        let key = match scope {
            Some(scope) => scope.write(name),
            None => name.clone(),
        };
        match updates {
            Updates::Refused(why) => {
                let message = format!("state key `{name}` cannot be updated {why}");
                let help = "update it in a callback of an agent, or in the agent";
                Box::pin(ready(Err(
                    Error::new(ErrorKind::Config, message).with_help(help)
                )))
            }
            Updates::Agent { by, calls, written } => {
                let update = AgentUpdate {
                    run,
                    scope: *scope,
                    by: *by,
                    name,
                    key,
                    marks,
                };
                Box::pin(update.make(overlay, calls, written, change))
            }
            Updates::Call { by, step, updated } => {
                let nth = updated.iter().filter(|(other, _)| *other == key).count();
                let (run, call, update) = (*run, step.to_string(), format!("{key}@{nth}"));
                let is_set = overlay
                    .state_delta
                    .get(&key)
                    .or_else(|| step.seen.get(&key))
                    .is_some();
                if is_set || run.has_set(&key) {
                    return Box::pin(ready(Err(set_before_error(name))));
                }
                let (by, scope) = (*by, *scope);
                Box::pin(async move {
                    let mut draft = call_draft(run, by, &call, &update);
                    add_marks(&mut draft, marks);
                    let text = Name::from(format!("{call}/{update}"));
                    let at = UpdateSlot {
                        path: by.path.clone(),
                        text,
                        is_in_call: true,
                    };
                    let update = NamedUpdate {
                        name,
                        scope,
                        update: Update::new(key.clone(), draft, change),
                    };
                    let stored = run.commit_update(at, update).await?;
                    let value = updated_value(&stored, &key)?;
                    updated.push((key, Value::clone(&value)));
                    Ok(value)
                })
            }
        }
    }
}

/// An update by an agent or one of its callbacks.
struct AgentUpdate<'a> {
    run: &'a Arc<Run>,
    scope: Option<&'a KeyScope>,
    by: Caller<'a>,
    name: &'a Name,
    key: Name,
    marks: StateDelta,
}

impl AgentUpdate<'_> {
    async fn make(
        self,
        overlay: &mut Overlay,
        calls: &mut CallCounts,
        written: &mut UpdatedKeys<'_>,
        change: Change,
    ) -> Result<Arc<Value>> {
        let Self {
            run,
            scope,
            by,
            name,
            key,
            marks,
        } = self;
        if let Some(settled) = run.settle(by.path) {
            settled.await?;
        }
        let index = calls.take(CallKind::Update, &key);
        let step = StepKey::new(
            run.id(),
            by.path.clone(),
            CallKind::Update,
            key.clone(),
            index,
        );
        // Only a failed update is recorded under this key. The error is the result once the agent
        // has continued after it.
        if let Some(failed) = run
            .kind
            .recorded_result(&step)
            .filter(|record| !is_failure(record))
        {
            return record::read(failed, RecordSubject::Step(&step.name));
        }
        let is_in_call = run.is_shared_with_call(&key);
        if is_in_call && (overlay.state_delta.get(&key).is_some() || run.has_set(&key)) {
            return Err(set_before_error(name));
        }
        // The tool call writes the keys that an agent inside of it sets, so they are not written
        // here.
        let pending = if is_in_call {
            Overlay::default()
        } else {
            std::mem::take(overlay)
        };
        let base = pending.state_delta.get(&key).cloned();
        let before = pending.clone();
        let event = update_event(json!({"update": format!("{key}@{}", step.index)}));
        let mut draft = origin(run, by).draft(event, pending)?;
        add_marks(&mut draft, marks);
        let mut update = Update::new(key.clone(), draft, change);
        if base.is_some() {
            update.set_base(base);
        }
        let text = Name::from(step.call().to_string());
        let at = UpdateSlot {
            path: by.path.clone(),
            text,
            is_in_call: false,
        };
        let named = NamedUpdate {
            name,
            scope,
            update,
        };
        match run.commit_update(at, named).await {
            Ok(stored) => finish_update(run, &stored, &key, written).await,
            Err(error) => {
                // Nothing was stored, so the set keys stay pending.
                if !is_in_call {
                    *overlay = before;
                }
                record_failure(run, step, error).await
            }
        }
    }
}

/// Adds the written keys of a stored update, and waits until the consumer has taken its event.
/// Returns the new value.
async fn finish_update(
    run: &Run,
    stored: &Stored,
    key: &Name,
    written: &mut UpdatedKeys<'_>,
) -> Result<Arc<Value>> {
    let delta = &stored.event.actions.state_delta;
    let keys = delta.iter().chain(stored.temp.iter());
    keys.for_each(|(key, _)| written.add(key));
    let value = updated_value(stored, key);
    if let Some(ticket) = stored.ticket {
        run.outbox().until_taken(ticket).await;
    }
    value
}

/// Records the error of an update like that of a step: the update is tried again, or the error is
/// the result once the agent has continued. Returns the error.
async fn record_failure(run: &Arc<Run>, step: StepKey, error: Error) -> Result<Arc<Value>> {
    match error.kind() {
        ErrorKind::Store(_) | ErrorKind::Diverged => Err(error),
        _ => perform(
            run.clone(),
            step,
            CallInputs::default(),
            depth::check,
            ready(Err::<Value, _>(error)),
        )
        .await
        .map(Arc::new),
    }
}

fn add_marks(draft: &mut Draft, marks: StateDelta) {
    if !marks.is_empty() {
        Arc::make_mut(&mut draft.event)
            .actions
            .state_delta
            .extend(marks);
    }
}

fn secret_error(name: &str) -> Error {
    let message =
        format!("state key `{name}` is updated to a secret, which its store does not keep");
    Error::new(ErrorKind::Config, message).with_help("read the key and set it")
}

fn set_before_error(name: &str) -> Error {
    let message =
        format!("state key `{name}` was set in this tool call, and is written with its response");
    Error::new(ErrorKind::Config, message)
        .with_help("write the key only with `update` in this call, or only with `set`")
}
