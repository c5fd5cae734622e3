//! The attempts of a `try`, and its `else`.
//!
//! An attempt that fails is recorded. A run that is taken up again passes by what such an attempt had done, and begins with
//! the attempt after it.

use super::away::Away;
use super::scopes;
use super::walk::{Walk, Walked};
use crate::runtime::run::{Consumption, Context, FailedAttempt, measure, perform, record};
use crate::spec::{Attempts, ERROR_KEY, StepKind};
use crate::store::engine::{CallInputs, CallKind, StepKey, now_micros};
use crate::sync::lock;
use crate::{At, Error, ErrorKind, Name, Path, Result, depth};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::ops::Range;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::time::Instant;

/// The record of an attempt that has failed.
#[derive(Serialize, Deserialize)]
struct AttemptRecord {
    /// As the record of a call has it.
    error: Value,
    /// When the next attempt begins, in microseconds since 1970; `None` after the last one.
    next: Option<u64>,
    spent: Consumption,
}

impl Walk<'_> {
    /// Runs the steps of a try until they succeed, and its `else` when they do not.
    pub(super) async fn attempts(&self, at: usize, limits: Attempts, cx: &Context) -> Result<Walked> {
        let (body, otherwise) = self.halves(at);
        let _joining = cx.join_branches();
        let mut attempt = 1;
        loop {
            let round = At::Round(attempt);
            let (run, path) = (cx.run.clone(), cx.path().with(round));
            let key = StepKey::new(run.id, path.clone(), CallKind::Block, "attempt", 0);
            let failed = if let Some(record) = run.recorded_result(&key) {
                let failed: AttemptRecord = record::read(record, record::RecordOf::Step(&key.name))?;
                let keys = cx.skip_recorded(&failed.spent, |other| is_below(&path, other));
                if let Some(scope) = &cx.scope {
                    keys.iter().for_each(|key| scope.mark_written(key));
                }
                failed
            } else {
                let (ran, spent) = self.attempt(body.clone(), limits.timeout, cx.for_steps(round)).await;
                let error = match ran {
                    Ok(walked) => return Ok(walked),
                    Err(error) => error.at(&path),
                };
                Away::left_behind(cx).await;
                let again = attempt < limits.most && (limits.all || error.is_retryable());
                if !cx.may_continue(&error) || !again && otherwise.is_none() {
                    return Err(error);
                }
                let next = again.then(|| now_micros().saturating_add(delay(limits.delay, attempt)));
                let failed = AttemptRecord { error: record::failed(&error), next, spent };
                perform(run.clone(), key, CallInputs::default(), depth::check_record, async { Ok(failed) })
                    .await?
            };
            run.forget_loops(|other| is_below(&path, other));
            let error = read(failed.error)?;
            let mut told = cx.for_steps(round);
            let again = failed.next.is_some();
            let mut event =
                FailedAttempt { attempt, of: limits.most, error: error.to_string(), again }.event();
            let Some(next) = failed.next else {
                let Some(otherwise) = otherwise else { return Err(error) };
                let scope = Arc::new(scopes::of_else(&self.workflow.name(at), cx.scope.clone()));
                told.scope = Some(scope.clone());
                event.actions.state_delta.insert(ERROR_KEY, Value::from(error.message()));
                told.emit_boxed(event).await?;
                drop(told);
                let mut own = cx.for_steps(At::Once);
                (own.scope, own.known) = (Some(scope), cx.known_with(ERROR_KEY));
                return self.branch(otherwise, None, own).await;
            };
            told.emit_boxed(event).await?;
            let time = delay(limits.delay, attempt);
            if time > 0 {
                let left = next.saturating_sub(now_micros());
                let key = StepKey::new(run.id, path, CallKind::Timer, "pause", 0);
                run.pause(key, Duration::from_micros(time), Duration::from_micros(left)).await;
            }
            attempt = attempt.saturating_add(1);
        }
    }

    /// The steps of a try, and those of its `else`.
    pub(super) fn halves(&self, at: usize) -> (Range<usize>, Option<Range<usize>>) {
        let end = self.steps[at].end;
        let is_else = |step: &usize| {
            matches!(self.steps[*step].kind, StepKind::Else) && self.steps[*step].end + 1 == end
        };
        match (at + 1..end).find(is_else) {
            Some(otherwise) => (at + 1..otherwise, Some(otherwise + 1..end - 1)),
            None => (at + 1..end, None),
        }
    }

    /// One attempt: how it ended, and what it used.
    async fn attempt(
        &self,
        body: Range<usize>,
        timeout: Option<Duration>,
        own: Context,
    ) -> (Result<Walked>, Consumption) {
        let (path, spent) = (own.path().clone(), Arc::<Mutex<Consumption>>::default());
        let (run, meter) = (own.run.clone(), own.meter.clone());
        let limited = run.clone();
        let work = measure(run, meter, spent.clone(), self.branch(body, None, own));
        let ran = match timeout {
            None => work.await,
            Some(most) => {
                let key = StepKey::new(limited.id, path.clone(), CallKind::Timer, "time", 0);
                // One that is too long for the clock is none.
                match Instant::now().checked_add(most) {
                    Some(deadline) => limited.run_until(key, deadline, work).await,
                    None => Some(work.await),
                }
                .unwrap_or_else(|| Err(too_long(most, &path)))
            }
        };
        let spent = *lock(&spent);
        (ran, spent)
    }
}

fn too_long(most: Duration, path: &Path) -> Error {
    let message = format!("the attempt took longer than the `timeout` of its `try`, {most:?}");
    Error::new(ErrorKind::Timeout, message).with_help("raise `timeout`, or give the `try` an `else`").at(path)
}

/// How long the next attempt waits after this one, in microseconds.
fn delay(first: Option<Duration>, attempt: u32) -> u64 {
    let doubled = 1u32.checked_shl(attempt - 1).unwrap_or(u32::MAX);
    let delay = first.unwrap_or_default().saturating_mul(doubled);
    u64::try_from(delay.as_micros()).unwrap_or(u64::MAX)
}

fn is_below(outer: &Path, inner: &Path) -> bool {
    std::iter::successors(inner.parent(), |path| path.parent()).any(|path| path == outer)
}

/// The error of a record.
fn read(error: Value) -> Result<Error> {
    match record::read::<Value>(error, record::RecordOf::Step(&Name::literal("attempt"))) {
        Ok(_) => Err(Error::new(ErrorKind::Diverged, "the record of an attempt holds no error")),
        Err(error) => Ok(error),
    }
}
