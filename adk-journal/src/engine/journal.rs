//! [`MemoryJournal`]: an engine that keeps runs in memory. They survive their streams, but not the
//! process.

use super::clock::now_micros;
use super::keys::MemoryKeys;
use super::runs::Runs;
use super::stored_run::StoredRun;
use super::table::RunTable;
use super::{
    ClaimId, Draft, Engine, KeyBinding, RequestKey, RequestKeys, Retention, Roles, RunRecord, Slot,
    Stored, Update, refuse,
};
use crate::event::Event;
use crate::session::{Location, Session};
use crate::sync::lock;
use crate::{BoxFuture, Result, RunId};
use std::collections::HashMap;
use std::future::ready;
use std::ops::Range;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// Keeps the journal of runs in memory, next to a
/// [`MemoryStore`](crate::session::MemoryStore). A run whose stream was dropped, or that
/// waits for people, can be resumed in the same process. Clones share the journal, so that two
/// runners may work on the same runs.
///
/// ```
/// # use adk_build as adk;
/// use adk::Runner;
/// use adk::engine::MemoryJournal;
/// # fn main() -> adk::Result<()> {
/// let runner: Runner = Runner::builder().engine(MemoryJournal::new()).build()?;
/// # Ok(()) }
/// ```
#[derive(Clone, Debug, Default)]
pub struct MemoryJournal {
    runs: Arc<Mutex<MemoryRuns>>,
    keys: Arc<Mutex<MemoryKeys>>,
}

#[derive(Debug, Default)]
struct MemoryRuns {
    table: Runs,
    /// The sessions of runs that have begun.
    sessions: HashMap<RunId, Arc<Session>>,
}

impl MemoryJournal {
    /// Creates a journal without runs.
    pub fn new() -> Self {
        Self::default()
    }
}

impl RunTable for MemoryJournal {
    /// An engine above keeps its sessions in another store.
    const MAY_BE_DRIVEN_ABOVE: bool = false;

    fn read_runs<T>(&self, read: impl FnOnce(&Runs) -> Result<T>) -> Result<T> {
        read(&lock(&self.runs).table)
    }

    fn change_run<T>(
        &self,
        run: RunId,
        change: impl FnOnce(&mut StoredRun) -> Result<T>,
    ) -> Result<T> {
        lock(&self.runs).table.change(run, change)
    }

    fn insert_run(&self, run: StoredRun) -> Result<()> {
        let mut runs = lock(&self.runs);
        if runs.table.get(run.id()).is_some() {
            return Err(refuse::run_exists(run.id()));
        }
        runs.table.insert(run);
        Ok(())
    }

    fn delete_runs(&self, app: &str, runs: &[RunId], before: u64) -> Result<u64> {
        lock(&self.keys).purge(now_micros());
        let mut all = lock(&self.runs);
        let ended = all.table.ended_before(app, runs, before);
        all.table.remove(&ended);
        for run in &ended {
            all.sessions.remove(run);
        }
        Ok(ended.len() as u64)
    }

    fn fill_slot(&self, mut slot: Slot, draft: Draft, update: Option<Update>) -> Result<Stored> {
        let mut runs = lock(&self.runs);
        let MemoryRuns { table, sessions } = &mut *runs;
        if table.get(slot.run_id).is_none() {
            table.insert(StoredRun::of_slot(&slot, self.owner())?);
        }
        table.change(slot.run_id, |run| {
            let (session, begins) = (slot.session().clone(), slot.begins.is_some());
            if let Some((place, temp)) = run.enter(&mut slot)? {
                let event = usize::try_from(place).ok();
                let event = event.and_then(|place| session.event(place));
                let event = event.ok_or_else(|| session.key().missing())?;
                return Ok(Stored::earlier(place, event.clone(), temp));
            }
            if begins {
                sessions.insert(run.id(), session);
            }
            let text = slot.to_string();
            let stored = match update {
                Some(update) => slot.append_update(update)?,
                None => slot.append(draft),
            };
            run.fill(text, stored.place, stored.temp.clone());
            Ok(stored)
        })
    }

    fn events_of(&self, run: &RunRecord, places: Range<usize>) -> Result<Vec<Arc<Event>>> {
        let runs = lock(&self.runs);
        let session = runs.sessions.get(&run.run_id);
        let session = session.ok_or_else(|| run.session.missing())?;
        Ok(places
            .filter_map(|place| session.event(place).cloned())
            .collect())
    }

    fn owner(&self) -> String {
        String::new()
    }

    /// Returns true: the only process has released no claim that has an owner.
    fn is_held(&self, _: ClaimId, _: &str) -> bool {
        true
    }

    fn release_claim(&self, claim: ClaimId) {
        // A claim that is not the current one has nothing to release.
        let _ = self.change_run(claim.run_id, |run| run.release(claim));
    }
}

impl Engine for MemoryJournal {
    fn retention(&self) -> Retention {
        Retention::Process
    }

    fn location(&self) -> Location {
        Location::Memory
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

impl RequestKeys for MemoryJournal {
    fn bind<'a>(
        &'a self,
        key: &'a RequestKey,
        binding: &'a KeyBinding,
        replaces: Option<&'a str>,
        lifetime: Duration,
    ) -> BoxFuture<'a, Result<KeyBinding>> {
        Box::pin(ready(Ok(
            lock(&self.keys).bind(key, binding, replaces, lifetime)
        )))
    }
}
