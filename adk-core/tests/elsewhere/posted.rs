//! The engine that agents see: it owns nothing and posts every effect.

use super::log::Log;
use adk_core::engine::{
    Body, ClaimCheck, ClaimId, ClaimedRun, Engine, Fork, Joined, Reply, RunStatus, Slot, StepKey, Stored,
    Wait,
};
use adk_core::{BoxFuture, Error, ErrorKind, Result, RunId};
use serde_json::Value;
use tokio::sync::{mpsc, oneshot};

type Answer<T> = oneshot::Sender<Result<T>>;

pub enum Effect {
    Commit(Slot, Body, Answer<Stored>),
    Step(StepKey, BoxFuture<'static, Result<Value>>, Answer<Value>),
    Wait(Wait, Answer<Option<Value>>),
    /// As JSON, which is all that another process gets.
    Fork(Value, BoxFuture<'static, ()>, Answer<Joined>),
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
                // The handler is gone: nothing may happen here after this.
                _ => std::future::pending().await,
            }
        })
    }
}

impl Engine for Posted {
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
        self.post(|reply| Effect::Wait(wait, reply))
    }
    fn forks(&self) -> bool {
        true
    }
    fn fork(&self, fork: Fork, cancelled: BoxFuture<'static, ()>) -> Option<BoxFuture<'_, Result<Joined>>> {
        // Every fourth branch runs here, so that both ways meet in one block.
        if self.log.forked() % 4 == 3 {
            return None;
        }
        let fork = serde_json::to_value(fork).unwrap();
        Some(self.post(|reply| Effect::Fork(fork, cancelled, reply)))
    }
    fn claim(&self, run: RunId, check: ClaimCheck) -> BoxFuture<'_, Result<ClaimedRun>> {
        self.post(|reply| Effect::Claim(run, check, reply))
    }
    fn close(&self, _: ClaimId, _: RunStatus) -> BoxFuture<'_, Result<()>> {
        Box::pin(async { Ok(()) })
    }
}

pub fn unknown(run: RunId) -> Error {
    Error::new(ErrorKind::UnknownRun, format!("no run `{run}`"))
}
