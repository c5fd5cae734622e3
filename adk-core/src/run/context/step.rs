//! Side effects: what is done once, and answered from the record when the run is taken up again.

use super::Context;
use crate::depth::{self, TooDeep};
use crate::engine::StepKey;
use crate::outbox::Counted;
use crate::run::{Run, record};
use crate::{BoxFuture, Flow, Name, Result};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::sync::Arc;

impl Context {
    /// A side effect: done once, recorded, and answered from the record when the run is taken up again.
    ///
    /// It is numbered where it is called, so several can be joined. The work owns what it needs.
    ///
    /// # Errors
    /// The error of the work; that is recorded as well. A result that is recorded may not be nested deeper than
    /// [`MAX_DEPTH`](crate::MAX_DEPTH).
    pub fn step<T, W, N>(&mut self, name: N, work: W) -> impl Future<Output = Result<T>> + Send + use<T, W, N>
    where
        N: Into<Name>,
        T: Serialize + DeserializeOwned + Send + 'static,
        W: Future<Output = Result<T>> + Send + 'static,
    {
        let key = self.step_key(name.into());
        let run = self.run.clone();
        perform(run, key, depth::check, work)
    }

    /// The same for a record of values that were looked at one by one, such as a call with what it left.
    pub(crate) fn recorded_call<T, W>(
        &mut self,
        name: Name,
        work: W,
    ) -> impl Future<Output = Result<T>> + Send + use<T, W>
    where
        T: Serialize + DeserializeOwned + Send + 'static,
        W: Future<Output = Result<T>> + Send + 'static,
    {
        let key = self.step_key(name);
        perform(self.run.clone(), key, depth::check_record, work)
    }

    /// Whether the agent that stands here has finished before, and how it ended then. What it had to say is applied, and
    /// it does not run again.
    pub(crate) fn finished_before(&mut self) -> BoxFuture<'_, Option<Flow>> {
        Box::pin(async move {
            let run = self.run.clone();
            let (done, keys) = run.replay.as_ref()?.finished(&run, &self.frame.path).await?;
            run.skipped(done.usage);
            for key in keys {
                if let Some(scope) = &self.scope {
                    scope.wrote(&key);
                }
                self.written.push(key);
            }
            Some(done.flow)
        })
    }

    /// A call that has calls of its own: it is made here and not by the engine, which records those one by one, and the
    /// result once it is there. `work` gets what they are recorded under.
    pub(crate) fn step_of_steps<T, W>(
        &mut self,
        name: Name,
        work: impl FnOnce(Name) -> W,
    ) -> impl Future<Output = Result<T>> + Send + 'static
    where
        T: Serialize + DeserializeOwned + Send + 'static,
        W: Future<Output = Result<T>> + Send + 'static,
    {
        let (run, key) = (self.run.clone(), self.step_key(name));
        let work = work(Name::from(format!("{}@{}", key.name, key.index)));
        async move {
            let _busy = Counted::new(&run.outbox().in_flight);
            if let Some(record) = run.recorded(&key) {
                return record::read(record);
            }
            let given = work.await;
            perform(run.clone(), key, depth::check_record, std::future::ready(given)).await
        }
    }

    /// The key of a wait.
    pub(super) fn wait_key(&mut self, name: Name) -> StepKey {
        let key = self.step_key(name);
        match &self.frame.first_turn {
            Some(path) => StepKey { path: path.clone(), ..key },
            None => key,
        }
    }

    pub(super) fn step_key(&mut self, name: Name) -> StepKey {
        let index = self.frame.steps;
        self.frame.steps += 1;
        StepKey { run_id: self.run.id, path: self.frame.path.clone(), name, index }
    }
}

/// Does the work of a step, or takes its result from the record. What `check` refuses is not recorded.
pub(crate) async fn perform<T, W>(
    run: Arc<Run>,
    key: StepKey,
    check: fn(&Value) -> Result<(), TooDeep>,
    work: W,
) -> Result<T>
where
    T: Serialize + DeserializeOwned + Send + 'static,
    W: Future<Output = Result<T>> + Send + 'static,
{
    let _busy = Counted::new(&run.outbox().in_flight);
    if !run.engine.records() {
        return work.await;
    }
    let record = match run.recorded(&key) {
        Some(record) => record,
        None => {
            let name = key.name.clone();
            let work = async move {
                let record = record::of(work.await)?;
                check(&record).map_err(|deep| deep.error(format_args!("the result of step `{name}`")))?;
                Ok(record)
            };
            run.engine.step(key, Box::pin(work)).await?
        }
    };
    record::read(record)
}
