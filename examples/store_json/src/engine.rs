//! [`Engine`] of [`JsonStore`]: its [`Journal`], and the keys of requests.

use crate::data::{Change, Data, Run, WaitData};
use crate::{JsonStore, lock};
use adk_journal::StateDelta;
use adk_journal::engine::{
    Body, ClaimId, Draft, Engine, Journal, KeyBinding, Reply, RequestKey, RequestKeys, Retention,
    Roles, RunStatus, Slot, StepKey, Stored, Update, Wait, is_failure, refuse,
};
use adk_journal::session::{Location, now_micros};
use adk_model::{BoxFuture, Result, RunId};
use serde_json::Value;
use std::future::ready;
use std::sync::Arc;
use std::time::Duration;

/// The owner of a run that an engine above the store drives: no process holds its claim.
pub(crate) const ABOVE: &str = "@";

/// The place of an event, and the event if it is not in the log yet.
type Filled = (usize, StateDelta, Option<Draft>);

impl JsonStore {
    /// Returns the name of this process as the owner of a claim.
    pub(crate) fn owner_of(&self, claim: ClaimId) -> String {
        if claim.is_driven_above() {
            ABOVE.to_owned()
        } else {
            self.0.owner.clone()
        }
    }

    /// Chooses a change of a run, and writes it if it changes anything.
    pub(crate) fn change_run<T>(
        &self,
        id: RunId,
        change: impl FnOnce(&mut Run) -> Result<T>,
    ) -> Result<T> {
        self.change(|data, changes| {
            let old = data.run(id)?;
            let mut run = old.clone();
            let value = change(&mut run)?;
            changes.extend((run != *old).then(|| Change::Run(run.into())));
            Ok(value)
        })
    }

    /// Changes a run as [`change_run`](Self::change_run) does, if the claim is the current one.
    pub(crate) fn change_claimed<T>(
        &self,
        claim: ClaimId,
        change: impl FnOnce(&mut Run) -> T,
    ) -> Result<T> {
        self.change_run(claim.run_id, |run| {
            if run.is_claimed(claim) {
                Ok(change(run))
            } else {
                Err(refuse::fenced(claim.run_id))
            }
        })
    }

    /// Chooses the changes that fill a slot.
    fn fill(
        &self,
        (data, changes): (&Data, &mut Vec<Change>),
        slot: &mut Slot,
        mut draft: Draft,
        update: Option<Box<Update>>,
    ) -> Result<Filled> {
        let (key, claim) = (slot.session_key().clone(), slot.claim());
        let session = data.sessions.get(&key).ok_or_else(|| key.missing())?;
        if !claim.is_driven_above() && slot.session().len() > session.events.len() {
            // The session was deleted and created again.
            return Err(key.missing());
        }
        let begins = slot.begins.take().map(Arc::unwrap_or_clone);
        let mut run = match (data.runs.get(&claim.run_id), begins) {
            (None, Some(record)) => Run::new(record, claim, self.owner_of(claim)),
            (_, begins) => {
                let mut run = data.claimed(claim)?.clone();
                if let (Some(record), RunStatus::Queued) = (begins, &run.status) {
                    run.set_status(RunStatus::Running);
                    run.record = record;
                }
                run
            }
        };
        run.done.append(&mut slot.done);
        let filled = match run.slots.get(&slot.to_string()) {
            Some((place, temp)) => (*place, temp.clone(), None),
            None => {
                if let Some(mut update) = update {
                    draft = update.apply(data.value(&key, update.key()))?;
                }
                slot.stamp(Arc::make_mut(&mut draft.event), session.updated);
                let (place, temp) = (session.events.len(), draft.temp.clone());
                run.slots.insert(slot.to_string(), (place, temp.clone()));
                changes.push(Change::Event(key, draft.event.to_stored()?));
                (place, temp, Some(draft))
            }
        };
        changes.push(Change::Run(run.into()));
        Ok(filled)
    }

    /// Fills a slot, and delivers the event before another event can get the next place.
    fn commit_now(
        &self,
        mut slot: Slot,
        draft: Draft,
        update: Option<Box<Update>>,
    ) -> Result<Stored> {
        let (mut disk, session) = (lock(&self.0.disk), slot.session().clone());
        let (place, temp, draft) = disk.transaction(Some(&session), |data, changes| {
            self.fill((data, changes), &mut slot, draft, update)
        })?;
        let log = |key| disk.data.sessions.get(key).map(|kept| &kept.events[place]);
        match (draft, log(session.key())) {
            (Some(draft), _) => Ok(slot.deliver(place as u64, draft.event, temp)),
            // The session of an engine above is no session of this store, and has no event yet.
            (None, Some(event)) if slot.claim().is_driven_above() => {
                Ok(slot.deliver(place as u64, event.clone(), temp))
            }
            (None, Some(event)) => Ok(Stored::earlier(place as u64, event.clone(), temp)),
            (None, None) => Err(session.key().missing()),
        }
    }
}

impl Journal for JsonStore {
    fn commit<'a>(&'a self, slot: Slot, body: Body) -> Reply<'a, Result<Stored>> {
        Reply::Later(Box::pin(async move {
            match body {
                Body::Ready(draft) => self.commit_now(slot, draft, None),
                Body::Update(update) => self.commit_now(slot, Draft::default(), Some(update)),
                Body::Call(work) => {
                    let (run, text) = (slot.run_id, slot.to_string());
                    let has_slot = |run: &Run| run.slots.contains_key(&text);
                    let is_filled = self.look(|data| Ok(data.runs.get(&run).is_some_and(has_slot)));
                    let draft = if is_filled? {
                        Draft::default()
                    } else {
                        work.await?
                    };
                    self.commit_now(slot, draft, None)
                }
            }
        }))
    }

    fn step(
        &self,
        claim: ClaimId,
        key: StepKey,
        work: BoxFuture<'static, Result<Value>>,
    ) -> BoxFuture<'_, Result<Value>> {
        Box::pin(async move {
            let (key, id) = (key.to_string(), claim.run_id);
            let record = |run: &Run| run.steps.get(&key).filter(|it| !is_failure(it)).cloned();
            if let Some(known) = self.look(|data| Ok(data.runs.get(&id).and_then(record)))? {
                return Ok(known);
            }
            let value = work.await?;
            // An engine above keeps the results of steps itself. A run without an event cannot be
            // resumed, and needs no record.
            if claim.is_driven_above() || !self.look(|data| Ok(data.runs.contains_key(&id)))? {
                return Ok(value);
            }
            self.change_claimed(claim, |run| {
                record(run).unwrap_or_else(|| {
                    run.steps.insert(key.clone(), value.clone());
                    value
                })
            })
        })
    }

    fn answer(&self, claim: ClaimId, wait: Wait) -> BoxFuture<'_, Result<Option<Value>>> {
        Box::pin(ready(self.change_claimed(claim, |run| {
            let id = &wait.waiting.id;
            if let Some(known) = run.waits.iter_mut().find(|known| known.waiting.id == *id) {
                known.is_seen = !known.answer.is_empty();
                return known.answer.first().cloned();
            }
            run.waits.push(WaitData {
                waiting: wait.waiting,
                answer: Vec::new(),
                is_seen: false,
            });
            None
        })))
    }
}

impl Engine for JsonStore {
    fn retention(&self) -> Retention {
        Retention::Durable
    }
    fn location(&self) -> Location {
        self.database()
    }
    fn roles(&self) -> Roles<'_> {
        Roles {
            registry: Some(self),
            waits: Some(self),
            keys: Some(self),
            driver: None,
            remote: None,
            timers: None,
        }
    }
}

impl RequestKeys for JsonStore {
    fn bind<'a>(
        &'a self,
        key: &'a RequestKey,
        binding: &'a KeyBinding,
        replaces: Option<&'a str>,
        lifetime: Duration,
    ) -> BoxFuture<'a, Result<KeyBinding>> {
        let key = [&key.app, &key.scope, &key.key].map(String::clone);
        Box::pin(ready(self.change(|data, changes| {
            let now = now_micros();
            match data.keys.get(&key) {
                Some(([target, digest], end)) if *end > now && replaces != Some(target) => {
                    return Ok(KeyBinding::new(target, digest));
                }
                _ => {}
            }
            let expired = data.keys.iter().filter(|(_, (_, end))| *end <= now);
            changes.extend(expired.map(|(key, _)| Change::Key(key.clone(), None)));
            let end = now.saturating_add(u64::try_from(lifetime.as_micros()).unwrap_or(u64::MAX));
            let bound = [binding.target.clone(), binding.digest.clone()];
            changes.push(Change::Key(key, Some((bound, end))));
            Ok(binding.clone())
        })))
    }
}
