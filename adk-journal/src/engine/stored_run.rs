//! [`StoredRun`]: a run with its journal as one value, and every decision about it.

use super::claim::{Claim, ClaimId};
use super::registry::{ClaimedRun, Done, RunInfo, RunRecord, RunStatus, Waiting};
use super::slot::Slot;
use super::{is_failure, refuse};
use crate::event::StateDelta;
use crate::model::UsageByAgent;
use crate::session::{SessionKey, now_micros};
use crate::{Result, RunId};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

/// A run with its journal: a row of a [`RunTable`](super::RunTable), which a store keeps as one
/// value. All decisions about a run are methods of this type; an error changes nothing.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StoredRun {
    pub(super) record: Arc<RunRecord>,
    /// The time when it began or was queued.
    created: u64,
    pub(super) status: RunStatus,
    /// The time when the status was written.
    pub(super) updated: u64,
    pub(super) usage: Option<UsageByAgent>,
    /// The number of the latest claim.
    pub(super) epoch: u64,
    /// The process that has the claim; `None` after its release.
    pub(super) owner: Option<String>,
    pub(super) slots: HashMap<String, FilledSlot>,
    steps: HashMap<String, Value>,
    done: Vec<Done>,
    waits: Vec<StoredWait>,
}

/// The place of an event in the log, and the `temp:` keys that came with it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct FilledSlot {
    pub(super) place: u64,
    pub(super) temp: StateDelta,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct StoredWait {
    waiting: Waiting,
    answer: StoredAnswer,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
enum StoredAnswer {
    None,
    /// The run has not been driven with this answer.
    New(Value),
    Seen(Value),
}

impl StoredAnswer {
    fn value(&self) -> Option<&Value> {
        match self {
            Self::None => None,
            Self::New(value) | Self::Seen(value) => Some(value),
        }
    }

    fn mark_seen(&mut self) {
        if let Self::New(value) = self {
            *self = Self::Seen(value.take());
        }
    }
}

impl StoredWait {
    fn is_open(&self) -> bool {
        self.answer == StoredAnswer::None
    }
}

/// The methods that a store calls.
impl StoredRun {
    /// Creates the run that a slot begins.
    ///
    /// # Errors
    /// [`refuse::unknown_run`] when the slot does not bring the record of the run.
    pub fn of_slot(slot: &Slot, owner: String) -> Result<Self> {
        let record = slot.begins.clone();
        let record = record.ok_or_else(|| refuse::unknown_run(slot.run_id))?;
        Ok(Self::new(record, slot.claim(), owner))
    }

    /// Returns the run's id.
    pub fn id(&self) -> RunId {
        self.record.run_id
    }

    /// Returns the key of the run's session.
    pub fn session(&self) -> &SessionKey {
        &self.record.session
    }

    /// Prepares a commit: takes the record and the finished agents out of the slot. Returns the
    /// place of the event, and its `temp:` keys, if the slot is filled already.
    ///
    /// # Errors
    /// [`refuse::fenced`] when the slot's claim is not the current one.
    pub fn enter(&mut self, slot: &mut Slot) -> Result<Option<(u64, StateDelta)>> {
        self.check_claim(slot.claim())?;
        if let (Some(record), RunStatus::Queued) = (slot.begins.take(), &self.status) {
            self.record = record;
            self.set_status(RunStatus::Running);
        }
        self.done.append(&mut slot.done);
        let filled = self.slots.get(&slot.to_string());
        Ok(filled.map(|filled| (filled.place, filled.temp.clone())))
    }

    /// Fills a slot, by its text, with the event at this place of the log.
    pub fn fill(&mut self, slot: String, place: u64, temp: StateDelta) {
        self.slots.insert(slot, FilledSlot { place, temp });
    }

    /// Releases a claim.
    ///
    /// # Errors
    /// [`refuse::fenced`] when the claim is not the current one.
    pub fn release(&mut self, claim: ClaimId) -> Result<()> {
        self.check_claim(claim)?;
        self.owner = None;
        Ok(())
    }
}

impl StoredRun {
    pub(super) fn new(record: Arc<RunRecord>, claim: ClaimId, owner: String) -> Self {
        Self {
            created: record.time,
            status: record.first_status(),
            updated: record.time,
            record,
            usage: None,
            epoch: claim.epoch,
            owner: Some(owner),
            slots: HashMap::new(),
            steps: HashMap::new(),
            done: Vec::new(),
            waits: Vec::new(),
        }
    }

    pub(super) fn last_claim(&self) -> ClaimId {
        ClaimId {
            run_id: self.id(),
            epoch: self.epoch,
        }
    }

    /// A process that has lost its run must not write any more.
    pub(super) fn check_claim(&self, claim: ClaimId) -> Result<()> {
        if self.epoch == claim.epoch && self.owner.is_some() {
            Ok(())
        } else {
            Err(refuse::fenced(claim.run_id))
        }
    }

    /// Sets the status. A run that has ended has no open waits.
    fn set_status(&mut self, status: RunStatus) {
        if !status.is_open() {
            self.waits.retain(|wait| !wait.is_open());
        }
        (self.status, self.updated) = (status, now_micros());
    }

    /// Returns true if the run can continue as soon as no process drives it.
    pub(super) fn can_continue(&self) -> bool {
        let is_new = |wait: &StoredWait| matches!(wait.answer, StoredAnswer::New(_));
        self.status.is_active() || self.status == RunStatus::Paused && self.waits.iter().any(is_new)
    }

    pub(super) fn info(&self, is_ready: bool) -> RunInfo {
        let (session, workflow) = (self.record.session.clone(), self.record.workflow.clone());
        RunInfo::new(self.id(), session, workflow, self.status.clone(), is_ready)
            .at(self.created, self.updated)
            .used(self.usage.as_ref().map(UsageByAgent::total))
    }

    /// Makes the next claim. Returns the stored journal without its events, with the id of the
    /// claim.
    pub(super) fn claim(&mut self, owner: String, is_held: bool) -> Result<(ClaimId, ClaimedRun)> {
        let claim = self.last_claim().next(&self.status, is_held)?;
        if let RunStatus::Failed(_) = self.status {
            // An expired question is asked again.
            self.waits
                .retain(|wait| !wait.answer.value().is_some_and(is_failure));
        }
        (self.epoch, self.owner) = (claim.epoch, Some(owner));
        self.set_status(self.record.first_status());
        for wait in &mut self.waits {
            wait.answer.mark_seen();
        }
        let temps = self.slots.iter().filter(|(_, slot)| !slot.temp.is_empty());
        let unfenced = Claim::unfenced(self.id());
        let mut claimed = ClaimedRun::new(unfenced, RunRecord::clone(&self.record));
        claimed.temp = temps
            .map(|(slot, filled)| (slot.clone(), filled.temp.clone()))
            .collect();
        (claimed.steps, claimed.done) = (self.steps.clone(), self.done.clone());
        let waits = self.waits.iter();
        claimed.waits = waits.map(|wait| wait.waiting.id.clone()).collect();
        Ok((claim, claimed))
    }

    /// Returns the places in the log from the beginning of the run to its last event.
    pub(super) fn places(&self) -> Range<usize> {
        let place = |place: u64| usize::try_from(place).unwrap_or(usize::MAX);
        let begins = place(self.record.begins);
        let last = self.slots.values().map(|slot| slot.place).max();
        begins..last.map_or(begins, |last| place(last).saturating_add(1))
    }

    pub(super) fn finish(&mut self, claim: ClaimId, done: Vec<Done>) -> Result<()> {
        self.check_claim(claim)?;
        self.done.extend(done);
        Ok(())
    }

    /// Ends a claim. Returns `false` if it is not the current one; the usage of a run that was
    /// cancelled meanwhile is stored even then.
    pub(super) fn close(&mut self, claim: ClaimId, status: RunStatus, usage: UsageByAgent) -> bool {
        if self.check_claim(claim).is_err() {
            if self.status == RunStatus::Cancelled && self.epoch == claim.epoch + 1 {
                self.usage = Some(usage);
            }
            // An engine above may write an end again.
            return claim.is_driven_above() && self.epoch == 0 && self.status == status;
        }
        if !(claim.is_driven_above() && status.is_open()) {
            self.owner = None;
        }
        self.usage = Some(usage);
        self.set_status(status);
        true
    }

    pub(super) fn cancel(&mut self, app: &str) -> Result<RunStatus> {
        if self.record.session.app != app {
            return Err(refuse::unknown_run(self.id()));
        }
        if self.status.is_open() {
            self.set_status(RunStatus::Cancelled);
            (self.epoch, self.owner) = (self.epoch + 1, None);
        }
        Ok(self.status.clone())
    }

    /// Returns the record of a step. The record of a failed call does not count.
    pub(super) fn step(&self, key: &str) -> Option<&Value> {
        self.steps.get(key).filter(|value| !is_failure(value))
    }

    /// Records a step. The first record wins.
    pub(super) fn record_step(
        &mut self,
        claim: ClaimId,
        key: String,
        value: Value,
    ) -> Result<Value> {
        self.check_claim(claim)?;
        if let Some(earlier) = self.step(&key) {
            return Ok(earlier.clone());
        }
        self.steps.insert(key, value.clone());
        Ok(value)
    }

    /// Returns the answer of a wait, or opens the wait.
    pub(super) fn answer(&mut self, claim: ClaimId, waiting: Waiting) -> Result<Option<Value>> {
        self.check_claim(claim)?;
        let mut known = self.waits.iter_mut();
        if let Some(known) = known.find(|known| known.waiting.id == waiting.id) {
            known.answer.mark_seen();
            return Ok(known.answer.value().cloned());
        }
        let answer = StoredAnswer::None;
        self.waits.push(StoredWait { waiting, answer });
        Ok(None)
    }

    pub(super) fn open_waits(&self) -> impl Iterator<Item = &Waiting> {
        let open = self.waits.iter().filter(|wait| wait.is_open());
        open.map(|wait| &wait.waiting)
    }

    pub(super) fn open_wait(&self, app: &str, id: &str) -> Result<&Waiting> {
        let mut waits = self.waits.iter();
        match waits.find(|wait| wait.waiting.id == id && self.record.session.app == app) {
            None => Err(refuse::unknown_wait(id)),
            Some(wait) if wait.is_open() => Ok(&wait.waiting),
            Some(_) => Err(refuse::answered(id)),
        }
    }

    pub(super) fn resolve(&mut self, app: &str, id: &str, answer: Value) -> Result<()> {
        self.open_wait(app, id)?;
        let mut waits = self.waits.iter_mut();
        if let Some(wait) = waits.find(|wait| wait.waiting.id == id) {
            wait.answer = StoredAnswer::New(answer);
        }
        Ok(())
    }

    pub(super) fn withdraw(&mut self, claim: ClaimId, ids: &[String]) -> Result<()> {
        self.check_claim(claim)?;
        let is_meant = |wait: &StoredWait| ids.contains(&wait.waiting.id);
        self.waits
            .retain(|wait| !(wait.is_open() && is_meant(wait)));
        let answered = self.waits.iter_mut().filter(|wait| is_meant(wait));
        answered.for_each(|wait| wait.answer.mark_seen());
        Ok(())
    }
}
