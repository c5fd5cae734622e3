//! [`MemoryJournal`]: an engine that keeps runs in memory. They survive their streams, but not the
//! process.

mod runs;

use self::runs::{RunOwner, Runs, StoredRun, StoredWait};
use super::keys::MemoryKeys;
use super::{
    Body, Claim, ClaimCheck, ClaimId, ClaimedRun, Done, DrivenRun, DueWaits, Engine, Journal,
    KeyBinding, Reply, RequestKey, RequestKeys, Retention, Roles, RunFilter, RunInfo, RunRecord,
    RunRegistry, RunStatus, Slot, StepKey, Stored, Wait, WaitRegistry, Waiting, is_failure, refuse,
};
use crate::model::Usage;
use crate::session::Location;
use crate::sync::lock;
use crate::{BoxFuture, Result, RunId};
use serde_json::Value;
use std::future::ready;
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
    runs: Arc<Mutex<Runs>>,
    keys: Arc<Mutex<MemoryKeys>>,
}

impl MemoryJournal {
    /// Creates a journal without runs.
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns the event that an earlier attempt stored in the slot.
    fn find_stored(&self, slot: &Slot) -> Result<Option<Stored>> {
        let mut runs = lock(&self.runs);
        if !runs.all.contains_key(&slot.run_id) {
            return Ok(None);
        }
        let run = runs.claimed_run(slot.claim())?;
        let found = run.slots.get(&slot.to_string());
        Ok(
            found
                .map(|found| Stored::earlier(found.place, found.event.clone(), found.temp.clone())),
        )
    }

    fn store(&self, mut slot: Slot, append: impl FnOnce(Slot) -> Result<Stored>) -> Result<Stored> {
        let mut runs = lock(&self.runs);
        let id = slot.run_id;
        if let Some(record) = slot.begins.take() {
            let run = runs
                .all
                .entry(id)
                .or_insert_with(|| StoredRun::new(record.clone(), slot.claim()));
            if run.epoch == slot.epoch {
                run.begin(record, slot.session().clone());
            }
            runs.index(id);
        }
        let run = runs.claimed_run(slot.claim())?;
        run.done.append(&mut slot.done);
        let key = slot.to_string();
        let stored = append(slot)?;
        let kept = Stored::earlier(stored.place, stored.event.clone(), stored.temp.clone());
        run.slots.insert(key, kept);
        Ok(stored)
    }
}

impl Journal for MemoryJournal {
    fn commit<'a>(&'a self, slot: Slot, body: Body) -> Reply<'a, Result<Stored>> {
        match self.find_stored(&slot) {
            Ok(Some(stored)) => return Reply::Ready(Ok(stored)),
            Ok(None) => {}
            Err(error) => return Reply::Ready(Err(error)),
        }
        match body {
            Body::Ready(draft) => Reply::Ready(self.store(slot, |slot| Ok(slot.append(draft)))),
            Body::Update(update) => {
                Reply::Ready(self.store(slot, |slot| slot.append_update(*update)))
            }
            Body::Call(work) => Reply::Later(Box::pin(async move {
                let draft = work.await?;
                self.store(slot, |slot| Ok(slot.append(draft)))
            })),
        }
    }

    fn step(
        &self,
        claim: ClaimId,
        key: StepKey,
        work: BoxFuture<'static, Result<Value>>,
    ) -> BoxFuture<'_, Result<Value>> {
        Box::pin(async move {
            let text = key.to_string();
            let known = lock(&self.runs)
                .all
                .get(&key.run_id)
                .and_then(|run| run.steps.get(&text).cloned());
            if let Some(value) = known.filter(|value| !is_failure(value)) {
                return Ok(value);
            }
            let value = work.await?;
            let mut runs = lock(&self.runs);
            // A run without an event has no record yet, and cannot be resumed.
            if !runs.all.contains_key(&key.run_id) {
                return Ok(value);
            }
            let steps = &mut runs.claimed_run(claim)?.steps;
            if let Some(earlier) = steps.get(&text).filter(|earlier| !is_failure(earlier)) {
                return Ok(earlier.clone());
            }
            steps.insert(text, value.clone());
            Ok(value)
        })
    }

    fn answer(&self, claim: ClaimId, wait: Wait) -> BoxFuture<'_, Result<Option<Value>>> {
        let mut runs = lock(&self.runs);
        let run = match runs.claimed_run(claim) {
            Ok(run) => run,
            Err(error) => return Box::pin(ready(Err(error))),
        };
        if let Some(known) = run
            .waits
            .iter_mut()
            .find(|known| known.waiting.id == wait.waiting.id)
        {
            known.is_seen = known.answer.is_some();
            return Box::pin(ready(Ok(known.answer.clone())));
        }
        let (deadline, id) = (wait.waiting.deadline, wait.waiting.id.clone());
        let app = RunOwner::app(&run.record.session.app);
        let owners = run
            .record
            .tenant_of
            .as_deref()
            .map(RunOwner::tenants_of)
            .into_iter()
            .chain([app]);
        run.waits.push(StoredWait {
            waiting: wait.waiting,
            answer: None,
            is_seen: false,
        });
        if let Some(deadline) = deadline {
            runs.deadlines
                .extend(owners.map(|owner| (owner, deadline, id.clone())));
        }
        Box::pin(ready(Ok(None)))
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

impl RunRegistry for MemoryJournal {
    fn enqueue(&self, claim: ClaimId, record: RunRecord) -> BoxFuture<'_, Result<Claim>> {
        let (mut runs, id, this) = (lock(&self.runs), claim.run_id, self.clone());
        if runs.all.contains_key(&id) {
            return Box::pin(ready(Err(refuse::run_exists(id))));
        }
        runs.all.insert(id, StoredRun::new(Arc::new(record), claim));
        runs.index(id);
        Box::pin(ready(Ok(Claim::new(claim, move |claim| {
            this.release(claim)
        }))))
    }

    fn claim(&self, id: RunId, check: ClaimCheck) -> BoxFuture<'_, Result<ClaimedRun>> {
        let mut runs = lock(&self.runs);
        let this = self.clone();
        let claimed = match runs.all.get_mut(&id) {
            None => Err(refuse::unknown_run(id)),
            Some(run) => check(&run.record).and_then(|()| {
                if run.status == RunStatus::Cancelled {
                    Err(refuse::cancelled(id))
                } else if run.is_driven {
                    Err(refuse::run_busy(id))
                } else {
                    Ok(run.claim(move |claim| this.release(claim)))
                }
            }),
        };
        runs.index(id);
        Box::pin(ready(claimed))
    }

    fn finished(&self, claim: ClaimId, mut done: Vec<Done>) -> BoxFuture<'_, Result<()>> {
        let written = match lock(&self.runs).claimed_run(claim) {
            Ok(run) => {
                run.done.append(&mut done);
                Ok(())
            }
            Err(error) => ignore_unknown_run(error),
        };
        Box::pin(ready(written))
    }

    fn close(&self, claim: ClaimId, status: RunStatus, usage: Usage) -> BoxFuture<'_, Result<()>> {
        let mut runs = lock(&self.runs);
        let closed = match runs.claimed_run(claim) {
            Ok(run) => {
                run.is_driven = false;
                if !status.is_open() {
                    run.waits.retain(|wait| wait.answer.is_some());
                }
                run.set_status(status);
                run.usage = Some(usage);
                Ok(())
            }
            Err(error) => {
                let run = runs
                    .all
                    .get_mut(&claim.run_id)
                    .filter(|run| run.was_cancelled_from(claim));
                if let Some(run) = run {
                    run.usage = Some(usage);
                }
                ignore_unknown_run(error)
            }
        };
        runs.index(claim.run_id);
        Box::pin(ready(closed))
    }

    fn cancel<'a>(&'a self, app: &'a str, id: RunId) -> BoxFuture<'a, Result<RunStatus>> {
        let mut runs = lock(&self.runs);
        let cancelled = match runs
            .all
            .get_mut(&id)
            .filter(|run| run.record.session.app == app)
        {
            None => Err(refuse::unknown_run(id)),
            Some(run) => {
                if run.status.is_open() {
                    run.set_status(RunStatus::Cancelled);
                    run.is_driven = false;
                    run.epoch += 1;
                    run.waits.retain(|wait| wait.answer.is_some());
                }
                Ok(run.status.clone())
            }
        };
        runs.index(id);
        Box::pin(ready(cancelled))
    }

    fn release(&self, claim: ClaimId) {
        let mut runs = lock(&self.runs);
        if let Ok(run) = runs.claimed_run(claim) {
            run.is_driven = false;
        }
        runs.index(claim.run_id);
    }

    fn runs<'a>(
        &'a self,
        app: &'a str,
        filter: &'a RunFilter,
    ) -> BoxFuture<'a, Result<Vec<RunInfo>>> {
        let runs = lock(&self.runs);
        Box::pin(ready(Ok(runs
            .select(RunOwner::app(app), filter)
            .map(StoredRun::info)
            .collect())))
    }

    fn runs_of_tenants<'a>(
        &'a self,
        app: &'a str,
        filter: &'a RunFilter,
    ) -> BoxFuture<'a, Result<Vec<RunInfo>>> {
        let runs = lock(&self.runs);
        Box::pin(ready(Ok(runs
            .select(RunOwner::tenants_of(app), filter)
            .map(StoredRun::info)
            .collect())))
    }

    /// Returns `None`: an engine above keeps its sessions in another store.
    fn driven(&self, _: RunId, _: u64) -> BoxFuture<'_, Result<Option<DrivenRun>>> {
        Box::pin(ready(Ok(None)))
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

impl WaitRegistry for MemoryJournal {
    fn waiting<'a>(
        &'a self,
        app: &'a str,
        filter: &'a RunFilter,
    ) -> BoxFuture<'a, Result<Vec<Waiting>>> {
        let runs = lock(&self.runs);
        let mut selected: Vec<_> = runs.select(RunOwner::app(app), filter).collect();
        if !filter.oldest_first {
            selected.reverse();
        }
        let open = selected
            .into_iter()
            .flat_map(|run| &run.waits)
            .filter(|wait| wait.answer.is_none());
        Box::pin(ready(Ok(open.map(|wait| wait.waiting.clone()).collect())))
    }

    fn open_wait<'a>(&'a self, app: &'a str, id: &'a str) -> BoxFuture<'a, Result<Waiting>> {
        let mut runs = lock(&self.runs);
        Box::pin(ready(
            runs.wait(&RunOwner::app(app), id)
                .map(|(_, wait)| wait.waiting.clone()),
        ))
    }

    fn due<'a>(&'a self, app: &'a str, now: u64, most: usize) -> BoxFuture<'a, Result<DueWaits>> {
        Box::pin(ready(Ok(lock(&self.runs).due(
            &RunOwner::app(app),
            now,
            most,
        ))))
    }

    fn due_of_tenants<'a>(
        &'a self,
        app: &'a str,
        now: u64,
        most: usize,
    ) -> BoxFuture<'a, Result<DueWaits>> {
        Box::pin(ready(Ok(lock(&self.runs).due(
            &RunOwner::tenants_of(app),
            now,
            most,
        ))))
    }

    fn withdraw(&self, claim: ClaimId, waits: Vec<String>) -> BoxFuture<'_, Result<()>> {
        let withdrawn = lock(&self.runs).claimed_run(claim).map(|run| {
            run.waits
                .retain(|wait| wait.answer.is_some() || !waits.contains(&wait.waiting.id));
            let answered = run
                .waits
                .iter_mut()
                .filter(|wait| waits.contains(&wait.waiting.id));
            answered.for_each(|wait| wait.is_seen = true);
        });
        Box::pin(ready(withdrawn))
    }

    fn resolve<'a>(
        &'a self,
        app: &'a str,
        id: &'a str,
        answer: Value,
    ) -> BoxFuture<'a, Result<()>> {
        let mut runs = lock(&self.runs);
        let resolved = runs.wait(&RunOwner::app(app), id).map(|(run, wait)| {
            wait.answer = Some(answer);
            run
        });
        let resolved = resolved.map(|run| runs.index(run));
        Box::pin(ready(resolved))
    }
}

/// Ignores a run that never stored an event: it is not in the registry.
fn ignore_unknown_run(error: crate::Error) -> Result<()> {
    match error.kind() {
        crate::ErrorKind::UnknownRun => Ok(()),
        _ => Err(error),
    }
}
