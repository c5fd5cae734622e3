//! [`RunRegistry`] and [`WaitRegistry`] of [`JsonStore`].

use crate::data::{Change, Data, Run, WaitData};
use crate::engine::ABOVE;
use crate::{JsonStore, lock};
use adk_journal::engine::{
    Claim, ClaimCheck, ClaimId, ClaimedRun, Done, DrivenRun, DueWaits, RunFilter, RunInfo,
    RunRecord, RunRegistry, RunState, RunStatus, Stored, WaitRegistry, Waiting, is_failure, refuse,
};
use adk_model::model::Usage;
use adk_model::{BoxFuture, ErrorKind, Result, RunId};
use serde_json::Value;
use std::fs::File;
use std::future::ready;

/// An app, and whether its tenants are meant, not the app itself.
type Whose<'a> = (&'a str, bool);

fn is_of(record: &RunRecord, (app, of_tenants): Whose<'_>) -> bool {
    if of_tenants {
        record.tenant_of.as_deref() == Some(app)
    } else {
        record.session.app == app
    }
}

impl JsonStore {
    /// Returns whether a process drives the run. Several processes may ask at once, so the lock
    /// that they try is a shared one.
    fn is_driven(&self, run: &Run) -> bool {
        let claim = ClaimId {
            run_id: run.record.run_id,
            epoch: run.epoch,
        };
        match run.owner.as_deref() {
            None => false,
            Some(ABOVE) => true,
            Some(own) if own == self.0.owner => !lock(&self.0.released).contains(&claim),
            Some(other) => File::open(self.0.folder.join(other))
                .is_ok_and(|file| file.try_lock_shared().is_err()),
        }
    }

    /// Returns whether the run can continue and no process drives it.
    fn is_ready(&self, run: &Run) -> bool {
        let is_answered = |wait: &WaitData| !wait.answer.is_empty() && !wait.is_seen;
        let could = run.status.is_active()
            || run.status == RunStatus::Paused && run.waits.iter().any(is_answered);
        could && run.epoch > 0 && !self.is_driven(run)
    }

    /// Returns the runs that a filter selects, in its order.
    fn select<'a>(&self, data: &'a Data, whose: Whose<'_>, filter: &RunFilter) -> Vec<&'a Run> {
        let has_state = |run: &Run| match filter.state {
            RunState::Ready => self.is_ready(run),
            RunState::Unfinished => run.status.is_open(),
            RunState::Finished => run.status == RunStatus::Finished,
            RunState::Failed => matches!(run.status, RunStatus::Failed(_)),
            RunState::Cancelled => run.status == RunStatus::Cancelled,
            RunState::Any => true,
        };
        let runs = data.runs.range(filter.range()).map(|(_, run)| run);
        let runs = runs.filter(|run| {
            is_of(&run.record, whose) && filter.selects(&run.record) && has_state(run)
        });
        let limit = filter.limit.unwrap_or(usize::MAX);
        if filter.oldest_first {
            runs.take(limit).collect()
        } else {
            runs.rev().take(limit).collect()
        }
    }

    fn list(&self, whose: Whose<'_>, filter: &RunFilter) -> Result<Vec<RunInfo>> {
        let info = |run: &Run| {
            let (record, is_ready) = (run.record.clone(), self.is_ready(run));
            let (id, session, status) = (record.run_id, record.session, run.status.clone());
            RunInfo::new(id, session, record.workflow, status, is_ready)
                .at(record.time, run.updated)
                .used(run.usage)
        };
        self.look(|data| {
            let runs = self.select(data, whose, filter);
            Ok(runs.into_iter().map(info).collect())
        })
    }

    fn due_waits(&self, whose: Whose<'_>, now: u64, most: usize) -> Result<DueWaits> {
        self.look(|data| {
            // An engine above watches the deadlines of its runs itself.
            let is_meant = |run: &&Run| run.epoch > 0 && is_of(&run.record, whose);
            let waits = data
                .runs
                .values()
                .filter(is_meant)
                .flat_map(Run::open_waits);
            let mut waits: Vec<_> = waits.filter(|wait| wait.deadline.is_some()).collect();
            waits.sort_by_key(|wait| wait.deadline);
            let is_due = |wait: &&&Waiting| wait.deadline <= Some(now);
            let due = waits.iter().take_while(is_due).count().min(most);
            let next = waits.get(due).and_then(|wait| wait.deadline);
            let waits = waits.into_iter().take(due).cloned().collect();
            Ok(DueWaits::new(waits, next))
        })
    }

    /// Ends a claim, with the status and the usage of its run if they are known.
    fn close_now(&self, claim: ClaimId, end: Option<(RunStatus, Usage)>) -> Result<()> {
        let (status, usage) = end.unzip();
        let closed = self.change_run(claim.run_id, |run| {
            let is_current = run.is_claimed(claim);
            let is_cancelled = run.status == RunStatus::Cancelled && run.epoch == claim.epoch + 1;
            if is_current || is_cancelled {
                run.usage = usage.or(run.usage);
            }
            if !is_current {
                // An engine above may write an end again.
                return Ok(claim.is_driven_above() && status.as_ref() == Some(&run.status));
            }
            let goes_on = status.as_ref().is_some_and(RunStatus::is_open);
            if !(goes_on && claim.is_driven_above()) {
                run.owner = None;
            }
            status.into_iter().for_each(|status| run.set_status(status));
            Ok(true)
        });
        match closed {
            Ok(true) => Ok(()),
            Ok(false) => Err(refuse::fenced(claim.run_id)),
            Err(error) => ignore_unknown_run(Err(error)),
        }
    }

    fn new_claim(&self, claim: ClaimId) -> Claim {
        let store = self.clone();
        Claim::new(claim, move |claim| store.release(claim))
    }

    fn claim_now(&self, id: RunId, check: &ClaimCheck) -> Result<ClaimedRun> {
        self.change(|data, changes| {
            let mut run = data.run(id)?.clone();
            check(&run.record)?;
            if run.status == RunStatus::Cancelled {
                return Err(refuse::cancelled(id));
            }
            // Only the engine above continues its run, even after the end: it has the steps.
            if run.epoch == 0 || self.is_driven(&run) {
                return Err(refuse::run_busy(id));
            }
            if let RunStatus::Failed(_) = run.status {
                // An expired question is asked again.
                run.waits.retain(|wait| !wait.answer.iter().any(is_failure));
            }
            for wait in &mut run.waits {
                wait.is_seen = !wait.answer.is_empty();
            }
            let is_queued = run.record.is_queued;
            run.set_status(if is_queued {
                RunStatus::Queued
            } else {
                RunStatus::Running
            });
            (run.epoch, run.owner) = (run.epoch + 1, Some(self.0.owner.clone()));
            let claim = ClaimId {
                run_id: id,
                epoch: run.epoch,
            };
            let mut claimed = ClaimedRun::new(self.new_claim(claim), run.record.clone());
            let last = run.slots.values().map(|(place, _)| *place).max();
            if let (Some(session), Some(last)) = (data.sessions.get(&run.record.session), last) {
                let begins = usize::try_from(run.record.begins).unwrap_or(usize::MAX);
                claimed.events = session
                    .events
                    .get(begins..=last)
                    .unwrap_or_default()
                    .to_vec();
            }
            let slots = run.slots.iter();
            claimed.temp = slots
                .map(|(slot, (_, temp))| (slot.clone(), temp.clone()))
                .collect();
            (claimed.steps, claimed.done) = (run.steps.clone(), run.done.clone());
            claimed.waits = run
                .waits
                .iter()
                .map(|wait| wait.waiting.id.clone())
                .collect();
            changes.push(Change::Run(run.into()));
            Ok(claimed)
        })
    }
}

/// A run that never stored an event is not in the registry, and its end needs no record.
fn ignore_unknown_run(result: Result<()>) -> Result<()> {
    result.or_else(|error| match error.kind() {
        ErrorKind::UnknownRun => Ok(()),
        _ => Err(error),
    })
}

impl RunRegistry for JsonStore {
    fn enqueue(&self, claim: ClaimId, record: RunRecord) -> BoxFuture<'_, Result<Claim>> {
        let queued = self.change(|data, changes| {
            match (
                data.runs.contains_key(&claim.run_id),
                claim.is_driven_above(),
            ) {
                (true, true) => return Ok(()),
                (true, false) => return Err(refuse::run_exists(claim.run_id)),
                (false, _) if data.sessions.contains_key(&record.session) => {}
                (false, _) => return Err(record.session.missing()),
            }
            let run = Run::new(record, claim, self.owner_of(claim));
            changes.push(Change::Run(run.into()));
            Ok(())
        });
        Box::pin(ready(queued.map(|()| self.new_claim(claim))))
    }

    fn claim(&self, run: RunId, check: ClaimCheck) -> BoxFuture<'_, Result<ClaimedRun>> {
        Box::pin(async move { self.claim_now(run, &check) })
    }

    fn finished(&self, claim: ClaimId, done: Vec<Done>) -> BoxFuture<'_, Result<()>> {
        let written = self.change_claimed(claim, |run| run.done.extend(done));
        Box::pin(ready(ignore_unknown_run(written)))
    }

    fn close(&self, claim: ClaimId, status: RunStatus, usage: Usage) -> BoxFuture<'_, Result<()>> {
        Box::pin(ready(self.close_now(claim, Some((status, usage)))))
    }

    fn cancel<'a>(&'a self, app: &'a str, id: RunId) -> BoxFuture<'a, Result<RunStatus>> {
        Box::pin(ready(self.change_run(id, |run| {
            if run.record.session.app != app {
                return Err(refuse::unknown_run(id));
            }
            if run.status.is_open() {
                run.set_status(RunStatus::Cancelled);
                (run.epoch, run.owner) = (run.epoch + 1, None);
            }
            Ok(run.status.clone())
        })))
    }

    /// Marks the release at once, and writes it on another thread, because a drop must not block.
    fn release(&self, claim: ClaimId) {
        if !claim.is_driven_above() {
            lock(&self.0.released).insert(claim);
            let store = self.clone();
            std::thread::spawn(move || drop(store.close_now(claim, None)));
        }
    }

    fn runs<'a>(
        &'a self,
        app: &'a str,
        filter: &'a RunFilter,
    ) -> BoxFuture<'a, Result<Vec<RunInfo>>> {
        Box::pin(ready(self.list((app, false), filter)))
    }

    fn runs_of_tenants<'a>(
        &'a self,
        app: &'a str,
        filter: &'a RunFilter,
    ) -> BoxFuture<'a, Result<Vec<RunInfo>>> {
        Box::pin(ready(self.list((app, true), filter)))
    }

    fn driven(&self, id: RunId, from: u64) -> BoxFuture<'_, Result<Option<DrivenRun>>> {
        Box::pin(ready(self.look(|data| {
            let Some(run) = data.runs.get(&id).cloned() else {
                return Ok(None);
            };
            // A cancellation adds 1 to the number of the claim.
            if run.epoch > u64::from(run.status == RunStatus::Cancelled) {
                return Err(refuse::run_busy(id));
            }
            let key = &run.record.session;
            let log = &data.sessions.get(key).ok_or_else(|| key.missing())?.events;
            let slots = run
                .slots
                .into_iter()
                .filter(|(_, (place, _))| *place as u64 >= from);
            let stored = slots.map(|(slot, (place, temp))| {
                (
                    slot,
                    Stored::earlier(place as u64, log[place].clone(), temp),
                )
            });
            let mut events: Vec<_> = stored.collect();
            events.sort_by_key(|(_, stored)| stored.place);
            Ok(Some(DrivenRun::new(
                run.record, run.status, run.usage, events,
            )))
        })))
    }
}

impl Run {
    /// Returns an open wait of an app.
    fn open_wait(&mut self, app: &str, id: &str) -> Result<&mut WaitData> {
        let is_own = self.record.session.app == app;
        let mut waits = self.waits.iter_mut();
        match waits.find(|wait| is_own && wait.waiting.id == id) {
            Some(wait) if wait.answer.is_empty() => Ok(wait),
            Some(_) => Err(refuse::answered(id)),
            None => Err(refuse::unknown_wait(id)),
        }
    }
}

/// Returns the run of a wait. The id of a wait begins with the id of its run.
fn run_of(id: &str) -> Result<RunId> {
    let run = id.split('/').next().and_then(|run| run.parse().ok());
    run.ok_or_else(|| refuse::unknown_wait(id))
}

impl WaitRegistry for JsonStore {
    fn waiting<'a>(
        &'a self,
        app: &'a str,
        filter: &'a RunFilter,
    ) -> BoxFuture<'a, Result<Vec<Waiting>>> {
        Box::pin(ready(self.look(|data| {
            let mut runs = self.select(data, (app, false), filter);
            runs.sort_by_key(|run| run.record.run_id);
            Ok(runs
                .into_iter()
                .flat_map(Run::open_waits)
                .cloned()
                .collect())
        })))
    }

    fn open_wait<'a>(&'a self, app: &'a str, id: &'a str) -> BoxFuture<'a, Result<Waiting>> {
        Box::pin(ready(run_of(id).and_then(|run| {
            self.look(|data| {
                let run = data.runs.get(&run).cloned();
                let mut run = run.ok_or_else(|| refuse::unknown_wait(id))?;
                run.open_wait(app, id).map(|wait| wait.waiting.clone())
            })
        })))
    }

    fn due<'a>(&'a self, app: &'a str, now: u64, most: usize) -> BoxFuture<'a, Result<DueWaits>> {
        Box::pin(ready(self.due_waits((app, false), now, most)))
    }

    fn due_of_tenants<'a>(
        &'a self,
        app: &'a str,
        now: u64,
        most: usize,
    ) -> BoxFuture<'a, Result<DueWaits>> {
        Box::pin(ready(self.due_waits((app, true), now, most)))
    }

    fn withdraw(&self, claim: ClaimId, ids: Vec<String>) -> BoxFuture<'_, Result<()>> {
        Box::pin(ready(self.change_claimed(claim, |run| {
            let is_meant = |wait: &WaitData| ids.contains(&wait.waiting.id);
            run.waits
                .retain(|wait| !(is_meant(wait) && wait.answer.is_empty()));
            let answered = run.waits.iter_mut().filter(|wait| is_meant(wait));
            answered.for_each(|wait| wait.is_seen = true);
        })))
    }

    fn resolve<'a>(
        &'a self,
        app: &'a str,
        id: &'a str,
        answer: Value,
    ) -> BoxFuture<'a, Result<()>> {
        let answered = run_of(id).and_then(|run| {
            self.change_run(run, |run| {
                run.open_wait(app, id)?.answer.push(answer);
                Ok(())
            })
        });
        Box::pin(ready(answered.map_err(|error| match error.kind() {
            ErrorKind::UnknownRun => refuse::unknown_wait(id),
            _ => error,
        })))
    }
}
