//! [`Runs`]: the runs of a journal in memory, and their waits.

use super::super::{
    Claim, ClaimId, ClaimedRun, Done, DueWaits, RunFilter, RunInfo, RunRecord, RunState, RunStatus,
    Stored, Waiting, is_failure, refuse,
};
use crate::event::{Event, StateDelta};
use crate::model::Usage;
use crate::session::{Session, now_micros};
use crate::{Result, RunId};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::RangeBounds as _;
use std::sync::Arc;

/// All runs, with indexes for searches. Ids sort by time, so runs are in the order in which they
/// began.
#[derive(Debug, Default)]
pub(super) struct Runs {
    pub(super) all: BTreeMap<RunId, StoredRun>,
    /// Runs that can continue and that no process drives.
    pub(super) ready: BTreeSet<RunId>,
    /// Runs that have not ended.
    pub(super) open: BTreeSet<RunId>,
    /// Deadlines of open waits, each with the owner of the run and the id of the wait.
    pub(super) deadlines: BTreeSet<(RunOwner, u64, String)>,
}

/// The owner of the runs that a search selects.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum RunOwner {
    App(String),
    TenantsOf(String),
}

impl RunOwner {
    pub(super) fn app(name: &str) -> Self {
        Self::App(name.to_owned())
    }

    pub(super) fn tenants_of(app: &str) -> Self {
        Self::TenantsOf(app.to_owned())
    }

    fn owns(&self, record: &RunRecord) -> bool {
        match self {
            Self::App(app) => record.session.app == *app,
            Self::TenantsOf(app) => record.tenant_of.as_ref() == Some(app),
        }
    }
}

/// The stored data of a run.
#[derive(Debug)]
pub(super) struct StoredRun {
    pub(super) record: Arc<RunRecord>,
    /// The time when it began or was queued.
    pub(super) created: u64,
    /// The session; `None` before the first event.
    pub(super) session: Option<Arc<Session>>,
    pub(super) slots: HashMap<String, Stored>,
    pub(super) steps: HashMap<String, Value>,
    pub(super) done: Vec<Done>,
    pub(super) waits: Vec<StoredWait>,
    pub(super) status: RunStatus,
    /// The time when the status was written.
    pub(super) updated: u64,
    pub(super) usage: Option<Usage>,
    /// The number of the latest claim.
    pub(super) epoch: u64,
    pub(super) is_driven: bool,
}

/// A wait with its answer.
#[derive(Debug)]
pub(super) struct StoredWait {
    pub(super) waiting: Waiting,
    pub(super) answer: Option<Value>,
    /// Whether the run has been driven with the answer.
    pub(super) is_seen: bool,
}

impl Runs {
    /// Returns the run of a claim, if the claim is the current one.
    pub(super) fn claimed_run(&mut self, claim: ClaimId) -> Result<&mut StoredRun> {
        let run = self
            .all
            .get_mut(&claim.run_id)
            .ok_or_else(|| refuse::unknown_run(claim.run_id))?;
        if run.is_driven && run.epoch == claim.epoch {
            Ok(run)
        } else {
            Err(refuse::fenced(claim.run_id))
        }
    }

    /// Updates the indexes after a change of a run.
    pub(super) fn index(&mut self, id: RunId) {
        let Some(run) = self.all.get(&id) else { return };
        set_member(&mut self.ready, id, run.is_ready());
        set_member(&mut self.open, id, run.status.is_open());
    }

    /// Returns an open wait with its run. The id of a wait begins with the id of its run.
    pub(super) fn wait(&mut self, owner: &RunOwner, id: &str) -> Result<(RunId, &mut StoredWait)> {
        let unknown = || refuse::unknown_wait(id);
        let run_id = id
            .split('/')
            .next()
            .and_then(|run| run.parse::<RunId>().ok())
            .ok_or_else(unknown)?;
        let run = self
            .all
            .get_mut(&run_id)
            .filter(|run| owner.owns(&run.record));
        let wait = run.and_then(|run| run.waits.iter_mut().find(|wait| wait.waiting.id == id));
        match wait {
            None => Err(unknown()),
            Some(StoredWait {
                answer: Some(_), ..
            }) => Err(refuse::answered(id)),
            Some(wait) => Ok((run_id, wait)),
        }
    }

    /// Returns the runs that a filter selects.
    pub(super) fn select(
        &self,
        owner: RunOwner,
        filter: &RunFilter,
    ) -> impl Iterator<Item = &StoredRun> {
        let range = filter.range();
        let ids: Box<dyn DoubleEndedIterator<Item = &RunId>> = match (filter.run, filter.state) {
            (Some(run), _) => {
                let found = self
                    .all
                    .get_key_value(&run)
                    .filter(|_| range.contains(&run));
                Box::new(found.map(|(id, _)| id).into_iter())
            }
            (None, RunState::Ready) => Box::new(self.ready.range(range)),
            (None, RunState::Unfinished) => Box::new(self.open.range(range)),
            (None, _) => Box::new(self.all.range(range).map(|(id, _)| id)),
        };
        let ids: Box<dyn Iterator<Item = &RunId>> = if filter.oldest_first {
            Box::new(ids)
        } else {
            Box::new(ids.rev())
        };
        let has_state = move |run: &&StoredRun| match filter.state {
            RunState::Ready => run.is_ready(),
            RunState::Unfinished => run.status.is_open(),
            RunState::Finished => run.status == RunStatus::Finished,
            RunState::Failed => matches!(run.status, RunStatus::Failed(_)),
            RunState::Cancelled => run.status == RunStatus::Cancelled,
            RunState::Any => true,
        };
        let runs = ids.filter_map(|id| self.all.get(id)).filter(has_state);
        let runs = runs.filter(move |run| owner.owns(&run.record) && filter.selects(&run.record));
        runs.take(filter.limit.unwrap_or(usize::MAX))
    }

    /// Returns the waits whose deadline has passed, and the next deadline.
    pub(super) fn due(&mut self, owner: &RunOwner, now: u64, most: usize) -> DueWaits {
        let mut due = DueWaits::default();
        let mut gone = Vec::new();
        let first = (owner.clone(), 0, String::new());
        let deadlines: Vec<_> = self
            .deadlines
            .range(first..)
            .take(most + 1)
            .cloned()
            .collect();
        for entry in deadlines {
            let (entry_owner, deadline, id) = &entry;
            if entry_owner != owner {
                break;
            }
            match self.wait(owner, id) {
                // The wait was answered or withdrawn, or its run has ended. The second case is a
                // wait that was asked again with another deadline.
                Err(_) => gone.push(entry),
                Ok((_, wait)) if wait.waiting.deadline != Some(*deadline) => gone.push(entry),
                Ok(_) if *deadline > now || due.waits.len() == most => {
                    due.next = Some(*deadline);
                    break;
                }
                Ok((_, wait)) => due.waits.push(wait.waiting.clone()),
            }
        }
        for entry in gone {
            self.deadlines.remove(&entry);
        }
        due
    }
}

fn set_member(set: &mut BTreeSet<RunId>, id: RunId, is_in: bool) {
    if is_in {
        set.insert(id);
    } else {
        set.remove(&id);
    }
}

impl StoredRun {
    pub(super) fn new(record: Arc<RunRecord>, claim: ClaimId) -> Self {
        Self {
            created: record.time,
            updated: record.time,
            usage: None,
            status: if record.is_queued {
                RunStatus::Queued
            } else {
                RunStatus::Running
            },
            record,
            session: None,
            slots: HashMap::new(),
            steps: HashMap::new(),
            done: Vec::new(),
            waits: Vec::new(),
            epoch: claim.epoch,
            is_driven: true,
        }
    }

    /// Stores the whole record of a run, which comes with its first event.
    pub(super) fn begin(&mut self, record: Arc<RunRecord>, session: Arc<Session>) {
        (self.record, self.session) = (record, Some(session));
        if self.status == RunStatus::Queued {
            self.set_status(RunStatus::Running);
        }
    }

    /// Makes the next claim, and returns it with the stored journal.
    pub(super) fn claim(
        &mut self,
        release: impl FnOnce(ClaimId) + Send + Sync + 'static,
    ) -> ClaimedRun {
        self.epoch += 1;
        self.is_driven = true;
        if let RunStatus::Failed(_) = self.status {
            self.waits
                .retain(|wait| !wait.answer.as_ref().is_some_and(is_failure));
        }
        self.set_status(if self.record.is_queued {
            RunStatus::Queued
        } else {
            RunStatus::Running
        });
        self.waits
            .iter_mut()
            .for_each(|wait| wait.is_seen = wait.answer.is_some());
        let begins = usize::try_from(self.record.begins).unwrap_or(usize::MAX);
        let events = self.session.iter().flat_map(|session| {
            (begins..session.len()).filter_map(|place| session.event(place).cloned())
        });
        let events: Vec<Arc<Event>> = events.collect();
        let temps = self
            .slots
            .iter()
            .filter(|(_, stored)| !stored.temp.is_empty());
        let temp: HashMap<String, StateDelta> = temps
            .map(|(key, stored)| (key.clone(), stored.temp.clone()))
            .collect();
        let id = ClaimId {
            run_id: self.record.run_id,
            epoch: self.epoch,
        };
        let mut claimed = ClaimedRun::new(Claim::new(id, release), RunRecord::clone(&self.record));
        claimed.events = events;
        claimed.temp = temp;
        claimed.steps = self.steps.clone();
        claimed.done = self.done.clone();
        claimed.waits = self
            .waits
            .iter()
            .map(|wait| wait.waiting.id.clone())
            .collect();
        claimed
    }

    pub(super) fn set_status(&mut self, status: RunStatus) {
        (self.status, self.updated) = (status, now_micros());
    }

    /// Returns true if the run was cancelled while this claim was the current one.
    pub(super) fn was_cancelled_from(&self, claim: ClaimId) -> bool {
        self.status == RunStatus::Cancelled && self.epoch == claim.epoch + 1
    }

    fn is_ready(&self) -> bool {
        let answered = || {
            self.waits
                .iter()
                .any(|wait| wait.answer.is_some() && !wait.is_seen)
        };
        let could = match self.status {
            RunStatus::Queued | RunStatus::Running => true,
            RunStatus::Paused => answered(),
            RunStatus::Finished | RunStatus::Failed(_) | RunStatus::Cancelled => false,
        };
        could && !self.is_driven
    }

    pub(super) fn info(&self) -> RunInfo {
        let RunRecord {
            run_id,
            session,
            workflow,
            ..
        } = &*self.record;
        let info = RunInfo::new(
            *run_id,
            session.clone(),
            workflow.clone(),
            self.status.clone(),
            self.is_ready(),
        );
        info.at(self.created, self.updated).used(self.usage)
    }
}
