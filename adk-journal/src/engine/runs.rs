//! [`Runs`]: stored runs in memory, with indexes for searches.

use super::filter::{RunFilter, RunState};
use super::refuse;
use super::registry::{DueWaits, RunRecord, Waiting};
use super::stored_run::StoredRun;
use crate::session::SessionKey;
use crate::{Result, RunId};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeBounds as _;

/// Stored runs in memory, with indexes for searches. Ids sort by time, so runs are in the order in
/// which they began.
#[derive(Debug, Default)]
pub struct Runs {
    all: BTreeMap<RunId, StoredRun>,
    /// The runs of each user, by app and user.
    of_users: BTreeMap<String, BTreeMap<String, BTreeSet<RunId>>>,
    /// Runs that can continue as soon as no process drives them.
    continuable: BTreeSet<RunId>,
    /// Runs that have not ended.
    open: BTreeSet<RunId>,
    /// Deadlines of open waits, each with an owner of the run and the id of the wait.
    deadlines: BTreeSet<(RunOwner, u64, String)>,
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

/// The entries of a run in the indexes.
#[derive(Default, PartialEq)]
struct Indexed {
    can_continue: bool,
    is_open: bool,
    deadlines: Vec<(RunOwner, u64, String)>,
}

impl Indexed {
    fn of(run: &StoredRun) -> Self {
        let mut deadlines = Vec::new();
        // An engine above watches the deadlines of its runs itself.
        for wait in run.open_waits().filter(|_| run.epoch > 0) {
            let Some(deadline) = wait.deadline else {
                continue;
            };
            let tenants = run.record.tenant_of.as_deref().map(RunOwner::tenants_of);
            let owners = tenants
                .into_iter()
                .chain([RunOwner::app(&run.session().app)]);
            deadlines.extend(owners.map(|owner| (owner, deadline, wait.id.clone())));
        }
        Self {
            can_continue: run.can_continue(),
            is_open: run.status.is_open(),
            deadlines,
        }
    }
}

/// The methods that a store calls.
impl Runs {
    /// Returns a run, if it is stored.
    pub fn get(&self, id: RunId) -> Option<&StoredRun> {
        self.all.get(&id)
    }

    /// Inserts or replaces a run.
    pub fn insert(&mut self, run: StoredRun) {
        let (id, new) = (run.id(), Indexed::of(&run));
        let SessionKey { app, user, .. } = run.session();
        match self.of_users.get_mut(app).and_then(|of| of.get_mut(user)) {
            Some(runs) => drop(runs.insert(id)),
            None => {
                let of_app = self.of_users.entry(app.clone()).or_default();
                of_app.insert(user.clone(), BTreeSet::from([id]));
            }
        }
        let old = self.all.insert(id, run);
        let old = old.as_ref().map(Indexed::of).unwrap_or_default();
        self.index(id, old, new);
    }

    /// Changes a run in place.
    ///
    /// # Errors
    /// [`refuse::unknown_run`]; the error of `change`.
    pub fn change<T>(
        &mut self,
        id: RunId,
        change: impl FnOnce(&mut StoredRun) -> Result<T>,
    ) -> Result<T> {
        let run = self.all.get_mut(&id);
        let run = run.ok_or_else(|| refuse::unknown_run(id))?;
        let old = Indexed::of(run);
        let changed = change(run);
        let new = Indexed::of(run);
        self.index(id, old, new);
        changed
    }

    /// Returns those of these runs of an app that have ended before a time, in microseconds
    /// since 1970.
    pub fn ended_before(&self, app: &str, runs: &[RunId], before: u64) -> Vec<RunId> {
        let has_ended = |run: &&StoredRun| {
            run.session().app == app && !run.status.is_open() && run.updated < before
        };
        let ended = runs
            .iter()
            .filter_map(|run| self.get(*run))
            .filter(has_ended);
        ended.map(StoredRun::id).collect()
    }

    /// Removes runs.
    pub fn remove(&mut self, runs: &[RunId]) {
        for id in runs {
            let Some(run) = self.all.remove(id) else {
                continue;
            };
            self.index(*id, Indexed::of(&run), Indexed::default());
            let SessionKey { app, user, .. } = run.session();
            if let Some(of_app) = self.of_users.get_mut(app)
                && let Some(runs) = of_app.get_mut(user)
            {
                runs.remove(id);
                if runs.is_empty() {
                    of_app.remove(user);
                }
            }
        }
    }

    /// Removes the runs of a session.
    pub fn remove_session(&mut self, key: &SessionKey) {
        let runs = self.of_user(&key.app, &key.user).into_iter().flatten();
        let is_of_session = |id: &&RunId| self.all.get(id).is_some_and(|run| run.session() == key);
        let runs: Vec<_> = runs.filter(is_of_session).copied().collect();
        self.remove(&runs);
    }
}

impl Runs {
    /// Updates the indexes after a change of a run.
    fn index(&mut self, id: RunId, old: Indexed, new: Indexed) {
        if old == new {
            return;
        }
        set_member(&mut self.continuable, id, new.can_continue);
        set_member(&mut self.open, id, new.is_open);
        for deadline in &old.deadlines {
            self.deadlines.remove(deadline);
        }
        self.deadlines.extend(new.deadlines);
    }

    fn of_user(&self, app: &str, user: &str) -> Option<&BTreeSet<RunId>> {
        self.of_users.get(app)?.get(user)
    }

    /// Returns the runs that a filter selects. The search goes through the runs of the user, the
    /// open runs or all runs, in the order of the list.
    pub(super) fn select<'a>(
        &'a self,
        owner: &'a RunOwner,
        filter: &'a RunFilter,
        is_ready: impl Fn(&StoredRun) -> bool + 'a,
    ) -> impl Iterator<Item = &'a StoredRun> {
        let range = filter.range();
        let open = match filter.state {
            RunState::Ready => Some(&self.continuable),
            RunState::Unfinished | RunState::Queued | RunState::Running | RunState::Paused => {
                Some(&self.open)
            }
            _ => None,
        };
        let of_user = match (owner, &filter.user) {
            (RunOwner::App(app), Some(user)) => Some(self.of_user(app, user)),
            _ => None,
        };
        let smallest = match (open, of_user) {
            (Some(open), Some(Some(runs))) if runs.len() > open.len() => Some(open),
            (_, Some(None)) => Some(const { &BTreeSet::new() }),
            (_, Some(runs)) => runs,
            (open, None) => open,
        };
        let ids: Box<dyn DoubleEndedIterator<Item = &RunId>> = match (&filter.run, smallest) {
            (Some(run), _) => Box::new(Some(run).filter(|run| range.contains(*run)).into_iter()),
            (None, Some(runs)) => Box::new(runs.range(range)),
            (None, None) => Box::new(self.all.range(range).map(|(id, _)| id)),
        };
        let ids: Box<dyn Iterator<Item = &RunId>> = if filter.oldest_first {
            Box::new(ids)
        } else {
            Box::new(ids.rev())
        };
        let has_state = move |run: &StoredRun| {
            filter.state.has(&run.status) && (filter.state != RunState::Ready || is_ready(run))
        };
        let runs = ids.filter_map(|id| self.all.get(id)).filter(move |run| {
            let record = &run.record;
            owner.owns(record)
                && filter.selects(record)
                && filter.selects_change(run.updated, run.id())
                && has_state(run)
        });
        let runs: Box<dyn Iterator<Item = &StoredRun>> = if filter.by_change {
            let mut runs: Vec<_> = runs.collect();
            runs.sort_unstable_by_key(|run| Reverse((run.updated, run.id())));
            Box::new(runs.into_iter())
        } else {
            Box::new(runs)
        };
        runs.take(filter.limit.unwrap_or(usize::MAX))
    }

    /// Returns an open wait of an app.
    pub(super) fn open_wait(&self, app: &str, id: &str) -> Result<&Waiting> {
        let run = run_of_wait(id).and_then(|run| self.all.get(&run));
        run.ok_or_else(|| refuse::unknown_wait(id))?
            .open_wait(app, id)
    }

    /// Returns the waits whose deadline has passed, and the next deadline.
    pub(super) fn due(&self, owner: RunOwner, now: u64, most: usize) -> DueWaits {
        let mut due = DueWaits::default();
        let first = (owner, 0, String::new());
        for entry in self.deadlines.range(&first..) {
            let (owner, deadline, id) = entry;
            let run = run_of_wait(id).and_then(|run| self.all.get(&run));
            let wait = run.and_then(|run| run.open_waits().find(|wait| wait.id == *id));
            let Some(wait) = wait.filter(|_| *owner == first.0) else {
                break;
            };
            if !due.add(*deadline, Some(wait.clone()), now, most) {
                break;
            }
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

/// Returns the run of a wait: the id of a wait begins with the id of its run.
pub(super) fn run_of_wait(id: &str) -> Option<RunId> {
    id.split('/').next()?.parse().ok()
}
