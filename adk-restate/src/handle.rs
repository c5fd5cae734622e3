//! [`Handle`]: requests of a run's or branch's handler to Restate and to the store.

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
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::time::Duration;

/// The longest time of a timer, because longer times overflow clocks.
pub(crate) const CENTURY: Duration = Duration::from_hours(100 * 365 * 24);

/// The reason why a handler ends before its run ends.
pub(crate) enum Stop {
    Cancelled,
    /// This attempt has failed, and Restate makes another one.
    Retry(Error),
    /// The handler has failed permanently.
    Failed(TerminalError),
}

impl From<TerminalError> for Stop {
    fn from(error: TerminalError) -> Self {
        if error.code() == 409 {
            Self::Cancelled
        } else {
            Self::Failed(error)
        }
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

/// A result that Restate delivers.
pub(crate) type Durable<'a> =
    Pin<Box<dyn DurableFuture<Output = Result<Json<Value>, TerminalError>> + Send + 'a>>;

/// Context of a handler.
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

/// Whether this attempt of the handler may still be replaying journal entries of an earlier
/// attempt.
pub(crate) struct Replay(AtomicBool);

impl Replay {
    pub(crate) fn new(may_be_on: bool) -> Self {
        Self(AtomicBool::new(may_be_on))
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

    /// Executes work once, as a journal entry. Restate rejects the entry if the journal of an
    /// earlier attempt contains a different entry at this position.
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

    /// Stores the status of the run.
    pub(crate) async fn status(&self, status: RunStatus, usage: Usage) -> Result<(), Stop> {
        let name = if status == RunStatus::Paused {
            "paused"
        } else {
            "running"
        };
        let (worker, claim) = (self.worker, self.claim());
        let write = move || async move {
            match worker.registry()?.close(claim, status, usage.into()).await {
                // The run was cancelled; Restate delivers the cancellation.
                Err(error) if is_fenced(&error) => Ok(()),
                written => Ok(written?),
            }
        };
        Ok(self.run(name, write).await?)
    }

    /// Calls another handler. Returns its invocation and its future result.
    pub(crate) async fn call(
        &self,
        target: RequestTarget,
        input: &(impl serde::Serialize + Sync),
    ) -> Result<(InvocationHandle, Durable<'a>), Stop> {
        let input = serde_json::to_value(input).map_err(Error::other)?;
        let call = self
            .ctx
            .request::<_, Json<Value>>(target, Json(input))
            .call();
        let handle = call.invocation_handle().await?;
        Ok((handle, Box::pin(call)))
    }

    /// Withdraws waits that no agent awaits any more. Each is given by its id and the invocation
    /// that waits for the answer. Later answers are refused.
    ///
    /// # Errors
    /// Fails when the store cannot be reached. The next attempt then withdraws the waits.
    pub(crate) async fn withdraw(&self, left: Vec<(String, InvocationHandle)>) -> Result<(), Stop> {
        left.iter().for_each(|(_, call)| call.cancel());
        let waits: Vec<_> = left.into_iter().map(|(id, _)| id).collect();
        let Some(registry) = self.worker.engine.waits().filter(|_| !waits.is_empty()) else {
            return Ok(());
        };
        let claim = self.claim();
        let withdraw = move || async move {
            match registry.withdraw(claim, waits).await {
                Err(error) if fails_attempt(&error) => Err(error.into()),
                // A cancelled or deleted run has no open wait.
                _ => Ok(()),
            }
        };
        // The withdrawal is a journal entry, so that Restate rejects it for an incompatible
        // version.
        Ok(self.run("withdraw", withdraw).await?)
    }

    /// Reads the events of the run from a place of the log on, by their slots.
    pub(crate) async fn stored(&self, from: u64) -> Result<Vec<(String, Stored)>> {
        let run = self.worker.driven(self.run_id, from).await?;
        Ok(run.map(|run| run.events).unwrap_or_default())
    }

    /// Returns a timer for the given time, at most a century.
    pub(crate) fn timer(&self, time: Duration) -> Durable<'a> {
        Box::pin(
            self.ctx
                .sleep(time.min(CENTURY))
                .map_ok(|()| Json(Value::Null)),
        )
    }
}

/// Reports whether an error means that another process has ended the run.
pub(crate) fn is_fenced(error: &Error) -> bool {
    error.kind() == ErrorKind::Store(StoreErrorKind::Fenced)
}
