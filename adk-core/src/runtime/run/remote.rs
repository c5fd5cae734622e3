//! Runs that another process drives, and remote branches of a run.

use super::{KeyScope, Run, RunConfig, Services};
use crate::encode::to_json;
use crate::store::engine::{BranchReport, BranchTask, ClaimId, Engine, RunRecord, Stored};
use crate::store::session::Session;
use crate::sync::{lock, read};
use crate::{BoxFuture, Name, Path, Result};
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

/// The future report of a remote branch.
pub(crate) type PendingReport = BoxFuture<'static, Result<BranchReport>>;

impl Run {
    /// Creates the run of a remote branch, which begins with the state of the run that sent it.
    pub(crate) fn branch(
        task: &BranchTask,
        live: &Arc<Session>,
        engine: Arc<dyn Engine>,
        config: RunConfig,
        services: Arc<Services>,
    ) -> Self {
        let upto = usize::try_from(task.upto).unwrap_or(usize::MAX);
        let session = Arc::new(live.restored_at(&task.state, upto));
        let mut run = Self::new(session, engine, config, services);
        run.id = task.run_id;
        run.claim = ClaimId {
            run_id: task.run_id,
            epoch: task.epoch,
        };
        run.is_branch = true;
        run.trace_parent = task.trace.as_deref().map(Box::from);
        run.places = task.upto.into();
        run.llm_calls = task.calls.into();
        for (key, value) in task.temp.iter() {
            run.set_temp(key.clone(), value.clone());
        }
        run
    }

    /// Creates the task of a remote branch, without the writes of its scopes.
    pub(crate) fn branch_task(&self, workflow: Name, path: Path, branch: Arc<str>) -> BranchTask {
        let session = self.session();
        let state = match self.own_keys() {
            Some(own) => own.visible_state(session.state()),
            None => session.state(),
        };
        let mut task = BranchTask::new(self.id, session.key().clone(), workflow, path, branch);
        task.epoch = self.claim.epoch;
        task.state = state.into_iter().collect();
        task.temp = read(&self.delivery.temp).clone().into_iter().collect();
        task.upto = self.places.load(Relaxed).max(if self.is_branch {
            0
        } else {
            session.len() as u64
        });
        task.calls = self.llm_calls.load(Relaxed);
        task.config = to_json(&self.config).unwrap_or_default();
        task
    }

    /// Notes the place of an event in the log, if branches may run in other processes.
    pub(crate) fn note_place(&self, place: u64) {
        if self.engine.remote().is_some() {
            self.places.fetch_max(place + 1, Relaxed);
        }
    }

    /// Makes this run follow one that another process drives.
    pub(crate) fn follow(&mut self, record: &RunRecord) {
        (self.id, self.claim) = (record.run_id, ClaimId::driven_above(record.run_id));
        self.began = record.begins;
    }

    /// Applies an event that the driving process committed before this process followed the run.
    pub(crate) fn apply_committed(&self, stored: Stored) {
        self.session().append_stored(stored.event);
        stored
            .temp
            .into_iter()
            .for_each(|(key, value)| self.set_temp(key, value));
    }

    /// Keeps the future report of a remote branch whose block was dropped before the report came.
    pub(crate) fn keep_report(&self, report: PendingReport, scope: Option<Arc<KeyScope>>) {
        lock(&self.left).push((report, scope));
    }

    /// Takes the reports of remote branches whose blocks were dropped.
    pub(crate) fn take_reports(&self) -> Vec<(PendingReport, Option<Arc<KeyScope>>)> {
        std::mem::take(&mut *lock(&self.left))
    }

    /// Adds an event that a remote branch has committed to this session, and returns its position
    /// in the queue of events for the consumer.
    pub(crate) fn join_event(&self, stored: Stored, scope: Option<&KeyScope>) -> u64 {
        let Stored {
            place, event, temp, ..
        } = stored;
        self.note_place(place);
        self.delivery
            .note(&event, &temp, self.session(), self.own_keys());
        self.session().append_stored(event.clone());
        self.delivery.record(&event);
        for (key, _) in event.actions.state_delta.iter().chain(temp.iter()) {
            if let Some(scope) = scope {
                scope.mark_written(key);
            }
        }
        for (key, value) in temp.into_iter() {
            self.set_temp(key, value);
        }
        self.outbox().push(event)
    }
}
