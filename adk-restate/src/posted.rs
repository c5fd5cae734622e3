//! [`Posted`]: the engine that the agents of a run on Restate use. It posts each request to the
//! handler that [serves](crate::serve) the run. A request that gets no reply stays pending.

use crate::local::Local;
use adk_core::engine::{
    Body, BranchReport, BranchTask, Claim, ClaimCheck, ClaimId, ClaimedRun, Done, DrivenRun,
    Engine, Journal, RemoteBranches, Reply, Retention, Roles, RunFilter, RunInfo, RunRecord,
    RunRegistry, RunStatus, Slot, StepKey, Stored, TimerKind, Timers, Wait, refuse,
};
use adk_core::model::UsageByAgent;
use adk_core::session::Location;
use adk_core::{BoxFuture, Error, Result, RunId};
use serde_json::Value;
use std::future::{pending, ready};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{mpsc, oneshot};

pub(crate) type Answer<T> = oneshot::Sender<T>;

/// An event to commit, with the slot that it fills.
pub(crate) type Commit = Box<(Slot, Body)>;

/// A request of an agent.
pub(crate) enum Effect {
    Commit(Commit, Answer<Result<Stored>>),
    Step(
        StepKey,
        BoxFuture<'static, Result<Value>>,
        Answer<Result<Value>>,
    ),
    Wait(Box<Wait>, Answer<Result<Option<Value>>>),
    Branch(
        Box<BranchTask>,
        BoxFuture<'static, ()>,
        Answer<Result<BranchReport>>,
    ),
    Sleep(StepKey, Duration, TimerKind, Answer<()>),
}

pub(crate) struct Posted {
    to: mpsc::UnboundedSender<Effect>,
    local: Local,
    store: Arc<dyn Engine>,
    /// The record of the run, if an earlier attempt has begun the run.
    record: Option<RunRecord>,
}

impl Posted {
    pub(crate) fn new(
        store: Arc<dyn Engine>,
        local: Local,
        record: Option<RunRecord>,
    ) -> (Self, mpsc::UnboundedReceiver<Effect>) {
        let (to, from) = mpsc::unbounded_channel();
        (
            Self {
                to,
                local,
                store,
                record,
            },
            from,
        )
    }

    fn post<T: Send + 'static>(
        &self,
        effect: impl FnOnce(Answer<T>) -> Effect,
    ) -> BoxFuture<'static, T> {
        let (answer, reply) = oneshot::channel();
        let _ = self.to.send(effect(answer));
        Box::pin(async move {
            match reply.await {
                Ok(reply) => reply,
                // The handler has ended, so the agent must not continue.
                Err(_) => pending().await,
            }
        })
    }
}

impl Journal for Posted {
    fn commit<'a>(&'a self, slot: Slot, body: Body) -> Reply<'a, Result<Stored>> {
        Reply::Later(self.post(|answer| Effect::Commit(Box::new((slot, body)), answer)))
    }

    fn step(
        &self,
        _: ClaimId,
        key: StepKey,
        work: BoxFuture<'static, Result<Value>>,
    ) -> BoxFuture<'_, Result<Value>> {
        self.post(|answer| Effect::Step(key, work, answer))
    }

    fn answer(&self, _: ClaimId, wait: Wait) -> BoxFuture<'_, Result<Option<Value>>> {
        self.post(|answer| Effect::Wait(Box::new(wait), answer))
    }
}

impl Engine for Posted {
    fn retention(&self) -> Retention {
        Retention::Durable
    }

    fn location(&self) -> Location {
        self.store.location()
    }

    fn roles(&self) -> Roles<'_> {
        Roles {
            registry: Some(self),
            waits: None,
            keys: None,
            driver: None,
            remote: Some(self),
            timers: Some(self),
        }
    }
}

/// The handler itself writes the status of the run, so most calls do nothing.
impl RunRegistry for Posted {
    fn enqueue(&self, claim: ClaimId, _: RunRecord) -> BoxFuture<'_, Result<Claim>> {
        Box::pin(ready(Ok(Claim::unfenced(claim.run_id))))
    }

    fn claim(&self, run: RunId, check: ClaimCheck) -> BoxFuture<'_, Result<ClaimedRun>> {
        let record = self.record.as_ref().ok_or_else(|| refuse::unknown_run(run));
        let claimed = record
            .and_then(|record| check(record).map(|()| ClaimedRun::starting_over(record.clone())));
        Box::pin(ready(claimed))
    }

    fn finished(&self, _: ClaimId, _: Vec<Done>) -> BoxFuture<'_, Result<()>> {
        Box::pin(ready(Ok(())))
    }

    fn close(&self, _: ClaimId, _: RunStatus, _: UsageByAgent) -> BoxFuture<'_, Result<()>> {
        Box::pin(ready(Ok(())))
    }

    fn cancel<'a>(&'a self, _: &'a str, run: RunId) -> BoxFuture<'a, Result<RunStatus>> {
        Box::pin(ready(Err(refuse::unknown_run(run))))
    }

    fn release(&self, _: ClaimId) {}

    fn runs<'a>(
        &'a self,
        app: &'a str,
        filter: &'a RunFilter,
    ) -> BoxFuture<'a, Result<Vec<RunInfo>>> {
        match self.store.registry() {
            Some(registry) => self.local.count(registry.runs(app, filter)),
            None => Box::pin(ready(Ok(Vec::new()))),
        }
    }

    /// A process that serves one run does not search for other runs.
    fn runs_of_tenants<'a>(
        &'a self,
        _: &'a str,
        _: &'a RunFilter,
    ) -> BoxFuture<'a, Result<Vec<RunInfo>>> {
        Box::pin(ready(Ok(Vec::new())))
    }

    fn driven(&self, _: RunId, _: u64) -> BoxFuture<'_, Result<Option<DrivenRun>>> {
        Box::pin(ready(Ok(None)))
    }
}

impl RemoteBranches for Posted {
    fn offer(
        &self,
        task: BranchTask,
        cancelled: BoxFuture<'static, ()>,
    ) -> Option<BoxFuture<'static, Result<BranchReport>>> {
        Some(self.post(|answer| Effect::Branch(Box::new(task), cancelled, answer)))
    }
}

impl Timers for Posted {
    fn sleep(&self, key: StepKey, time: Duration, kind: TimerKind) -> BoxFuture<'static, ()> {
        self.post(|answer| Effect::Sleep(key, time, kind, answer))
    }
}

/// Reports whether an error makes only this attempt fail, and not the run. The cause is a failure
/// of the store that may end or that an operator repairs, or another version of the program than
/// the run needs. Restate makes another attempt, and the run continues when the cause is gone.
pub(crate) fn fails_attempt(error: &Error) -> bool {
    use adk_core::ErrorKind::{Diverged, Store, TopologyChanged};
    use adk_core::StoreErrorKind::{
        Corrupt, Full, Locked, Misplaced, OutcomeUnknown, ReadOnly, Unavailable,
    };
    matches!(
        error.kind(),
        Diverged
            | TopologyChanged
            | Store(Corrupt | Full | Locked | Misplaced | OutcomeUnknown | ReadOnly | Unavailable)
    )
}
