//! [`Engine`] of [`JsonStore`]: its [`RunTable`], and the keys of requests.

use crate::data::Change;
use crate::{JsonStore, lock};
use adk_journal::Event;
use adk_journal::engine::{
    ClaimId, Draft, Engine, KeyBinding, RequestKey, RequestKeys, Retention, Roles, RunRecord,
    RunTable, Runs, Slot, Stored, StoredRun, Update, refuse,
};
use adk_journal::session::{Location, now_micros};
use adk_model::{BoxFuture, Result, RunId};
use std::fs::File;
use std::future::ready;
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

impl RunTable for JsonStore {
    const MAY_BE_DRIVEN_ABOVE: bool = true;

    fn read_runs<T>(&self, read: impl FnOnce(&Runs) -> Result<T>) -> Result<T> {
        self.look(|data| read(&data.runs))
    }

    fn change_run<T>(
        &self,
        id: RunId,
        change: impl FnOnce(&mut StoredRun) -> Result<T>,
    ) -> Result<T> {
        self.change(|data, changes| {
            let old = data.runs.get(id).ok_or_else(|| refuse::unknown_run(id))?;
            let mut run = old.clone();
            let value = change(&mut run)?;
            changes.extend((run != *old).then(|| Change::Run(run.into())));
            Ok(value)
        })
    }

    fn insert_run(&self, run: StoredRun) -> Result<()> {
        self.change(|data, changes| {
            if data.runs.get(run.id()).is_some() {
                return Err(refuse::run_exists(run.id()));
            }
            data.session(run.session())?;
            changes.push(Change::Run(run.into()));
            Ok(())
        })
    }

    fn delete_runs(&self, app: &str, runs: &[RunId], before: u64) -> Result<u64> {
        self.change(|data, changes| {
            let ended = data.runs.ended_before(app, runs, before);
            let count = ended.len() as u64;
            changes.push(Change::Prune(ended));
            Ok(count)
        })
    }

    /// Delivers the event before another event can get the next place.
    fn fill_slot(
        &self,
        mut slot: Slot,
        mut draft: Draft,
        update: Option<Update>,
    ) -> Result<Stored> {
        let (key, session) = (slot.session_key().clone(), slot.session().clone());
        let is_above = slot.claim().is_driven_above();
        let mut disk = lock(&self.0.disk);
        let (place, temp, event) = disk.transaction(Some(&session), |data, changes| {
            let log = data.session(&key)?;
            // The session of an engine above is no session of this store. Any other session was
            // deleted, and created again.
            if !is_above && !Arc::ptr_eq(&log, &session) {
                return Err(key.missing());
            }
            let mut run = match data.runs.get(slot.run_id) {
                Some(run) => run.clone(),
                None => StoredRun::of_slot(&slot, self.owner())?,
            };
            let filled = match run.enter(&mut slot)? {
                Some((place, temp)) => (place, temp, None),
                None => {
                    if let Some(mut update) = update {
                        draft = update.apply(log.get(update.key()).as_deref())?;
                    }
                    slot.stamp(Arc::make_mut(&mut draft.event), log.updated());
                    let place = log.len() as u64;
                    run.fill(slot.to_string(), place, draft.temp.clone());
                    changes.push(Change::Event(key.clone(), draft.event.to_stored()?));
                    (place, draft.temp, Some(draft.event))
                }
            };
            changes.push(Change::Run(run.into()));
            Ok(filled)
        })?;
        if let Some(event) = event {
            return Ok(slot.deliver(place, event, temp));
        }
        let log = disk.data.session(&key)?;
        let event = log.event(place as usize).ok_or_else(|| key.missing())?;
        if is_above {
            return Ok(slot.deliver(place, event.clone(), temp));
        }
        Ok(Stored::earlier(place, event.clone(), temp))
    }

    fn events_of(&self, run: &RunRecord, places: Range<usize>) -> Result<Vec<Arc<Event>>> {
        let session = self.look(|data| data.session(&run.session))?;
        let events = places.filter_map(|place| session.event(place).cloned());
        Ok(events.collect())
    }

    fn owner(&self) -> String {
        self.0.owner.clone()
    }

    /// Tries the lock of the owner. Several processes may ask at once, so it is a shared one.
    fn is_held(&self, claim: ClaimId, owner: &str) -> bool {
        if owner == self.0.owner {
            return !lock(&self.0.released).contains(&claim);
        }
        let file = File::open(self.0.folder.join(owner));
        file.is_ok_and(|file| file.try_lock_shared().is_err())
    }

    /// Marks the release at once, and writes it on another thread.
    fn release_claim(&self, claim: ClaimId) {
        lock(&self.0.released).insert(claim);
        let store = self.clone();
        std::thread::spawn(move || store.change_run(claim.run_id, |run| run.release(claim)));
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
        Box::pin(ready(self.change(|data, changes| {
            let now = now_micros();
            match data.keys.get(key) {
                Some((bound, end)) if *end > now && replaces != Some(&bound.target) => {
                    return Ok(bound.clone());
                }
                _ => {}
            }
            let end = now.saturating_add(u64::try_from(lifetime.as_micros()).unwrap_or(u64::MAX));
            changes.push(Change::Key(key.clone(), binding.clone(), end));
            Ok(binding.clone())
        })))
    }
}
