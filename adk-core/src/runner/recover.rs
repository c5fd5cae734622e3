//! Runs that are taken up again, and the answers that they wait for.

use super::request::RunRequest;
use super::{RunEnd, Runner, Shared, accept};
use crate::engine::Waiting;
use crate::run::record;
use crate::workflow::Workflow;
use crate::{BoxFuture, Error, ErrorKind, Path, Result, RunId};
use futures_util::future::join_all;
use serde::Serialize;
use std::ops::Deref;
use std::sync::Arc;

/// A run that [`Runner::recover`] has taken up again.
#[derive(Debug)]
#[non_exhaustive]
pub struct Recovered {
    /// The run.
    pub run_id: RunId,
    /// The name of its workflow.
    pub workflow: String,
    /// How it went on: it has ended well, or waits for these values by now.
    pub result: Result<Vec<Waiting>>,
}

/// A workflow that is known by its name.
pub(crate) trait Known: Send + Sync {
    fn name(&self) -> &str;
    /// The check of the `await` that stands at that path.
    fn accepts(&self, path: &Path) -> Option<accept::Check>;
    fn go_on(&self, shared: Arc<Shared>, run: RunId) -> BoxFuture<'static, Result<Vec<Waiting>>>;
}

pub(super) fn known<W: Workflow + 'static>(workflow: Arc<W>) -> Arc<dyn Known> {
    Arc::new(Of(workflow))
}

struct Of<W>(Arc<W>);

impl<W: Workflow + 'static> Known for Of<W> {
    fn name(&self) -> &str {
        self.0.as_agent().meta().name
    }

    fn accepts(&self, path: &Path) -> Option<accept::Check> {
        accept::at(self.0.as_agent().meta(), path)
    }

    fn go_on(&self, shared: Arc<Shared>, run: RunId) -> BoxFuture<'static, Result<Vec<Waiting>>> {
        let mut stream = RunRequest::resume(shared, self.0.clone(), run).stream();
        Box::pin(async move {
            while let Some(event) = stream.next().await {
                event?;
            }
            match stream.end() {
                RunEnd::Paused(waiting) => Ok(waiting),
                _ => Ok(Vec::new()),
            }
        })
    }
}

impl<P> Runner<P> {
    /// Takes a run up again: it is executed once more, from the state it began with. Agents that have finished are
    /// skipped, and what was recorded is not done again; the events of the stream are the new ones.
    ///
    /// A run that has failed may be taken up as well: what failed for a passing reason is tried again.
    ///
    /// # Errors
    /// When the request is awaited or streamed: [`ErrorKind::UnknownRun`]; [`ErrorKind::RunBusy`] when somebody drives
    /// it; [`ErrorKind::TopologyChanged`] when the workflow is of another shape by now, which changes nothing (see
    /// [`Topology`](crate::spec::Topology)); [`ErrorKind::Diverged`] when an agent does not do what its record says.
    pub fn resume<'a, H, W>(&self, workflow: H, run: RunId) -> RunRequest<'a, W::Output>
    where
        H: Deref<Target = W> + Send + Sync + 'a,
        W: Workflow + ?Sized,
    {
        RunRequest::resume(self.shared.clone(), workflow, run)
    }

    /// Takes up all runs of this app that could go on and that nobody drives: those whose process has ended, and those
    /// that have an answer by now. What has waited past its deadline is answered before, with its default or an error.
    /// The workflows are those of [`RunnerBuilder::workflow`](super::RunnerBuilder::workflow). All run at the same time,
    /// to their end or their next wait.
    ///
    /// # Errors
    /// When the store fails. What becomes of each run is in the list.
    pub async fn recover(&self) -> Result<Vec<Recovered>> {
        self.shared.expire(|_| true).await?;
        let runs = self.shared.engine.unfinished(&self.shared.app).await?;
        let all = runs.into_iter().filter(|run| run.is_ready).map(async |run| {
            let result = match self.shared.known(&run.workflow) {
                Some(known) => known.go_on(self.shared.clone(), run.run_id).await,
                None => Err(self.unknown_workflow(&run.workflow)),
            };
            Recovered { run_id: run.run_id, workflow: run.workflow, result }
        });
        let mut all = join_all(all).await;
        // Another process was faster.
        all.retain(|run| !run.result.as_ref().is_err_and(|error| error.kind() == ErrorKind::RunBusy));
        Ok(all)
    }

    /// Who waits for values from outside, in the order in which they began to.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn waiting(&self) -> Result<Vec<Waiting>> {
        self.shared.engine.waiting(&self.shared.app, None).await
    }

    /// Answers a wait by its id. The run goes on when it is [resumed](Self::resume) or [recovered](Self::recover), in
    /// this process or another, and by itself where somebody [watches](Self::watch). The first answer wins.
    ///
    /// The answer to an `await` is read as its type where its workflow is one of
    /// [`RunnerBuilder::workflow`](super::RunnerBuilder::workflow), and held against the stored schema otherwise.
    ///
    /// # Errors
    /// [`ErrorKind::UnknownWait`]; [`ErrorKind::Answered`] for a second answer; [`ErrorKind::AnswerInvalid`] for one of
    /// another type. Nothing has changed then.
    pub async fn answer(&self, wait: &str, value: impl Serialize) -> Result<()> {
        let value = serde_json::to_value(value).map_err(|error| {
            let message = format!("the answer to `{wait}` has no form in JSON: {error}");
            Error::new(ErrorKind::AnswerInvalid, message).with_source(error)
        })?;
        let engine = &self.shared.engine;
        let open = engine.waiting(&self.shared.app, None).await?;
        if let Some(waiting) = open.iter().find(|waiting| waiting.id == wait) {
            self.shared.fits(waiting, &value)?;
        }
        engine.resolve(&self.shared.app, wait, record::escaped(value)).await
    }

    fn unknown_workflow(&self, name: &str) -> Error {
        let known: Vec<_> = self.shared.workflows.iter().map(|known| format!("`{}`", known.name())).collect();
        let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
        let message = format!("no workflow `{name}` is known to this runner; known: {known}");
        Error::new(ErrorKind::Config, message).with_help("give it to `Runner::builder().workflow(...)`")
    }
}

/// What a wait is answered with whose deadline has passed.
pub(super) fn too_late(waiting: &Waiting) -> serde_json::Value {
    waiting.otherwise.clone().unwrap_or_else(|| {
        let message = "nobody has answered in time, and the wait has no default";
        record::failed(
            &Error::new(ErrorKind::Expired, message).with_help("answer earlier, or give it a `default`"),
        )
    })
}
