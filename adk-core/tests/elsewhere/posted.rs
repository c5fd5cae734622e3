//! [`Posted`]: the engine that agents see. It owns no data and posts every effect.

use super::log::Log;
use adk_build::engine::{
    Body, BranchReport, BranchTask, Claim, ClaimCheck, ClaimId, ClaimedRun, Done, DrivenRun,
    Engine, Journal, RemoteBranches, Reply, Retention, Roles, RunFilter, RunInfo, RunRecord,
    RunRegistry, RunStatus, Slot, StepKey, Stored, Wait,
};
use adk_build::model::UsageByAgent;
use adk_build::session::Location;
use adk_build::{BoxFuture, Error, ErrorKind, Result, RunId};
use serde_json::Value;
use tokio::sync::{mpsc, oneshot};

type Answer<T> = oneshot::Sender<Result<T>>;

pub enum Effect {
    Commit(Slot, Body, Answer<Stored>),
    Step(StepKey, BoxFuture<'static, Result<Value>>, Answer<Value>),
    Wait(Box<Wait>, Answer<Option<Value>>),
    /// A branch as JSON, which is all that another process receives.
    Branch(Value, BoxFuture<'static, ()>, Answer<BranchReport>),
    Claim(RunId, ClaimCheck, Answer<ClaimedRun>),
}

pub struct Posted {
    to: mpsc::UnboundedSender<Effect>,
    log: Log,
}

impl Posted {
    pub fn new(log: Log) -> (Self, mpsc::UnboundedReceiver<Effect>) {
        let (to, from) = mpsc::unbounded_channel();
        (Self { to, log }, from)
    }

    fn post<T: Send + 'static>(
        &self,
        make: impl FnOnce(Answer<T>) -> Effect,
    ) -> BoxFuture<'static, Result<T>> {
        let (reply, answer) = oneshot::channel();
        let sent = self.to.send(make(reply)).is_ok();
        Box::pin(async move {
            match answer.await {
                Ok(value) if sent => value,
                // The handler is gone, so this task must not continue.
                _ => std::future::pending().await,
            }
        })
    }
}

impl Journal for Posted {
    fn commit<'a>(&'a self, slot: Slot, body: Body) -> Reply<'a, Result<Stored>> {
        Reply::Later(self.post(|reply| Effect::Commit(slot, body, reply)))
    }
    fn step(
        &self,
        _: ClaimId,
        key: StepKey,
        work: BoxFuture<'static, Result<Value>>,
    ) -> BoxFuture<'_, Result<Value>> {
        self.post(|reply| Effect::Step(key, work, reply))
    }
    fn answer(&self, _: ClaimId, wait: Wait) -> BoxFuture<'_, Result<Option<Value>>> {
        self.post(|reply| Effect::Wait(Box::new(wait), reply))
    }
}

impl Engine for Posted {
    fn retention(&self) -> Retention {
        Retention::Durable
    }
    fn location(&self) -> Location {
        Location::Memory
    }
    fn roles(&self) -> Roles<'_> {
        Roles {
            registry: Some(self),
            waits: None,
            keys: None,
            driver: None,
            remote: Some(self),
            timers: None,
        }
    }
}

impl RunRegistry for Posted {
    fn enqueue(&self, claim: ClaimId, _: RunRecord) -> BoxFuture<'_, Result<Claim>> {
        Box::pin(async move { Ok(Claim::unfenced(claim.run_id)) })
    }
    fn claim(&self, run: RunId, check: ClaimCheck) -> BoxFuture<'_, Result<ClaimedRun>> {
        self.post(|reply| Effect::Claim(run, check, reply))
    }
    fn finished(&self, _: ClaimId, _: Vec<Done>) -> BoxFuture<'_, Result<()>> {
        Box::pin(async { Ok(()) })
    }
    fn close(&self, _: ClaimId, _: RunStatus, _: UsageByAgent) -> BoxFuture<'_, Result<()>> {
        Box::pin(async { Ok(()) })
    }
    fn cancel<'a>(&'a self, _: &'a str, run: RunId) -> BoxFuture<'a, Result<RunStatus>> {
        Box::pin(async move { Err(unknown(run)) })
    }
    fn release(&self, _: ClaimId) {}
    fn runs<'a>(&'a self, _: &'a str, _: &'a RunFilter) -> BoxFuture<'a, Result<Vec<RunInfo>>> {
        Box::pin(async { Ok(Vec::new()) })
    }
    fn runs_of_tenants<'a>(
        &'a self,
        _: &'a str,
        _: &'a RunFilter,
    ) -> BoxFuture<'a, Result<Vec<RunInfo>>> {
        Box::pin(async { Ok(Vec::new()) })
    }
    fn driven(&self, _: RunId, _: u64) -> BoxFuture<'_, Result<Option<DrivenRun>>> {
        Box::pin(async { Ok(None) })
    }
}

impl RemoteBranches for Posted {
    fn offer(
        &self,
        task: BranchTask,
        cancelled: BoxFuture<'static, ()>,
    ) -> Option<BoxFuture<'static, Result<BranchReport>>> {
        // Every fourth branch runs locally, so that local and remote branches meet in one block.
        if self.log.count_branch() % 4 == 3 {
            return None;
        }
        let task = serde_json::to_value(task).unwrap();
        Some(self.post(|reply| Effect::Branch(task, cancelled, reply)))
    }
}

pub fn unknown(run: RunId) -> Error {
    Error::new(ErrorKind::UnknownRun, format!("no run `{run}`"))
}
