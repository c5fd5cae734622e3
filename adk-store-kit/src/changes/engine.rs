//! [`Stopping`]: an engine whose process stops at a point chosen by its [`Stage`].

use super::stage::{STEP, Stage};
use adk_build::engine::{
    Body, Claim, ClaimCheck, ClaimId, ClaimedRun, Done, DrivenRun, Engine, Journal, Reply,
    Retention, Roles, RunFilter, RunInfo, RunRecord, RunRegistry, RunStatus, Slot, StepKey, Stored,
    Wait, Waiting, is_failure,
};
use adk_build::model::UsageByAgent;
use adk_build::session::Location;
use adk_build::{BoxFuture, Result, RunId};
use serde_json::Value;
use std::sync::Arc;

/// A store with stop points: before and after each commit, before a call, between a call and its
/// record, after the record, before and after each answer, and before a run is claimed or closed.
#[derive(Clone)]
pub struct Stopping {
    inner: Arc<dyn Engine>,
    stage: Stage,
}

impl Stopping {
    pub fn new(inner: Arc<dyn Engine>, stage: Stage) -> Self {
        Self { inner, stage }
    }

    fn runs_of(&self) -> &dyn RunRegistry {
        self.inner
            .registry()
            .expect("the engine has a run registry")
    }
}

impl Journal for Stopping {
    fn commit<'a>(&'a self, slot: Slot, body: Body) -> Reply<'a, Result<Stored>> {
        Reply::Later(Box::pin(async move {
            self.stage.point().await;
            let stored = match self.inner.commit(slot, body) {
                Reply::Ready(stored) => stored,
                Reply::Later(stored) => stored.await,
            };
            for response in stored
                .iter()
                .flat_map(|stored| stored.event.function_responses())
            {
                self.stage.answer(&response.id);
            }
            self.stage.point().await;
            stored
        }))
    }

    fn step(
        &self,
        claim: ClaimId,
        key: StepKey,
        work: BoxFuture<'static, Result<Value>>,
    ) -> BoxFuture<'_, Result<Value>> {
        Box::pin(async move {
            self.stage.point().await;
            let (step, stage) = (self.stage.begin_step(), self.stage.clone());
            let work = STEP.scope(step, async move {
                let value = work.await;
                stage.point().await;
                value
            });
            let value = self.inner.step(claim, key, Box::pin(work)).await;
            if value.as_ref().is_ok_and(|value| !is_failure(value)) {
                self.stage.record_step(step);
            }
            self.stage.point().await;
            value
        })
    }

    fn answer(&self, claim: ClaimId, wait: Wait) -> BoxFuture<'_, Result<Option<Value>>> {
        Box::pin(async move {
            self.stage.point().await;
            let answer = self.inner.answer(claim, wait).await;
            self.stage.point().await;
            answer
        })
    }
}

impl Engine for Stopping {
    fn location(&self) -> Location {
        self.inner.location()
    }

    fn roles(&self) -> Roles<'_> {
        Roles {
            registry: Some(self),
            waits: self.inner.waits(),
            keys: self.inner.keys(),
            driver: None,
            remote: None,
            timers: None,
        }
    }

    fn retention(&self) -> Retention {
        self.inner.retention()
    }
}

impl RunRegistry for Stopping {
    fn claim(&self, run: RunId, check: ClaimCheck) -> BoxFuture<'_, Result<ClaimedRun>> {
        Box::pin(async move {
            self.stage.point().await;
            self.runs_of().claim(run, check).await
        })
    }

    fn enqueue(&self, claim: ClaimId, record: RunRecord) -> BoxFuture<'_, Result<Claim>> {
        self.runs_of().enqueue(claim, record)
    }

    fn finished(&self, claim: ClaimId, done: Vec<Done>) -> BoxFuture<'_, Result<()>> {
        self.runs_of().finished(claim, done)
    }

    fn close(
        &self,
        claim: ClaimId,
        status: RunStatus,
        usage: UsageByAgent,
    ) -> BoxFuture<'_, Result<()>> {
        Box::pin(async move {
            self.stage.point().await;
            self.runs_of().close(claim, status, usage).await
        })
    }

    fn cancel<'a>(&'a self, app: &'a str, run: RunId) -> BoxFuture<'a, Result<RunStatus>> {
        self.runs_of().cancel(app, run)
    }

    fn release(&self, claim: ClaimId) {
        self.runs_of().release(claim);
    }

    fn runs<'a>(
        &'a self,
        app: &'a str,
        filter: &'a RunFilter,
    ) -> BoxFuture<'a, Result<Vec<RunInfo>>> {
        self.runs_of().runs(app, filter)
    }

    fn runs_of_tenants<'a>(
        &'a self,
        app: &'a str,
        filter: &'a RunFilter,
    ) -> BoxFuture<'a, Result<Vec<RunInfo>>> {
        self.runs_of().runs_of_tenants(app, filter)
    }

    fn driven(&self, run: RunId, from: u64) -> BoxFuture<'_, Result<Option<DrivenRun>>> {
        self.runs_of().driven(run, from)
    }
}

/// Returns the open questions of a run.
pub async fn waits_of(engine: &dyn Engine, run: RunId) -> Vec<Waiting> {
    let waits = engine.waits().expect("the engine has a wait registry");
    waits.waiting("app", &RunFilter::of_run(run)).await.unwrap()
}
