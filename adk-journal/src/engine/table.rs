//! [`RunTable`]: a table of [`StoredRun`]s, which makes a store a [`Journal`] with its registries.

use super::claim::{Claim, ClaimCheck, ClaimId};
use super::runs::{RunOwner, Runs, run_of_wait};
use super::stored_run::StoredRun;
use super::{
    Body, ClaimedRun, Done, Draft, DrivenRun, DueWaits, Journal, Reply, RunFilter, RunInfo,
    RunRecord, RunRegistry, RunStatus, Slot, StepKey, Stored, Update, Wait, WaitRegistry, Waiting,
    refuse,
};
use crate::event::Event;
use crate::model::UsageByAgent;
use crate::{BoxFuture, ErrorKind, Result, RunId};
use serde_json::Value;
use std::future::ready;
use std::ops::Range;
use std::sync::Arc;

/// The runs of a store that answers without waiting and keeps each run as one value. Such a store
/// is a [`Journal`], a [`RunRegistry`] and a [`WaitRegistry`] by this trait alone: the decisions
/// are those of [`StoredRun`] and [`Runs`].
///
/// [`MemoryJournal`](super::MemoryJournal) and `examples/store_json` implement it.
pub trait RunTable: Clone + Send + Sync + 'static {
    /// Whether an engine above the store may drive runs; otherwise [`RunRegistry::driven`] finds no
    /// run.
    const MAY_BE_DRIVEN_ABOVE: bool;

    /// Lets `read` look at the current runs.
    ///
    /// # Errors
    /// When the store fails; the error of `read`.
    fn read_runs<T>(&self, read: impl FnOnce(&Runs) -> Result<T>) -> Result<T>;

    /// Changes a run in one transaction, or changes nothing when `change` fails.
    ///
    /// # Errors
    /// [`refuse::unknown_run`]; when the store fails; the error of `change`.
    fn change_run<T>(
        &self,
        run: RunId,
        change: impl FnOnce(&mut StoredRun) -> Result<T>,
    ) -> Result<T>;

    /// Inserts a queued run.
    ///
    /// # Errors
    /// [`refuse::run_exists`]; when the store fails or has no such session.
    fn insert_run(&self, run: StoredRun) -> Result<()>;

    /// Deletes those of these runs of an app that [have ended before](Runs::ended_before) a time,
    /// and returns their number.
    ///
    /// # Errors
    /// When the store fails.
    fn delete_runs(&self, app: &str, runs: &[RunId], before: u64) -> Result<u64>;

    /// Fills a slot in one transaction, unless it is filled, as [`Journal::commit`] describes it.
    /// If there is an update, it makes the draft.
    ///
    /// The run is the stored one, or that of the slot ([`StoredRun::of_slot`]);
    /// [`StoredRun::enter`] comes first, and [`StoredRun::fill`] last.
    ///
    /// # Errors
    /// Those of [`Journal::commit`].
    fn fill_slot(&self, slot: Slot, draft: Draft, update: Option<Update>) -> Result<Stored>;

    /// Returns the events of the session of a run at these places of its log.
    ///
    /// # Errors
    /// When the store fails, or the session does not exist any more.
    fn events_of(&self, run: &RunRecord, places: Range<usize>) -> Result<Vec<Arc<Event>>>;

    /// Returns the name of this process as the owner of claims.
    fn owner(&self) -> String;

    /// Returns true if the owner of a claim lives, and has not released the claim.
    fn is_held(&self, claim: ClaimId, owner: &str) -> bool;

    /// Releases a claim with [`StoredRun::release`]. Called from `Drop`, so it must not block: a
    /// store may write the release later, but [`is_held`](Self::is_held) knows of it at once.
    fn release_claim(&self, claim: ClaimId);
}

fn is_held(table: &impl RunTable, run: &StoredRun) -> bool {
    let claim = run.last_claim();
    // Only the engine above continues its run: it has the steps.
    let is_held = |owner| table.is_held(claim, owner);
    claim.is_driven_above() || run.owner.as_deref().is_some_and(is_held)
}

fn is_ready(table: &impl RunTable, run: &StoredRun) -> bool {
    run.can_continue() && !is_held(table, run)
}

fn list(table: &impl RunTable, owner: RunOwner, filter: &RunFilter) -> Result<Vec<RunInfo>> {
    table.read_runs(|runs| {
        let runs = runs.select(&owner, filter, |run| is_ready(table, run));
        Ok(runs.map(|run| run.info(is_ready(table, run))).collect())
    })
}

fn make_claim(table: &impl RunTable, claim: ClaimId) -> Claim {
    let table = table.clone();
    Claim::new(claim, move |claim| table.release(claim))
}

/// A run that never stored an event is not in the registry, and its end needs no record.
fn ignore_unknown_run<T: Default>(result: Result<T>) -> Result<T> {
    result.or_else(|error| match error.kind() {
        ErrorKind::UnknownRun => Ok(T::default()),
        _ => Err(error),
    })
}

impl<T: RunTable> Journal for T {
    fn commit<'a>(&'a self, slot: Slot, body: Body) -> Reply<'a, Result<Stored>> {
        let (draft, update, work) = match body {
            Body::Ready(draft) => (draft, None, None),
            Body::Update(update) => (Draft::default(), Some(*update), None),
            Body::Call(work) => (Draft::default(), None, Some(work)),
        };
        let Some(work) = work else {
            return Reply::Ready(self.fill_slot(slot, draft, update));
        };
        Reply::Later(Box::pin(async move {
            let is_filled = self.read_runs(|runs| match runs.get(slot.run_id) {
                None => Ok(false),
                Some(run) => {
                    run.check_claim(slot.claim())?;
                    Ok(run.slots.contains_key(&slot.to_string()))
                }
            });
            let draft = if is_filled? { draft } else { work.await? };
            self.fill_slot(slot, draft, None)
        }))
    }

    fn step(
        &self,
        claim: ClaimId,
        key: StepKey,
        work: BoxFuture<'static, Result<Value>>,
    ) -> BoxFuture<'_, Result<Value>> {
        Box::pin(async move {
            let (id, key) = (claim.run_id, key.to_string());
            let known = |runs: &Runs| Ok(runs.get(id).and_then(|run| run.step(&key)).cloned());
            if let Some(value) = self.read_runs(known)? {
                return Ok(value);
            }
            let value = work.await?;
            // An engine above keeps the results of steps itself. A run without an event cannot be
            // resumed, and needs no record.
            if claim.is_driven_above() || !self.read_runs(|runs| Ok(runs.get(id).is_some()))? {
                return Ok(value);
            }
            self.change_run(id, |run| run.record_step(claim, key, value))
        })
    }

    fn answer(&self, claim: ClaimId, wait: Wait) -> BoxFuture<'_, Result<Option<Value>>> {
        let answered = self.change_run(claim.run_id, |run| run.answer(claim, wait.waiting));
        Box::pin(ready(answered))
    }
}

impl<T: RunTable> RunRegistry for T {
    fn enqueue(&self, claim: ClaimId, record: RunRecord) -> BoxFuture<'_, Result<Claim>> {
        let run = StoredRun::new(Arc::new(record), claim, self.owner());
        let queued = self.insert_run(run).or_else(|error| match error.kind() {
            ErrorKind::RunExists if claim.is_driven_above() => Ok(()),
            _ => Err(error),
        });
        Box::pin(ready(queued.map(|()| make_claim(self, claim))))
    }

    fn claim(&self, id: RunId, check: ClaimCheck) -> BoxFuture<'_, Result<ClaimedRun>> {
        let claim = || {
            let (claim, places, mut claimed) = self.change_run(id, |run| {
                check(&run.record)?;
                let (claim, claimed) = run.claim(self.owner(), is_held(self, run))?;
                Ok((claim, run.places(), claimed))
            })?;
            claimed.claim = make_claim(self, claim);
            if !places.is_empty() {
                claimed.events = self.events_of(&claimed.record, places)?;
            }
            Ok(claimed)
        };
        Box::pin(ready(claim()))
    }

    fn finished(&self, claim: ClaimId, done: Vec<Done>) -> BoxFuture<'_, Result<()>> {
        let written = self.change_run(claim.run_id, |run| run.finish(claim, done));
        Box::pin(ready(ignore_unknown_run(written)))
    }

    fn close(
        &self,
        claim: ClaimId,
        status: RunStatus,
        usage: UsageByAgent,
    ) -> BoxFuture<'_, Result<()>> {
        let closed = self.change_run(claim.run_id, |run| Ok(run.close(claim, status, usage)));
        Box::pin(ready(match closed {
            Ok(true) => Ok(()),
            Ok(false) => Err(refuse::fenced(claim.run_id)),
            Err(error) => ignore_unknown_run(Err(error)),
        }))
    }

    fn cancel<'a>(&'a self, app: &'a str, run: RunId) -> BoxFuture<'a, Result<RunStatus>> {
        Box::pin(ready(self.change_run(run, |run| run.cancel(app))))
    }

    fn delete_ended<'a>(
        &'a self,
        app: &'a str,
        runs: &'a [RunId],
        before: u64,
    ) -> BoxFuture<'a, Result<u64>> {
        Box::pin(ready(self.delete_runs(app, runs, before)))
    }

    fn release(&self, claim: ClaimId) {
        if !claim.is_driven_above() {
            self.release_claim(claim);
        }
    }

    fn runs<'a>(
        &'a self,
        app: &'a str,
        filter: &'a RunFilter,
    ) -> BoxFuture<'a, Result<Vec<RunInfo>>> {
        Box::pin(ready(list(self, RunOwner::app(app), filter)))
    }

    fn count_runs<'a>(
        &'a self,
        app: &'a str,
        filter: &'a RunFilter,
    ) -> BoxFuture<'a, Result<usize>> {
        let owner = RunOwner::app(app);
        let count = |runs: &Runs| {
            let runs = runs.select(&owner, filter, |run| is_ready(self, run));
            Ok(runs.count())
        };
        Box::pin(ready(self.read_runs(count)))
    }

    fn runs_of_tenants<'a>(
        &'a self,
        app: &'a str,
        filter: &'a RunFilter,
    ) -> BoxFuture<'a, Result<Vec<RunInfo>>> {
        Box::pin(ready(list(self, RunOwner::tenants_of(app), filter)))
    }

    fn driven(&self, id: RunId, from: u64) -> BoxFuture<'_, Result<Option<DrivenRun>>> {
        let run = self.read_runs(|runs| Ok(runs.get(id).cloned()));
        let driven = |run: StoredRun| {
            if !run.last_claim().was_driven_above(&run.status) {
                return Err(refuse::run_busy(id));
            }
            let from = usize::try_from(from).unwrap_or(usize::MAX);
            let Range { start, end } = run.places();
            let places = start.max(from)..end;
            let log = self.events_of(&run.record, places.clone())?;
            let slots = run.slots.iter().filter_map(|(slot, filled)| {
                let place = usize::try_from(filled.place).ok()?;
                let event = log.get(place.checked_sub(places.start)?)?.clone();
                let stored = Stored::earlier(filled.place, event, filled.temp.clone());
                Some((slot.clone(), stored))
            });
            let mut events: Vec<_> = slots.collect();
            events.sort_by_key(|(_, stored)| stored.place);
            let (record, status) = (RunRecord::clone(&run.record), run.status.clone());
            Ok(DrivenRun::new(record, status, run.usage.clone(), events))
        };
        let run = run.map(|run| run.filter(|_| T::MAY_BE_DRIVEN_ABOVE));
        Box::pin(ready(run.and_then(|run| run.map(driven).transpose())))
    }
}

impl<T: RunTable> WaitRegistry for T {
    fn waiting<'a>(
        &'a self,
        app: &'a str,
        filter: &'a RunFilter,
    ) -> BoxFuture<'a, Result<Vec<Waiting>>> {
        let owner = RunOwner::app(app);
        let mut of_runs = filter.clone();
        if !filter.answered_by.is_empty() {
            of_runs.user = None;
        }
        Box::pin(ready(self.read_runs(|runs| {
            let runs = runs.select(&owner, &of_runs, |run| is_ready(self, run));
            let mut runs: Vec<_> = runs.collect();
            if !filter.oldest_first {
                runs.reverse();
            }
            let waits = runs.into_iter().flat_map(StoredRun::open_waits);
            let waits = waits.filter(|wait| filter.selects_wait(wait));
            Ok(waits.cloned().collect())
        })))
    }

    fn open_wait<'a>(&'a self, app: &'a str, id: &'a str) -> BoxFuture<'a, Result<Waiting>> {
        let wait = self.read_runs(|runs| runs.open_wait(app, id).cloned());
        Box::pin(ready(wait))
    }

    fn due<'a>(&'a self, app: &'a str, now: u64, most: usize) -> BoxFuture<'a, Result<DueWaits>> {
        let due = self.read_runs(|runs| Ok(runs.due(RunOwner::app(app), now, most)));
        Box::pin(ready(due))
    }

    fn due_of_tenants<'a>(
        &'a self,
        app: &'a str,
        now: u64,
        most: usize,
    ) -> BoxFuture<'a, Result<DueWaits>> {
        let due = self.read_runs(|runs| Ok(runs.due(RunOwner::tenants_of(app), now, most)));
        Box::pin(ready(due))
    }

    fn withdraw(&self, claim: ClaimId, waits: Vec<String>) -> BoxFuture<'_, Result<()>> {
        let withdrawn = self.change_run(claim.run_id, |run| run.withdraw(claim, &waits));
        Box::pin(ready(withdrawn))
    }

    fn resolve<'a>(
        &'a self,
        app: &'a str,
        id: &'a str,
        answer: Value,
    ) -> BoxFuture<'a, Result<()>> {
        let unknown = || refuse::unknown_wait(id);
        let run = run_of_wait(id).ok_or_else(unknown);
        let resolved = run.and_then(|run| self.change_run(run, |run| run.resolve(app, id, answer)));
        Box::pin(ready(resolved.map_err(|error| match error.kind() {
            ErrorKind::UnknownRun => unknown(),
            _ => error,
        })))
    }
}
