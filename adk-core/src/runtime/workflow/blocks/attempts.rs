//! The attempts of a `try`, and its `else`.
//!
//! A failed attempt is recorded. A resumed run skips the events of failed attempts and starts with
//! the attempt after them.

use super::remote::RemoteBranchSet;
use crate::FailedAttempt;
use crate::runtime::run::{Consumption, Context, measure, perform, record};
use crate::runtime::workflow::steps::{RunPart, Steps, Walked, scopes};
use crate::spec::{Attempts, ERROR_KEY, StepKind};
use crate::store::engine::{CallInputs, CallKind, StepKey, now_micros};
use crate::sync::lock;
use crate::{At, Error, ErrorKind, Event, Name, Path, Result, depth};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::ops::Range;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::time::Instant;

/// The record of a failed attempt.
#[derive(Serialize, Deserialize)]
struct AttemptRecord {
    /// The error in its recorded form, as in the journal entry of a failed call.
    error: Value,
    /// The time at which the next attempt begins, in microseconds since 1970; `None` after the
    /// last one.
    next: Option<u64>,
    spent: Consumption,
}

impl Steps<'_> {
    /// Runs the steps of a `try` until they succeed, or its `else` when all attempts have failed.
    pub(crate) async fn run_attempts(
        &self,
        at: usize,
        limits: Attempts,
        cx: &Context,
    ) -> Result<Walked> {
        let (body, otherwise) = self.body_and_else(at);
        let _joining = cx.join_branches();
        let mut attempt = 1;
        loop {
            let round = At::Round(attempt);
            let (run, path) = (cx.run.clone(), cx.path().with(round));
            let key = StepKey::new(run.id(), path.clone(), CallKind::Block, "attempt", 0);
            let failed = if let Some(record) = run.kind.recorded_result(&key) {
                skip_attempt(record, &key, &path, cx)?
            } else {
                let (ran, spent) = self
                    .run_attempt(body.clone(), limits.timeout, cx.for_steps(round))
                    .await;
                let error = match ran {
                    Ok(walked) => return Ok(walked),
                    Err(error) => error.at(&path),
                };
                RemoteBranchSet::apply_dropped(cx).await;
                let again = attempt < limits.most && (limits.all || error.is_retryable());
                if !cx.may_continue(&error) || !again && otherwise.is_none() {
                    return Err(error);
                }
                let next = again.then(|| now_micros().saturating_add(delay(limits.delay, attempt)));
                let failed = AttemptRecord {
                    error: record::from_error(&error),
                    next,
                    spent,
                };
                perform(
                    run.clone(),
                    key,
                    CallInputs::default(),
                    depth::check_record,
                    async { Ok(failed) },
                )
                .await?
            };
            run.progress.forget_loops(|other| is_below(&path, other));
            let error = recorded_error(failed.error)?;
            let mut round_cx = cx.for_steps(round);
            let again = failed.next.is_some();
            let report = FailedAttempt::new(attempt, limits.most, error.to_string(), again);
            let event = report.event();
            let Some(next) = failed.next else {
                return match otherwise {
                    Some(steps) => self.run_else(at, steps, &error, event, round_cx, cx).await,
                    None => Err(error),
                };
            };
            round_cx.emit_boxed(event).await?;
            let time = delay(limits.delay, attempt);
            if time > 0 {
                let left = next.saturating_sub(now_micros());
                let key = StepKey::new(run.id(), path, CallKind::Timer, "pause", 0);
                run.pause(
                    key,
                    Duration::from_micros(time),
                    Duration::from_micros(left),
                )
                .await;
            }
            attempt = attempt.saturating_add(1);
        }
    }

    /// Runs the `else` of a `try`, which reads the error of the last attempt. `event` reports that
    /// attempt, in the context of its round.
    async fn run_else(
        &self,
        at: usize,
        steps: Range<usize>,
        error: &Error,
        mut event: Event,
        mut round_cx: Context,
        cx: &Context,
    ) -> Result<Walked> {
        let scope = scopes::else_scope(&self.workflow.name(at), cx.around.scope.clone());
        let scope = Arc::new(scope);
        round_cx.around.scope = Some(scope.clone());
        if round_cx.cell().is_some() {
            let marks = round_cx.marks_of_error();
            round_cx.mark(ERROR_KEY, marks);
        }
        let delta = &mut event.actions.state_delta;
        delta.insert(ERROR_KEY, Value::from(error.message()));
        round_cx.emit_boxed(event).await?;
        drop(round_cx);
        let mut own = cx.for_steps(At::Once);
        (own.around.scope, own.around.known) = (Some(scope), cx.known_with(ERROR_KEY));
        self.run_part(steps, None, own).await
    }

    /// Returns the steps of a `try` and the steps of its `else`.
    pub(super) fn body_and_else(&self, at: usize) -> (Range<usize>, Option<Range<usize>>) {
        let end = self.steps[at].end;
        let is_else = |step: &usize| {
            matches!(self.steps[*step].kind, StepKind::Else) && self.steps[*step].end + 1 == end
        };
        match (at + 1..end).find(is_else) {
            Some(otherwise) => (at + 1..otherwise, Some(otherwise + 1..end - 1)),
            None => (at + 1..end, None),
        }
    }

    /// Runs one attempt. Returns its result and its consumption.
    async fn run_attempt(
        &self,
        body: Range<usize>,
        timeout: Option<Duration>,
        own: Context,
    ) -> (Result<Walked>, Consumption) {
        let (path, spent) = (own.path().clone(), Arc::<Mutex<Consumption>>::default());
        let (run, meter) = (own.run.clone(), own.around.meter.clone());
        let limited = run.clone();
        let work = measure(run, meter, spent.clone(), self.run_part(body, None, own));
        let ran = match timeout {
            None => work.await,
            Some(most) => {
                let key = StepKey::new(limited.id(), path.clone(), CallKind::Timer, "time", 0);
                // A timeout that overflows the clock counts as no timeout.
                match Instant::now().checked_add(most) {
                    Some(deadline) => limited.run_until(key, deadline, work).await,
                    None => Some(work.await),
                }
                .unwrap_or_else(|| Err(timeout_error(most, &path)))
            }
        };
        let spent = std::mem::take(&mut *lock(&spent));
        (ran, spent)
    }
}

/// Reads the record of a failed attempt, and marks the keys that it has written.
fn skip_attempt(record: Value, key: &StepKey, path: &Path, cx: &Context) -> Result<AttemptRecord> {
    let failed: AttemptRecord = record::read(record, record::RecordSubject::Step(&key.name))?;
    let keys = cx.skip_recorded(&failed.spent, |other| is_below(path, other));
    if let Some(scope) = &cx.around.scope {
        keys.iter().for_each(|key| scope.mark_written(key));
    }
    Ok(failed)
}

fn timeout_error(most: Duration, path: &Path) -> Error {
    let message = format!("the attempt took longer than the `timeout` of its `try`, {most:?}");
    Error::new(ErrorKind::Timeout, message)
        .with_help("raise `timeout`, or give the `try` an `else`")
        .at(path)
}

/// Returns the pause between this attempt and the next one, in microseconds.
fn delay(first: Option<Duration>, attempt: u32) -> u64 {
    let doubled = 1u32.checked_shl(attempt - 1).unwrap_or(u32::MAX);
    let delay = first.unwrap_or_default().saturating_mul(doubled);
    u64::try_from(delay.as_micros()).unwrap_or(u64::MAX)
}

fn is_below(outer: &Path, inner: &Path) -> bool {
    std::iter::successors(inner.parent(), |path| path.parent()).any(|path| path == outer)
}

/// Reads the error of a recorded attempt.
fn recorded_error(error: Value) -> Result<Error> {
    match record::read::<Value>(
        error,
        record::RecordSubject::Step(&Name::literal("attempt")),
    ) {
        Ok(_) => Err(Error::new(
            ErrorKind::Diverged,
            "the record of an attempt holds no error",
        )),
        Err(error) => Ok(error),
    }
}
