//! Atomic reads and writes of state: [`State::update`], and how it is recorded.
//!
//! An update is an event in a slot of its own, so it is made once. It is not numbered with the events of its agent: one that
//! fails leaves no event and no gap. That of an agent has the number of a step, and is replayed in the order of the log.
//! A tool call need not do the same again when it is made again, so its updates are recorded under the call, the key and how
//! often the call has updated that key. They take effect at once, while what the call sets waits for its response.

use super::place::Placing;
use super::record::{self, RecordSubject};
use super::{CallCounts, Context, KeyScope, Meter, Overlay, Run, State, decode, encode, perform, state};
use crate::store::engine::{
    Body, CallInputs, CallKind, CallLabel, Change, Draft, Reply, StepKey, Stored, Update, is_failure,
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

/// How the updates of a context are recorded.
pub(crate) enum Updates<'a> {
    /// As events of the agent.
    Agent { by: Caller<'a>, calls: &'a mut CallCounts, written: Written<'a> },
    /// Under a tool call.
    Call { by: Caller<'a>, step: &'a CallStep, updated: &'a mut Vec<(Name, Value)> },
    /// Not at all, for this reason.
    Refused(&'static str),
}

/// Who makes an update.
#[derive(Clone, Copy)]
pub(crate) struct Caller<'a> {
    pub(crate) agent: &'a Name,
    pub(crate) path: &'a Path,
    pub(crate) branch: &'a Option<Arc<str>>,
}

/// Where the stored keys go that were written.
pub(crate) enum Written<'a> {
    /// To those of the turns that are open; `first` says where those of this turn begin.
    InTurn { keys: &'a mut Vec<Name>, first: usize },
    /// To those of a callback, which gives them to its agent when it ends.
    ByCallback(&'a mut Vec<(Name, Value)>),
}

impl Updates<'_> {
    /// What calls before this one have set.
    pub(super) fn seen(&self) -> Option<&StateDelta> {
        match self {
            Self::Call { step, .. } => Some(&step.seen),
            Self::Agent { .. } | Self::Refused(_) => None,
        }
    }
}

impl Written<'_> {
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

/// What a tool call of an agent is recorded as: `tool.add@2`.
#[derive(Debug)]
pub(crate) struct CallStep {
    kind: CallKind,
    name: Name,
    index: u32,
    /// What the workflows around have used.
    pub(crate) meter: Option<Arc<Meter>>,
    /// The keys of which the call sees what calls before it have set, and not committed yet.
    pub(crate) seen: StateDelta,
    /// It was made, and not answered from the record.
    is_made: AtomicBool,
}

impl CallStep {
    /// The next call of that kind and name by the agent that runs.
    pub(crate) fn next(cx: &Context, kind: CallKind, name: &Name, seen: Option<&StateDelta>) -> Arc<Self> {
        let (meter, is_made) = (cx.meter.clone(), AtomicBool::new(false));
        let seen = seen.cloned().unwrap_or_default();
        let index = cx.frame.calls.next(kind, name);
        Arc::new(Self { kind, name: name.clone(), index, meter, seen, is_made })
    }

    /// Makes the call.
    pub(crate) async fn by<T>(self: Arc<Self>, work: impl Future<Output = T>) -> T {
        self.is_made.store(true, Relaxed);
        work.await
    }

    pub(crate) fn is_made(&self) -> bool {
        self.is_made.load(Relaxed)
    }
}

impl fmt::Display for CallStep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { kind, name, index, .. } = self;
        CallLabel { within: None, kind: *kind, name, index: *index }.fmt(f)
    }
}

/// A tool call that a run inside of it belongs to.
pub(crate) struct CallPlace {
    pub(crate) agent: Name,
    pub(crate) path: Path,
    pub(crate) branch: Option<Arc<str>>,
    pub(crate) step: Arc<CallStep>,
    /// Keys that the call had set before: the run inside sees them, and the store does not yet.
    pub(crate) set: Vec<Name>,
}

/// The slot of an update.
struct At {
    path: Path,
    /// The text of the slot after the path.
    text: Name,
    /// Whether a tool call makes it.
    is_in_call: bool,
}

/// An update by the name that the key has where it is made.
struct Named<'a> {
    name: &'a str,
    scope: Option<&'a KeyScope>,
    update: Update,
}

impl State<'_> {
    /// Reads a key and writes what `f` makes of its value, as one step: no write of that key by anyone comes in between,
    /// also not by other sessions and other processes for `user:` and `app:` keys. Gives the new value.
    ///
    /// `f` gets the value that the store holds now, or `None` when nothing has written the key. It may be called more than
    /// once, so it does nothing but make the new value. When a run is resumed, the recorded value is given back, and the
    /// update is not made again.
    ///
    /// ```
    /// # use adk_core as adk;
    /// use adk::{Context, Result};
    /// async fn count(cx: &mut Context) -> Result<u64> {
    ///     cx.state().update("user:visits", |n: Option<u64>| n.unwrap_or(0) + 1).await
    /// }
    /// ```
    ///
    /// **In an agent and its callbacks** an update is an event of its own, which takes along what was set before. Plugins are
    /// not shown it before it is committed, since its value is not known then. An update of a key that was set before and
    /// not committed starts from what was set.
    ///
    /// **In a tool** and the callbacks of its call an update takes effect at once. It does not wait for the response, and
    /// stays when the call fails. When the call is made again after a crash, an update of the same key is answered from its
    /// record: go on with the value that this gives back. A key that the call has set cannot be updated, since what is set
    /// is written with the response and would undo the update.
    ///
    /// **`temp:` keys** belong to one run, so an update is atomic among its parallel branches. A branch that an engine takes
    /// elsewhere and an agent that is used as a tool have a copy of their own.
    ///
    /// # Errors
    /// [`ErrorKind::KeyType`] when the value is not of type `T`, or the new one not of the announced type;
    /// [`ErrorKind::KeyUnannounced`] as with [`set`](Self::set); [`ErrorKind::NotJson`] when the new one has no form in JSON;
    /// [`ErrorKind::TooDeep`] when the new one is nested deeper than [`MAX_DEPTH`](crate::MAX_DEPTH);
    /// [`ErrorKind::Panic`] when `f` panics; [`ErrorKind::Config`] where there is nothing to record it under, in
    /// [`Plugin::on_event`](crate::runtime::callback::Plugin::on_event) and
    /// [`Plugin::on_user_message`](crate::runtime::callback::Plugin::on_user_message), and for a key that this tool call has set;
    /// for a [`Secret`](crate::Secret); when the store fails. The key keeps its value then.
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
        let of = name.clone();
        let ty = match self.writer.updated_type(&name) {
            Ok(ty) => ty,
            Err(error) => return Err(self.refuse(error)),
        };
        let change: Change = Box::new(move |current| {
            let current = state::get(&of, current)?;
            let value = encode(&of, f(current))?;
            ty.as_ref().map_or(Ok(()), |ty| ty.check(&of, &value))?;
            if secret::has_secret(&value) { Err(of_secret(&of)) } else { Ok(value) }
        });
        let value = self.change(&name, change).await?;
        decode(&name, &value)
    }

    /// Makes an update, and gives the new value.
    fn change<'a>(&'a mut self, name: &'a Name, change: Change) -> BoxFuture<'a, Result<Arc<Value>>> {
        let Self { run, scope, overlay, updates, .. } = self;
        let key = match scope {
            Some(scope) => scope.write(name),
            None => name.clone(),
        };
        match updates {
            Updates::Refused(why) => {
                let message = format!("state key `{name}` cannot be updated {why}");
                let help = "update it in a callback of an agent, or in the agent";
                Box::pin(ready(Err(Error::new(ErrorKind::Config, message).with_help(help))))
            }
            Updates::Agent { by, calls, written } => {
                let of = OfAgent { run, scope: *scope, by: *by, name, key };
                Box::pin(of.make(overlay, calls, written, change))
            }
            Updates::Call { by, step, updated } => {
                let nth = updated.iter().filter(|(other, _)| *other == key).count();
                let (run, call, update) = (*run, step.to_string(), format!("{key}@{nth}"));
                let is_set = overlay.state_delta.get(&key).or_else(|| step.seen.get(&key)).is_some();
                if is_set || run.has_set(&key) {
                    return Box::pin(ready(Err(set_before(name))));
                }
                let (by, scope) = (*by, *scope);
                Box::pin(async move {
                    let draft = of_call(run, by, &call, &update);
                    let text = Name::from(format!("{call}/{update}"));
                    let at = At { path: by.path.clone(), text, is_in_call: true };
                    let update = Named { name, scope, update: Update::new(key.clone(), draft, change) };
                    let stored = run.commit_update(at, update).await?;
                    let value = written_by(&stored, &key)?;
                    updated.push((key, Value::clone(&value)));
                    Ok(value)
                })
            }
        }
    }
}

/// An update that an agent or one of its callbacks makes.
struct OfAgent<'a> {
    run: &'a Arc<Run>,
    scope: Option<&'a KeyScope>,
    by: Caller<'a>,
    name: &'a Name,
    key: Name,
}

impl OfAgent<'_> {
    async fn make(
        self,
        overlay: &mut Overlay,
        calls: &mut CallCounts,
        written: &mut Written<'_>,
        change: Change,
    ) -> Result<Arc<Value>> {
        let Self { run, scope, by, name, key } = self;
        if let Some(settled) = run.settle(by.path) {
            settled.await?;
        }
        let index = calls.take(CallKind::Update, &key);
        let step = StepKey::new(run.id, by.path.clone(), CallKind::Update, key.clone(), index);
        // Only an update that has failed has a record here, and its agent has gone on if this is a result.
        if let Some(failed) = run.recorded(&step).filter(|record| !is_failure(record)) {
            return record::read(failed, RecordSubject::Step(&step.name));
        }
        let is_in_call = run.is_shared_with_call(&key);
        if is_in_call && (overlay.state_delta.get(&key).is_some() || run.has_set(&key)) {
            return Err(set_before(name));
        }
        // What an agent in a tool call sets is not written here: its call does that.
        let pending = if is_in_call { Overlay::default() } else { std::mem::take(overlay) };
        let base = pending.state_delta.get(&key).cloned();
        let before = pending.clone();
        let marked = marked(json!({"update": format!("{key}@{}", step.index)}));
        let draft = placing(run, by).draft(marked, pending)?;
        let mut update = Update::new(key.clone(), draft, change);
        if base.is_some() {
            update.set_base(base);
        }
        let text = Name::from(step.call().to_string());
        let at = At { path: by.path.clone(), text, is_in_call: false };
        match run.commit_update(at, Named { name, scope, update }).await {
            Ok(stored) => {
                let keys = stored.event.actions.state_delta.iter().chain(stored.temp.iter());
                keys.for_each(|(key, _)| written.add(key));
                let value = written_by(&stored, &key);
                if let Some(ticket) = stored.ticket {
                    run.outbox().until_taken(ticket).await;
                }
                value
            }
            Err(error) => {
                // Nothing was stored: what was set waits on.
                if !is_in_call {
                    *overlay = before;
                }
                match error.kind() {
                    ErrorKind::Store(_) | ErrorKind::Diverged => Err(error),
                    // As that of a step: it is tried again, or is the result once the agent has gone on.
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
        }
    }
}

impl Run {
    /// Whether the store of the key is that of a run around this one: all but `temp:` keys of an agent that is used as a
    /// tool.
    fn is_shared_with_call(&self, key: &str) -> bool {
        self.is_inside() && Scope::of(key) != Scope::Temp
    }

    /// Whether the tool call that this run belongs to has set a key, which the store does not know yet.
    fn has_set(&self, key: &str) -> bool {
        let Some(call) = &self.within_call else { return false };
        let sets = |event: &Arc<Event>| !is_update(event) && event.actions.state_delta.get(key).is_some();
        call.set.iter().any(|set| **set == *key) || self.session().events().any(sets)
    }

    fn commit_update<'a>(self: &'a Arc<Self>, at: At, named: Named<'a>) -> BoxFuture<'a, Result<Stored>> {
        Box::pin(async move {
            let Named { name, scope, update } = named;
            let key = update.key().clone();
            if let Some((outer, call)) = self.outer.as_ref().zip(self.within_call.as_ref())
                && self.is_shared_with_call(&key)
            {
                let (tool, own) = (call.step.to_string(), at.to_string());
                let by = Caller { agent: &call.agent, path: &call.path, branch: &call.branch };
                let text = Name::from(format!("{tool}/{own}"));
                let around = At { path: call.path.clone(), text, is_in_call: true };
                let (mut draft, update) = update.replace_draft(of_call(outer, by, &tool, &own));
                let stored = outer.commit_update(around, Named { name, scope, update }).await?;
                // The run in here sees it as well, and so does its call.
                let value = written_by(&stored, &key)?;
                Arc::make_mut(&mut draft.event).actions.state_delta.insert(key.clone(), value);
                let stored = commit(self, at, Body::Ready(draft)).await?;
                return Ok(self.updated(scope, stored));
            }
            if let Some(stored) = self.replayed(&at).await? {
                return Ok(self.updated(scope, stored));
            }
            self.make_update(at, Named { name, scope, update }).await
        })
    }

    /// The event of an update that is in the record.
    async fn replayed(&self, at: &At) -> Result<Option<Stored>> {
        let Some(replay) = &self.replay else { return Ok(None) };
        if at.is_in_call {
            return Ok(replay.updated(self, &at.to_string()));
        }
        if replay.is_over() {
            return Ok(None);
        }
        let slot = at.to_string();
        let stored = replay.turn_of(self, &slot, |_| Ok(())).await;
        stored.map_err(|error| error.at(&at.path))
    }

    /// Makes an update that is not in the record.
    async fn make_update(self: &Arc<Self>, at: At, named: Named<'_>) -> Result<Stored> {
        let Named { name, scope, mut update } = named;
        let key = update.key().clone();
        let is_temp = Scope::of(&key) == Scope::Temp;
        let is_read_elsewhere = || scope.is_some_and(|scope| scope.read_key(name).as_deref() != Some(&*key));
        // What no store can keep others from is kept here: branches of a run are in one process.
        let own = self.live_own().filter(|own| own.has(&key));
        let is_here = is_temp || own.is_some() || is_read_elsewhere();
        let _alone = if is_here { Some(self.updating.lock().await) } else { None };
        if !update.has_base() && is_here {
            // Nothing was written here yet under that name: the value of the key is not that of the name.
            let own = own.filter(|_| !is_read_elsewhere());
            update.set_base(own.map_or_else(|| self.value(scope, name), |own| own.get(&key)));
        }
        let body = if is_temp { Body::Ready(update.apply(None)?) } else { Body::Update(Box::new(update)) };
        let stored = commit(self, at, body).await?;
        Ok(self.updated(scope, stored))
    }

    /// Asks once more for the updates of a tool call that was answered from the record. Where the engine has handed over
    /// its record, they are given back with that; an engine that executes a run once more, and the session of an agent in a
    /// tool call, have not seen them.
    pub(crate) async fn updates_again(
        self: &Arc<Self>,
        path: &Path,
        call: &str,
        updated: &[(Name, Value)],
    ) -> Result<()> {
        if self.replay.is_some() {
            return Ok(());
        }
        for (at, (key, value)) in updated.iter().enumerate() {
            let nth = updated[..at].iter().filter(|(other, _)| other == key).count();
            let (value, update) = (Arc::new(value.clone()), format!("{key}@{nth}"));
            let by = Caller { agent: path.name(), path, branch: &None };
            let draft = of_call(self, by, call, &update);
            let text = Name::from(format!("{call}/{update}"));
            let update = Update::new(key.clone(), draft, Box::new(move |_| Ok(value.clone())));
            let at = At { path: path.clone(), text, is_in_call: true };
            self.commit_update(at, Named { name: key, scope: None, update }).await?;
        }
        Ok(())
    }

    /// Takes over what is stored of an update.
    fn updated(&self, scope: Option<&KeyScope>, stored: Stored) -> Stored {
        self.saw(stored.place);
        for (key, _) in stored.event.actions.state_delta.iter().chain(stored.temp.iter()) {
            if let Some(scope) = scope {
                scope.wrote(key);
            }
        }
        for (key, value) in stored.temp.iter() {
            self.set_temp(key.clone(), value.clone());
        }
        stored
    }
}

async fn commit(run: &Run, at: At, body: Body) -> Result<Stored> {
    let slot = run.slot(at.path, 0).with_update(at.text);
    match run.engine.commit(slot, body) {
        Reply::Ready(stored) => stored,
        Reply::Later(stored) => stored.await,
    }
}

fn placing(run: &Run, by: Caller<'_>) -> Placing {
    Placing {
        author: by.agent.clone(),
        branch: by.branch.clone(),
        path: by.path.clone(),
        run_id: run.id,
        scope: None,
    }
}

/// The event of an update in a tool call.
fn of_call(run: &Run, by: Caller<'_>, call: &str, update: &str) -> Draft {
    let mut event = marked(json!({"call": call, "update": update}));
    placing(run, by).place(&mut event);
    Draft::new(event)
}

fn marked(update: Value) -> Event {
    Event::new().with_metadata(STATE_UPDATE_KEY, update)
}

/// Whether an event is an update of state.
pub(crate) fn is_update(event: &Event) -> bool {
    event.details.as_ref().is_some_and(|details| details.custom_metadata.contains_key(STATE_UPDATE_KEY))
}

/// The new value of a key.
fn written_by(stored: &Stored, key: &str) -> Result<Arc<Value>> {
    let delta = &stored.event.actions.state_delta;
    let value = delta.get(key).or_else(|| stored.temp.get(key)).cloned();
    value.ok_or_else(|| diverged(key))
}

fn diverged(key: &str) -> Error {
    let message = format!("it updates state key `{key}`, where its journal holds another event");
    Error::new(ErrorKind::Diverged, message).with_help(format!(
        "the code that updates `{key}` has changed, or its order: resume the run with the program that recorded it, or undo the \
         change"
    ))
}

fn of_secret(name: &str) -> Error {
    let message = format!("state key `{name}` is updated to a secret, which its store does not keep");
    Error::new(ErrorKind::Config, message).with_help("read the key and set it")
}

fn set_before(name: &str) -> Error {
    let message = format!("state key `{name}` was set in this tool call, and is written with its response");
    Error::new(ErrorKind::Config, message)
        .with_help("use `update` for the key in the whole call, and `set` for others")
}

impl fmt::Display for At {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}!{}", self.path, self.text)
    }
}
