//! Runs, and branches of a run, that execute in another process.

use super::{KeyScope, Run, RunConfig, Services};
use crate::encode::to_json;
use crate::store::engine::{BranchReport, BranchTask, ClaimId, Engine, RunRecord, Stored};
use crate::store::session::Session;
use crate::sync::{lock, read};
use crate::{BoxFuture, Name, Path, Result};
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

/// The report of a branch, when it has come back.
pub(crate) type Report = BoxFuture<'static, Result<BranchReport>>;

impl Run {
    /// A branch of another run: it begins where that one stood.
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
        run.claim = ClaimId { run_id: task.run_id, epoch: task.epoch };
        run.is_branch = true;
        run.trace_parent = task.trace.as_deref().map(Box::from);
        run.places = task.upto.into();
        run.llm_calls = task.calls.into();
        for (key, value) in task.temp.iter() {
            run.set_temp(key.clone(), value.clone());
        }
        run
    }

    /// The task of a remote branch, without the writes of its scopes.
    pub(crate) fn branch_task(&self, workflow: Name, path: Path, branch: Arc<str>) -> BranchTask {
        let session = self.session();
        let state = match self.own() {
            Some(own) => own.visible_state(session.state()),
            None => session.state(),
        };
        BranchTask {
            run_id: self.id,
            epoch: self.claim.epoch,
            session: session.key().clone(),
            workflow,
            path,
            branch,
            state: state.into_iter().collect(),
            temp: read(&self.delivery.temp).clone().into_iter().collect(),
            written: Vec::new(),
            upto: self.places.load(Relaxed).max(if self.is_branch { 0 } else { session.len() as u64 }),
            calls: self.llm_calls.load(Relaxed),
            config: to_json(&self.config).unwrap_or_default(),
            trace: None,
        }
    }

    /// An event is at this place in the log.
    pub(crate) fn saw(&self, place: u64) {
        if self.engine.remote().is_some() {
            self.places.fetch_max(place + 1, Relaxed);
        }
    }

    /// A run that another process drives, as it began.
    pub(crate) fn followed(&mut self, record: &RunRecord) {
        (self.id, self.claim) = (record.run_id, ClaimId::driven_above(record.run_id));
        self.began = record.begins;
    }

    /// What was committed elsewhere before anybody followed here.
    pub(crate) fn was_told(&self, stored: Stored) {
        self.session().append_stored(stored.event);
        stored.temp.into_iter().for_each(|(key, value)| self.set_temp(key, value));
    }

    /// The block of a branch was dropped before the branch came back.
    pub(crate) fn leave_behind(&self, report: Report, scope: Option<Arc<KeyScope>>) {
        lock(&self.left).push((report, scope));
    }

    /// The branches that were left so far.
    pub(crate) fn left_behind(&self) -> Vec<(Report, Option<Arc<KeyScope>>)> {
        std::mem::take(&mut *lock(&self.left))
    }

    /// What a branch has committed elsewhere comes into the session here; returns its place in the outbox.
    pub(crate) fn joined(&self, stored: Stored, scope: Option<&KeyScope>) -> u64 {
        let Stored { place, event, temp, .. } = stored;
        self.saw(place);
        self.delivery.note(&event, &temp, self.session(), self.own());
        self.session().append_stored(event.clone());
        self.delivery.record(&event);
        for (key, _) in event.actions.state_delta.iter().chain(temp.iter()) {
            if let Some(scope) = scope {
                scope.wrote(key);
            }
        }
        for (key, value) in temp.into_iter() {
            self.set_temp(key, value);
        }
        self.outbox().push(event)
    }
}
