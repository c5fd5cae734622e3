//! [`Above`]: an engine above a store.

use crate::place::OpenStore;
use adk_build::engine::{
    Body, BranchReport, BranchTask, Claim, ClaimCheck, ClaimId, ClaimedRun, Done, DrivenRun,
    Engine, Journal, RemoteBranches, Reply, Retention, Roles, RunFilter, RunInfo, RunRecord,
    RunRegistry, RunStatus, Slot, StepKey, Stored, Wait, refuse,
};
use adk_build::model::UsageByAgent;
use adk_build::session::Location;
use adk_build::{BoxFuture, Result, RunId, Runner};
use serde_json::Value;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

/// An engine above a store: all processes share its claim, and a started run is executed from its
/// beginning.
pub(super) struct Above {
    pub store: OpenStore,
    /// The process that executes every second branch.
    pub other: Option<Runner>,
    pub offers: AtomicUsize,
}

impl Journal for Above {
    fn commit<'a>(&'a self, slot: Slot, body: Body) -> Reply<'a, Result<Stored>> {
        assert!(slot.claim().is_driven_above());
        self.store.engine.commit(slot, body)
    }
    fn step(
        &self,
        claim: ClaimId,
        key: StepKey,
        work: BoxFuture<'static, Result<Value>>,
    ) -> BoxFuture<'_, Result<Value>> {
        self.store.engine.step(claim, key, work)
    }
    fn answer(&self, claim: ClaimId, wait: Wait) -> BoxFuture<'_, Result<Option<Value>>> {
        self.store.engine.answer(claim, wait)
    }
}

impl Engine for Above {
    fn retention(&self) -> Retention {
        Retention::Durable
    }
    fn location(&self) -> Location {
        self.store.engine.location()
    }
    fn roles(&self) -> Roles<'_> {
        Roles {
            registry: Some(self),
            waits: self.store.engine.waits(),
            keys: self.store.engine.keys(),
            driver: None,
            remote: self.other.is_some().then_some(self),
            timers: None,
        }
    }
}

impl RunRegistry for Above {
    fn enqueue(&self, claim: ClaimId, record: RunRecord) -> BoxFuture<'_, Result<Claim>> {
        self.store.registry().enqueue(claim, record)
    }
    fn claim(&self, run: RunId, check: ClaimCheck) -> BoxFuture<'_, Result<ClaimedRun>> {
        Box::pin(async move {
            let driven = self.store.registry().driven(run, 0).await?;
            let record = driven.ok_or_else(|| refuse::unknown_run(run))?.record;
            check(&record)?;
            Ok(ClaimedRun::starting_over(record))
        })
    }
    fn finished(&self, claim: ClaimId, done: Vec<Done>) -> BoxFuture<'_, Result<()>> {
        self.store.registry().finished(claim, done)
    }
    fn close(
        &self,
        claim: ClaimId,
        status: RunStatus,
        usage: UsageByAgent,
    ) -> BoxFuture<'_, Result<()>> {
        self.store.registry().close(claim, status, usage)
    }
    fn cancel<'a>(&'a self, app: &'a str, run: RunId) -> BoxFuture<'a, Result<RunStatus>> {
        self.store.registry().cancel(app, run)
    }
    fn release(&self, claim: ClaimId) {
        self.store.registry().release(claim);
    }
    fn runs<'a>(
        &'a self,
        app: &'a str,
        filter: &'a RunFilter,
    ) -> BoxFuture<'a, Result<Vec<RunInfo>>> {
        self.store.registry().runs(app, filter)
    }
    fn runs_of_tenants<'a>(
        &'a self,
        app: &'a str,
        filter: &'a RunFilter,
    ) -> BoxFuture<'a, Result<Vec<RunInfo>>> {
        self.store.registry().runs_of_tenants(app, filter)
    }
    fn driven(&self, run: RunId, from: u64) -> BoxFuture<'_, Result<Option<DrivenRun>>> {
        self.store.registry().driven(run, from)
    }
}

impl RemoteBranches for Above {
    fn offer(
        &self,
        task: BranchTask,
        _: BoxFuture<'static, ()>,
    ) -> Option<BoxFuture<'static, Result<BranchReport>>> {
        let other = self.other.clone()?;
        if self.offers.fetch_add(1, SeqCst).is_multiple_of(2) {
            return None;
        }
        Some(Box::pin(async move {
            let (run, upto, path) = (task.run_id, task.upto, task.path.to_string());
            let ended = other.branch_by_name(task)?.await;
            let registry = other
                .engine()
                .registry()
                .expect("the engine has a run registry");
            let driven = registry
                .driven(run, upto)
                .await?
                .ok_or_else(|| refuse::unknown_run(run))?;
            let own = driven
                .events
                .into_iter()
                .filter(|(slot, _)| slot.starts_with(&path));
            Ok(adk_build::Outcome::branch_report(
                ended,
                own.map(|(_, stored)| stored).collect(),
            ))
        }))
    }
}
