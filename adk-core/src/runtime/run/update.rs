//! Atomic reads and writes of state: [`State::update`], and the records of updates.
//!
//! An update is an event in a slot of its own, so it is made once. Updates are not numbered with
//! the events of their agent, because an update that fails leaves no event and must leave no gap.
//! The update of an agent has the number of a step, and is replayed in the order of the log. A tool
//! call that is made again may take another path. Its updates are therefore recorded under the
//! call, the key, and the number of earlier updates of that key by the call. They take effect at
//! once, while keys that the call sets wait for its response.

use super::origin::EventOrigin;
use super::record::{self, RecordSubject};
use super::{
    CallCounts, Context, KeyScope, Meter, Overlay, Run, State, decode, encode, perform, state,
};
use crate::store::engine::{
    Body, CallInputs, CallKind, CallLabel, Change, Draft, Reply, StepKey, Stored, Update,
    is_failure,
};
use crate::store::event::{Event, STATE_UPDATE_KEY, StateDelta};
use crate::store::session::Scope;
use crate::{BoxFuture, Error, ErrorKind, Name, Path, Result, depth, secret};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::fmt;
use std::future::ready;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;

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

/// The agent that makes an update, with its path and branch.
#[derive(Clone, Copy)]
pub(crate) struct Caller<'a> {
    pub(crate) agent: &'a Name,
    pub(crate) path: &'a Path,
    pub(crate) branch: &'a Option<Arc<str>>,
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

/// The recorded tool call of an agent: `tool.add@2`.
#[derive(Debug)]
pub(crate) struct CallStep {
    kind: CallKind,
    name: Name,
    index: u32,
    /// The meter of the enclosing workflows.
    pub(crate) meter: Option<Arc<Meter>>,
    /// The keys that earlier calls of the turn have set and not committed. This call sees them.
    pub(crate) seen: StateDelta,
    /// Whether the call was made in this execution, and not answered from its record.
    is_made: AtomicBool,
}

impl CallStep {
    /// Returns the next call of that kind and name by the current agent.
    pub(crate) fn next(
        cx: &Context,
        kind: CallKind,
        name: &Name,
        seen: Option<&StateDelta>,
    ) -> Arc<Self> {
        let (meter, is_made) = (cx.around.meter.clone(), AtomicBool::new(false));
        let seen = seen.cloned().unwrap_or_default();
        let index = cx.frame.calls.next(kind, name);
        Arc::new(Self {
            kind,
            name: name.clone(),
            index,
            meter,
            seen,
            is_made,
        })
    }

    /// Executes the call, and marks it as made.
    pub(crate) async fn execute<T>(self: Arc<Self>, work: impl Future<Output = T>) -> T {
        self.is_made.store(true, Relaxed);
        work.await
    }

    pub(crate) fn is_made(&self) -> bool {
        self.is_made.load(Relaxed)
    }
}

impl fmt::Display for CallStep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            kind, name, index, ..
        } = self;
        CallLabel {
            within: None,
            kind: *kind,
            name,
            index: *index,
        }
        .fmt(f)
    }
}

/// The tool call that executes a nested run.
pub(crate) struct CallPlace {
    pub(crate) agent: Name,
    pub(crate) path: Path,
    pub(crate) branch: Option<Arc<str>>,
    pub(crate) step: Arc<CallStep>,
    /// Keys that the call had set before the nested run, which sees them. The store does not have
    /// them yet.
    pub(crate) set: Vec<Name>,
}

/// The slot of an update.
struct UpdateSlot {
    path: Path,
    /// The text of the slot after the path.
    text: Name,
    /// Whether a tool call makes the update.
    is_in_call: bool,
}

/// An update, with the name of its key in the scope of the caller.
struct NamedUpdate<'a> {
    name: &'a str,
    scope: Option<&'a KeyScope>,
    update: Update,
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
            let value = encode(&updated, f(current))?;
            ty.as_ref()
                .map_or(Ok(()), |ty| ty.check(&updated, &value))?;
            if secret::has_secret(&value) {
                Err(secret_error(&updated))
            } else {
                Ok(value)
            }
        });
        let value = self.change(&name, change).await?;
        decode(&name, &value)
    }

    /// Makes an update, and returns the new value.
    fn change<'a>(
        &'a mut self,
        name: &'a Name,
        change: Change,
    ) -> BoxFuture<'a, Result<Arc<Value>>> {
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
                    let draft = call_draft(run, by, &call, &update);
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
        } = self;
        if let Some(settled) = run.settle(by.path) {
            settled.await?;
        }
        let index = calls.take(CallKind::Update, &key);
        let step = StepKey::new(
            run.id,
            by.path.clone(),
            CallKind::Update,
            key.clone(),
            index,
        );
        // Only a failed update is recorded under this key. The error is the result once the agent
        // has continued after it.
        if let Some(failed) = run
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
        let draft = origin(run, by).draft(event, pending)?;
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
        match run
            .commit_update(
                at,
                NamedUpdate {
                    name,
                    scope,
                    update,
                },
            )
            .await
        {
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

impl Run {
    /// Returns whether this run and the enclosing run share the value of a key. An agent that is
    /// used as a tool shares all keys with the caller's run except `temp:` keys.
    fn is_shared_with_call(&self, key: &str) -> bool {
        self.is_inside() && Scope::of(key) != Scope::Temp
    }

    /// Returns whether the tool call of this run has set a key. The store does not have that value
    /// yet.
    fn has_set(&self, key: &str) -> bool {
        let Some(call) = &self.within_call else {
            return false;
        };
        let sets =
            |event: &Arc<Event>| !is_update(event) && event.actions.state_delta.get(key).is_some();
        call.set.iter().any(|set| **set == *key) || self.session().events().any(sets)
    }

    fn commit_update<'a>(
        self: &'a Arc<Self>,
        at: UpdateSlot,
        named: NamedUpdate<'a>,
    ) -> BoxFuture<'a, Result<Stored>> {
        Box::pin(async move {
            let NamedUpdate {
                name,
                scope,
                update,
            } = named;
            let key = update.key().clone();
            if let Some((outer, call)) = self.outer.as_ref().zip(self.within_call.as_ref())
                && self.is_shared_with_call(&key)
            {
                let (tool, own) = (call.step.to_string(), at.to_string());
                let by = Caller {
                    agent: &call.agent,
                    path: &call.path,
                    branch: &call.branch,
                };
                let text = Name::from(format!("{tool}/{own}"));
                let around = UpdateSlot {
                    path: call.path.clone(),
                    text,
                    is_in_call: true,
                };
                let (mut draft, update) = update.replace_draft(call_draft(outer, by, &tool, &own));
                let stored = outer
                    .commit_update(
                        around,
                        NamedUpdate {
                            name,
                            scope,
                            update,
                        },
                    )
                    .await?;
                // The nested run and its tool call see the new value as well.
                let value = updated_value(&stored, &key)?;
                Arc::make_mut(&mut draft.event)
                    .actions
                    .state_delta
                    .insert(key.clone(), value);
                let stored = commit(self, at, Body::Ready(draft)).await?;
                return Ok(self.apply_update(scope, stored));
            }
            if let Some(stored) = self.replay_update(&at).await? {
                return Ok(self.apply_update(scope, stored));
            }
            self.make_update(
                at,
                NamedUpdate {
                    name,
                    scope,
                    update,
                },
            )
            .await
        })
    }

    /// Returns the recorded event of an update.
    async fn replay_update(&self, at: &UpdateSlot) -> Result<Option<Stored>> {
        let Some(replay) = &self.replay else {
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
        let own = self.live_own_keys().filter(|own| own.has(&key));
        let is_here = is_temp || own.is_some() || is_read_elsewhere();
        let _alone = if is_here {
            Some(self.updating.lock().await)
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
        let stored = commit(self, at, body).await?;
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
        if self.replay.is_some() {
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
            self.set_temp(key.clone(), value.clone());
        }
        stored
    }
}

async fn commit(run: &Run, at: UpdateSlot, body: Body) -> Result<Stored> {
    let slot = run.slot(at.path, 0).with_update(at.text);
    match run.engine.commit(slot, body) {
        Reply::Ready(stored) => stored,
        Reply::Later(stored) => stored.await,
    }
}

fn origin(run: &Run, by: Caller<'_>) -> EventOrigin {
    EventOrigin {
        author: by.agent.clone(),
        branch: by.branch.clone(),
        path: by.path.clone(),
        run_id: run.id,
        scope: None,
    }
}

/// Creates the event of an update in a tool call.
fn call_draft(run: &Run, by: Caller<'_>, call: &str, update: &str) -> Draft {
    let mut event = update_event(json!({"call": call, "update": update}));
    origin(run, by).place(&mut event);
    Draft::new(event)
}

fn update_event(update: Value) -> Event {
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
fn updated_value(stored: &Stored, key: &str) -> Result<Arc<Value>> {
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

impl fmt::Display for UpdateSlot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}!{}", self.path, self.text)
    }
}
