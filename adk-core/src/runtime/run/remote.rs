//! Runs that another process drives, and remote branches of a run.

use super::{KeyScope, Run, RunConfig, RunIdentity, RunKind, RunLimits, Services};
use crate::encode::to_json;
use crate::store::engine::{BranchTask, ClaimId, Engine, Stored};
use crate::store::session::Session;
use crate::sync::read;
use crate::{Name, Path};
use std::sync::Arc;

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
        let claim = ClaimId {
            run_id: task.run_id,
            epoch: task.epoch,
        };
        let limits = RunLimits::new(config);
        limits.count_earlier_calls(task.calls);
        let run = Self::new(
            RunKind::of_branch(task),
            RunIdentity::new(claim, task.trace.as_deref().map(Box::from)),
            session,
            engine,
            services,
            limits,
        );
        for (key, value) in task.temp.iter() {
            run.delivery.set_temp(key.clone(), value.clone());
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
        let mut task = BranchTask::new(self.id(), session.key().clone(), workflow, path, branch);
        task.epoch = self.identity.claim.epoch;
        task.state = state.into_iter().collect();
        task.temp = read(&self.delivery.temp).clone().into_iter().collect();
        let seen = match &self.kind {
            RunKind::Branch(branch) => branch.upto,
            _ => session.len() as u64,
        };
        task.upto = self.progress.places().max(seen);
        task.calls = self.limits.llm_calls();
        task.config = to_json(&self.limits.config).unwrap_or_default();
        task
    }

    /// Notes the place of an event in the log, if branches may run in other processes.
    pub(crate) fn note_place(&self, place: u64) {
        if self.engine.remote().is_some() {
            self.progress.note_place(place);
        }
    }

    /// Applies an event that the driving process committed before this process followed the run.
    pub(crate) fn apply_committed(&self, stored: Stored) {
        self.session().append_stored(stored.event);
        stored
            .temp
            .into_iter()
            .for_each(|(key, value)| self.delivery.set_temp(key, value));
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
            self.delivery.set_temp(key, value);
        }
        self.outbox().push(event)
    }
}
