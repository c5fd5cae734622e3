//! [`Context::step`] and other recorded calls: side effects that are done once, and answered from
//! their record when the run is resumed.

use super::Context;
use crate::depth::{self, TooDeep};
use crate::encode::EncodeError;
use crate::runtime::run::record::{self, RecordSubject};
use crate::runtime::run::{CallCounts, Run};
use crate::store::engine::{CallInputs, CallKind, StepKey, is_failure};
use crate::store::outbox::CountGuard;
use crate::sync::lock;
use crate::{BoxFuture, Error, ErrorKind, Flow, Name, Path, Result};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::sync::{Arc, Mutex};

impl Context {
    /// Does a side effect once, and records its result. When the run is resumed, the record answers
    /// the call.
    ///
    /// The step is numbered where it is called, so several steps can be joined. The work owns its
    /// inputs.
    ///
    /// A call that fails is made again when the run is resumed. If the agent handles the error and
    /// continues, that error is the result from then on.
    ///
    /// # Errors
    /// The error of the work. A recorded result must have a form in JSON, as with
    /// [`State::set`](crate::State::set), and may not be nested deeper than
    /// [`MAX_DEPTH`](crate::MAX_DEPTH).
    pub fn step<T, W, N>(
        &mut self,
        name: N,
        work: W,
    ) -> impl Future<Output = Result<T>> + Send + use<T, W, N>
    where
        N: Into<Name>,
        T: Serialize + DeserializeOwned + Send + 'static,
        W: Future<Output = Result<T>> + Send + 'static,
    {
        let key = self.call_key(CallKind::Step, name.into());
        perform(
            self.run.clone(),
            key,
            CallInputs::default(),
            depth::check,
            work,
        )
    }

    /// Makes a recorded call, such as a tool call with its writes. The nesting depth of its values
    /// was checked one by one.
    pub(crate) fn recorded_call<T, W>(
        &mut self,
        kind: CallKind,
        name: Name,
        inputs: CallInputs,
        work: W,
    ) -> impl Future<Output = Result<T>> + Send + use<T, W>
    where
        T: Serialize + DeserializeOwned + Send + 'static,
        W: Future<Output = Result<T>> + Send + 'static,
    {
        let key = self.call_key(kind, name);
        perform(self.run.clone(), key, inputs, depth::check_record, work)
    }

    /// Returns the flow of the current agent, if it has finished before. The recorded events of the
    /// agent are applied, and it does not run again.
    pub(crate) fn replay_finished(&mut self) -> BoxFuture<'_, Option<Flow>> {
        Box::pin(async move {
            let run = self.run.clone();
            let (done, keys) = run
                .kind
                .replay()?
                .replay_finished(&run, &self.frame.path)
                .await?;
            let usage = done.usage.named(self.author());
            run.count_skipped(&usage);
            self.count_replayed(&usage.total(), 0);
            for key in keys {
                if let Some(scope) = &self.around.scope {
                    scope.mark_written(&key);
                }
                self.written.push(key);
            }
            Some(done.flow)
        })
    }

    /// Makes a call that makes recorded calls itself. The engine records the inner calls one by
    /// one, and the result at the end. `work` gets the name under which the inner calls are
    /// recorded.
    pub(crate) fn call_of_calls<T, W>(
        &mut self,
        kind: CallKind,
        name: Name,
        inputs: CallInputs,
        work: impl FnOnce(Name) -> W,
    ) -> impl Future<Output = Result<T>> + Send + 'static
    where
        T: Serialize + DeserializeOwned + Send + 'static,
        W: Future<Output = Result<T>> + Send + 'static,
    {
        let (run, key) = (self.run.clone(), self.call_key(kind, name));
        let work = work(Name::from(key.call().to_string()));
        let inputs = inputs.derived(true);
        async move {
            let _busy = CountGuard::new(&run.outbox().in_flight);
            if let Some(record) = run
                .kind
                .recorded_result(&key)
                .filter(|record| !is_failure(record))
            {
                record::check_inputs(&record, &key, &inputs)?;
                return record::read(record, RecordSubject::Step(&key.name));
            }
            let given = work.await;
            perform(
                run.clone(),
                key,
                inputs,
                depth::check_record,
                std::future::ready(given),
            )
            .await
        }
    }

    /// Numbers a wait, and returns its key.
    pub(super) fn wait_key(&mut self, name: Name) -> StepKey {
        let key = self.call_key(CallKind::Wait, name);
        match &self.frame.first_turn {
            Some(path) => StepKey {
                path: path.clone(),
                ..key
            },
            None => key,
        }
    }

    /// Numbers a call, and returns its key.
    pub(crate) fn call_key(&mut self, kind: CallKind, name: Name) -> StepKey {
        let index = self.frame.calls.take(kind, &name);
        StepKey::new(self.run.id(), self.frame.path.clone(), kind, name, index)
    }

    /// Returns whether the next call of that kind and name is answered from its record.
    pub(crate) fn is_recorded(&self, kind: CallKind, name: &Name) -> bool {
        self.is_recorded_as(kind, name, self.frame.calls.next(kind, name))
    }

    /// Returns whether the call of that kind, name and number is answered from its record.
    pub(crate) fn is_recorded_as(&self, kind: CallKind, name: &Name, index: u32) -> bool {
        let key = || {
            StepKey::new(
                self.run.id(),
                self.frame.path.clone(),
                kind,
                name.clone(),
                index,
            )
        };
        self.run.kind.has_record() && self.run.kind.is_answered(&key())
    }

    /// Returns the inputs of a call. They are only made if the engine records calls. `make` gets
    /// whether the engine also reads their values.
    pub(crate) fn inputs(&self, make: impl FnOnce(bool) -> CallInputs) -> CallInputs {
        if self.run.engine.records() {
            make(self.run.engine.reads_inputs())
        } else {
            CallInputs::default()
        }
    }
}

/// Does a side effect. Its result is recorded as a call of the agent at a path, numbered by its
/// counts. Without counts, the side effect is part of a recorded call, or is not recorded.
pub(crate) async fn record_call<T, W>(
    run: &Arc<Run>,
    calls: Option<(&Path, &mut CallCounts)>,
    kind: CallKind,
    name: Name,
    inputs: CallInputs,
    work: W,
) -> Result<T>
where
    T: Serialize + DeserializeOwned + Send + 'static,
    W: Future<Output = Result<T>> + Send + 'static,
{
    let Some((path, calls)) = calls else {
        return work.await;
    };
    let index = calls.take(kind, &name);
    let key = StepKey::new(run.id(), path.clone(), kind, name, index);
    perform(run.clone(), key, inputs, depth::check, work).await
}

/// Does the work of a step, or returns its recorded result. If the journal contains a failure of
/// the step, the work is done again. A result that `check` rejects is a failure.
pub(crate) async fn perform<T, W>(
    run: Arc<Run>,
    key: StepKey,
    inputs: CallInputs,
    check: fn(&Value) -> Result<(), TooDeep>,
    work: W,
) -> Result<T>
where
    T: Serialize + DeserializeOwned + Send + 'static,
    W: Future<Output = Result<T>> + Send + 'static,
{
    let _busy = CountGuard::new(&run.outbox().in_flight);
    if !run.engine.records() {
        return work.await;
    }
    let call = Arc::new(CallRecorder {
        kind: key.kind,
        name: key.name.clone(),
        inputs,
        check,
        attempt: Mutex::default(),
    });
    let made = call.clone();
    let work = Box::pin(async move {
        let ended = work.await;
        let record = ended.and_then(|value| made.success(record::from_value(&value)));
        Ok(record.unwrap_or_else(|error| made.failure(error)))
    });
    record::read(
        call_record(&run, key, &call, work).await?,
        RecordSubject::Step(&call.name),
    )
}

/// The data that is recorded with the result of a call.
struct CallRecorder {
    kind: CallKind,
    name: Name,
    inputs: CallInputs,
    check: fn(&Value) -> Result<(), TooDeep>,
    attempt: Mutex<Attempt>,
}

#[derive(Default)]
struct Attempt {
    number: u32,
    /// The original error of a failed call. The journal entry of the call does not contain the
    /// source of the error, so the caller gets this one.
    error: Option<Error>,
}

impl CallRecorder {
    /// Returns the record of the result of the work.
    fn success(&self, encoded: Result<Value, EncodeError>) -> Result<Value> {
        let what = format_args!("the result of step `{}`", self.name);
        let record = encoded.map_err(|error| error.into_error(ErrorKind::NotJson, what))?;
        (self.check)(&record).map_err(|deep| deep.error(what))?;
        Ok(record::from_call(record, self.kind, &self.inputs))
    }

    /// Returns the record of a failure, and keeps the error for the caller.
    fn failure(&self, error: Error) -> Value {
        let mut attempt = lock(&self.attempt);
        let failure = record::from_failure(&error, attempt.number);
        attempt.error = Some(error);
        failure
    }
}

/// Returns the journal entry of a call: the stored one, or a new one with the result of the work.
/// The future is boxed, because many calls may run at a time. The types of the call are erased, so
/// that this function is compiled once.
fn call_record<'a>(
    run: &'a Run,
    key: StepKey,
    call: &'a CallRecorder,
    work: BoxFuture<'static, Result<Value>>,
) -> BoxFuture<'a, Result<Value>> {
    Box::pin(async move {
        if let Some(settled) = run.settle(&key.path) {
            settled.await?;
        }
        match run.kind.recorded_result(&key) {
            Some(record) if !is_failure(&record) => {
                record::check_inputs(&record, &key, &call.inputs)?;
                return Ok(record);
            }
            failed => lock(&call.attempt).number = failed.as_ref().map_or(0, record::attempt) + 1,
        }
        let record = run
            .engine
            .step_with_inputs(run.identity.claim, key.clone(), &call.inputs, work)
            .await?;
        if is_failure(&record) {
            run.record_failure(key, record.clone());
            if let Some(error) = lock(&call.attempt).error.take() {
                return Err(error);
            }
        }
        Ok(record)
    })
}
