//! [`Handle`]: what a handler of a run, or of a branch of one, asks of Restate and of the store.

use crate::Worker;
use crate::posted::fails_attempt;
use crate::service::Context;
use adk_core::engine::{ClaimId, RunStatus, Stored};
use adk_core::model::Usage;
use adk_core::{Error, ErrorKind, Result, RunId, StoreErrorKind};
use restate_sdk::context::{CallFuture, DurableFuture, InvocationHandle, RequestTarget, RunFuture};
use restate_sdk::errors::{HandlerError, HandlerResult, TerminalError};
use restate_sdk::serde::{Deserialize, Json, Serialize};
use serde_json::Value;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::time::Duration;

/// Longer times overflow clocks.
pub(crate) const CENTURY: Duration = Duration::from_hours(100 * 365 * 24);

/// Why a handler ends before its run does.
pub(crate) enum Stop {
    Cancelled,
    /// This attempt has failed, and Restate makes another.
    Retry(Error),
    /// For good.
    Failed(TerminalError),
}

impl From<TerminalError> for Stop {
    fn from(error: TerminalError) -> Self {
        if error.code() == 409 { Self::Cancelled } else { Self::Failed(error) }
    }
}

impl From<Error> for Stop {
    fn from(error: Error) -> Self {
        Self::Retry(error)
    }
}

impl From<Stop> for HandlerError {
    fn from(stop: Stop) -> Self {
        match stop {
            Stop::Cancelled => TerminalError::new_with_code(409, "cancelled").into(),
            Stop::Retry(error) => error.into(),
            Stop::Failed(error) => error.into(),
        }
    }
}

/// What comes from Restate.
pub(crate) type Durable<'a> =
    Pin<Box<dyn DurableFuture<Output = Result<Json<Value>, TerminalError>> + Send + 'a>>;

/// Where a handler is.
pub(crate) struct Handle<'a> {
    pub(crate) ctx: &'a Context,
    pub(crate) worker: &'a Worker,
    pub(crate) invocation: String,
    pub(crate) workflow: String,
    pub(crate) branches: String,
    pub(crate) app: String,
    pub(crate) run_id: RunId,
    pub(crate) replay: Replay,
}

/// Whether this attempt may still be at what the journal has.
#[derive(Clone)]
pub(crate) struct Replay(Arc<AtomicBool>);

impl Replay {
    pub(crate) fn new(may_be_on: bool) -> Self {
        Self(Arc::new(AtomicBool::new(may_be_on)))
    }

    pub(crate) fn may_be_on(&self) -> bool {
        self.0.load(SeqCst)
    }

    fn is_over(&self) {
        self.0.store(false, SeqCst);
    }
}

impl<'a> Handle<'a> {
    pub(crate) fn of_run(&self, handler: &str) -> RequestTarget {
        RequestTarget::workflow(&self.workflow, self.run_id.to_string(), handler)
    }

    pub(crate) fn claim(&self) -> ClaimId {
        ClaimId::driven_above(self.run_id)
    }

    /// Does something once, as an entry of the journal. Restate refuses it where the journal has another entry.
    pub(crate) async fn run<W, T>(
        &self,
        name: impl Into<String>,
        work: impl FnOnce() -> W + Send,
    ) -> Result<T, TerminalError>
    where
        W: Future<Output = HandlerResult<T>> + Send,
        T: Serialize + Deserialize + 'static,
    {
        let replay = &self.replay;
        let work = move || {
            replay.is_over();
            work()
        };
        self.ctx.run(work).name(name).await
    }

    /// Stores how far the run is.
    pub(crate) async fn status(&self, status: RunStatus, usage: Usage) -> Result<(), Stop> {
        let name = if status == RunStatus::Paused { "paused" } else { "running" };
        let (worker, claim) = (self.worker, self.claim());
        let write = move || async move {
            match worker.registry()?.close(claim, status, usage).await {
                // It was cancelled, which Restate will say.
                Err(error) if is_fenced(&error) => Ok(()),
                written => Ok(written?),
            }
        };
        Ok(self.run(name, write).await?)
    }

    /// Calls another handler: its invocation, and what it will give.
    pub(crate) async fn call(
        &self,
        target: RequestTarget,
        input: &(impl serde::Serialize + Sync),
    ) -> Result<(InvocationHandle, Durable<'a>), Stop> {
        let input = serde_json::to_value(input).map_err(Error::other)?;
        let call = self.ctx.request::<_, Json<Value>>(target, Json(input)).call();
        let handle = call.invocation_handle().await?;
        Ok((handle, Box::pin(call)))
    }

    /// Ends waits that no agent awaits any more: their ids, and the calls that wait. An answer is refused from then on.
    ///
    /// # Errors
    /// When the store is away: the next attempt withdraws them.
    pub(crate) async fn withdraw(&self, left: Vec<(String, InvocationHandle)>) -> Result<(), Stop> {
        left.iter().for_each(|(_, call)| call.cancel());
        let waits: Vec<_> = left.into_iter().map(|(id, _)| id).collect();
        let Some(registry) = self.worker.engine.waits().filter(|_| !waits.is_empty()) else { return Ok(()) };
        let claim = self.claim();
        let withdraw = move || async move {
            match registry.withdraw(claim, waits).await {
                Err(error) if fails_attempt(&error) => Err(error.into()),
                // A run that was cancelled or is deleted has no open wait.
                _ => Ok(()),
            }
        };
        // An entry of the journal, so that another version that does not fit withdraws nothing.
        Ok(self.run("withdraw", withdraw).await?)
    }

    /// The events of the run from a place of the log on, by their slots.
    pub(crate) async fn stored(&self, from: u64) -> Result<Vec<(String, Stored)>> {
        let run = self.worker.driven(self.run_id, from).await?;
        Ok(run.map(|run| run.events).unwrap_or_default())
    }

    /// Ready after that time, or a century.
    pub(crate) fn timer(&self, time: Duration) -> Durable<'a> {
        Box::pin(self.ctx.sleep(time.min(CENTURY)).map_ok(|()| Json(Value::Null)))
    }
}

/// Whether the claim of the run is over.
pub(crate) fn is_fenced(error: &Error) -> bool {
    error.kind() == ErrorKind::Store(StoreErrorKind::Fenced)
}
