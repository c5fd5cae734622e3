//! [`Runner::recover`] and [`Runner::resume`]: runs that continue, and the answers that they wait
//! for.

use super::by_name::{self, JsonWorkflow};
use super::queue::lines;
use super::request::RunRequest;
use super::{RunEnd, Runner, RunnerShared, accept};
use crate::encode::to_json;
use crate::runtime::agent::DynAgent;
use crate::runtime::resources::Needs;
use crate::runtime::run::record;
use crate::runtime::workflow::{FieldFault, Form, Workflow};
use crate::spec::Spec;
use crate::store::engine::{
    Answerer, BranchEnd, BranchTask, DueWaits, RunFilter, RunInfo, RunTask, Waiting, refuse,
};
use crate::store::session::SessionKey;
use crate::{Error, ErrorKind, Path, Result, RunId};
use futures_util::StreamExt;
use futures_util::stream::{self, FuturesUnordered};
use serde::Serialize;
use serde_json::Value;
use std::ops::Deref;
use std::sync::Arc;
use std::time::Duration;

/// Number of due waits or ready runs in one page.
pub(super) const PAGE: usize = 256;

/// Number of due waits that are answered concurrently.
const AT_ONCE: usize = 64;

/// Result of a run that [`Runner::recover`] or [`Runner::retry`] has resumed.
#[derive(Debug)]
#[non_exhaustive]
pub struct Recovered {
    /// Id of the run.
    pub run_id: RunId,
    /// Session of the run, with its app and user.
    pub session: SessionKey,
    /// Name of its workflow.
    pub workflow: String,
    /// Open waits of the run, empty if the run has finished; or the error with which it failed or
    /// could not be resumed. The run can still be resumed if [`Error::is_retryable`] returns true.
    pub result: Result<Vec<Waiting>>,
}

/// Workflow that a runner finds by name.
pub(crate) trait NamedWorkflow: Send + Sync {
    fn workflow(&self) -> &dyn DynAgent;
    fn spec(&self) -> Spec<'_>;
    fn form(&self) -> Form;
    /// Returns the mistakes in an input.
    fn check(&self, input: &Value) -> Vec<FieldFault>;
    fn run(&self, shared: Arc<RunnerShared>, key: SessionKey, input: Value) -> CheckedRequest;
    fn resume(&self, shared: Arc<RunnerShared>, run: RunId) -> RunRequest<'static, Value>;
    /// Requests the execution of a run that was handed over to this process.
    fn begin(&self, shared: Arc<RunnerShared>, task: RunTask)
    -> Result<RunRequest<'static, Value>>;
    fn branch(&self, shared: Arc<RunnerShared>, task: BranchTask)
    -> RunRequest<'static, BranchEnd>;
    /// Returns the check of the `await` at that path.
    fn accepts(&self, path: &Path) -> Option<accept::AnswerCheck>;
}

/// Request of a run, or the mistakes in its input.
type CheckedRequest = Result<RunRequest<'static, Value>, Vec<FieldFault>>;

pub(super) fn named_workflow<W: Workflow + 'static>(workflow: Arc<W>) -> Arc<dyn NamedWorkflow> {
    Arc::new(NamedJsonWorkflow(Arc::new(JsonWorkflow::new(workflow))))
}

struct NamedJsonWorkflow<W: Workflow>(Arc<JsonWorkflow<W>>);

impl<W: Workflow + 'static> NamedWorkflow for NamedJsonWorkflow<W> {
    fn workflow(&self) -> &dyn DynAgent {
        self.0.as_agent()
    }

    fn spec(&self) -> Spec<'_> {
        self.0.spec()
    }

    fn form(&self) -> Form {
        by_name::describe(&*self.0)
    }

    fn check(&self, input: &Value) -> Vec<FieldFault> {
        by_name::read(&*self.0, input.clone())
            .err()
            .unwrap_or_default()
    }

    fn run(&self, shared: Arc<RunnerShared>, key: SessionKey, input: Value) -> CheckedRequest {
        let input = by_name::read(&*self.0, input)?;
        Ok(RunRequest::new(shared, key, false, self.0.clone(), input))
    }

    fn resume(&self, shared: Arc<RunnerShared>, run: RunId) -> RunRequest<'static, Value> {
        RunRequest::resume(shared, self.0.clone(), run)
    }

    fn begin(
        &self,
        shared: Arc<RunnerShared>,
        task: RunTask,
    ) -> Result<RunRequest<'static, Value>> {
        RunRequest::from_task(shared, self.0.clone(), task)
    }

    fn branch(
        &self,
        shared: Arc<RunnerShared>,
        task: BranchTask,
    ) -> RunRequest<'static, BranchEnd> {
        RunRequest::branch(shared, self.0.clone(), task)
    }

    fn accepts(&self, path: &Path) -> Option<accept::AnswerCheck> {
        accept::check_at(self.workflow().meta(), path)
    }
}

/// Drives a run to its end or its next wait.
async fn run_to_wait(request: RunRequest<'static, Value>) -> Result<Vec<Waiting>> {
    let mut stream = request.stream();
    while let Some(event) = stream.next().await {
        event?;
    }
    match stream.end() {
        RunEnd::Paused(waiting) => Ok(waiting),
        _ => Ok(Vec::new()),
    }
}

impl<P, R> Runner<P, R> {
    /// Resumes a run: executes it again from the state that it began with. Finished agents are
    /// skipped, and recorded calls are not repeated. The stream contains only new events.
    ///
    /// A failed run can also be resumed. Calls that failed for a temporary reason are tried again.
    ///
    /// # Errors
    /// Awaiting or streaming the request fails with [`ErrorKind::UnknownRun`]; with
    /// [`ErrorKind::RunBusy`] when a process drives the run; with [`ErrorKind::TopologyChanged`]
    /// when the workflow has another shape now (see [`Topology`](crate::spec::Topology)), which
    /// changes nothing; and with [`ErrorKind::Diverged`] when an agent does not act as its journal
    /// records.
    pub fn resume<'a, H, W>(&self, workflow: H, run: RunId) -> RunRequest<'a, W::Output>
    where
        H: Deref<Target = W> + Send + Sync + 'a,
        W: Workflow + Needs<R> + ?Sized,
    {
        RunRequest::resume(self.shared.clone(), workflow, run)
    }

    /// Resumes all runs of this app and its [tenants](Self::for_app) that can continue and that no
    /// process drives: runs whose process has ended, and runs with new answers. Waits past their
    /// deadline are answered first, with their default or an error. The workflows come from
    /// [`RunnerBuilder::workflow`](super::RunnerBuilder::workflow). The runs execute concurrently,
    /// to their end or their next wait. Queued runs begin in sequence, after the other runs of
    /// their session. Failed runs are not resumed, see [`retry`](Self::retry). A runner that was
    /// made by [`for_app`](Self::for_app) resumes only the runs of its app.
    ///
    /// The list does not contain runs that another process drives. It may contain a run that
    /// another process has ended in the meantime, with the stored end; such a run is not executed
    /// again.
    ///
    /// # Errors
    /// Fails when the store fails. The list contains the result of each run.
    pub async fn recover(&self) -> Result<Vec<Recovered>> {
        while self.shared.expire().await?.is_full {}
        let (mut all, mut ready) = (Vec::new(), Vec::new());
        let mut filter = RunFilter::ready().oldest_first().limit(PAGE);
        loop {
            let page = self.shared.ready(&filter).await?;
            let Some(last) = page.last() else { break };
            filter = filter.after(last.run_id);
            ready.extend(page);
        }
        let lines = lines(ready)
            .into_iter()
            .map(|line| self.shared.clone().drive_line(line));
        let mut driven: FuturesUnordered<_> = lines.collect();
        while let Some(line) = driven.next().await {
            all.extend(line);
        }
        // Another process has claimed these runs first.
        all.retain(|run| {
            !run.result
                .as_ref()
                .is_err_and(|error| error.kind() == ErrorKind::RunBusy)
        });
        all.sort_by_key(|run| run.run_id);
        Ok(all)
    }

    /// Resumes a failed run after its cause was removed. The failed call is repeated; recorded
    /// calls are not. An expired question is asked again under the same id. The workflow must be
    /// added by [`RunnerBuilder::workflow`](super::RunnerBuilder::workflow). [`runs`](Self::runs)
    /// lists failed runs.
    ///
    /// # Errors
    /// Fails with [`ErrorKind::UnknownRun`], with [`ErrorKind::RunBusy`], or when the store fails.
    /// Fails with [`ErrorKind::Config`] when another process drives the runs, because that process
    /// never resumes failed runs. [`Recovered`] contains the result of the run.
    pub async fn retry(&self, run: RunId) -> Result<Recovered> {
        let found = self
            .shared
            .engine
            .runs(&self.shared.app, &RunFilter::of_run(run))
            .await?;
        let found = found
            .into_iter()
            .next()
            .ok_or_else(|| refuse::unknown_run(run))?;
        if self.shared.engine.driver().is_some() {
            let message =
                format!("run `{run}` failed in another process, which does not resume failed runs");
            return Err(Error::new(ErrorKind::Config, message).with_help(
                "begin another run; use `retry` or `try` in the workflow for temporary failures",
            ));
        }
        let retried = self.shared.clone().drive(found).await;
        match retried.result {
            Err(error) if error.kind() == ErrorKind::RunBusy => Err(error),
            result => Ok(Recovered { result, ..retried }),
        }
    }

    /// Lists the runs of this app that a filter selects, with their status, error, times and usage.
    /// The newest run is first unless the filter sets another order. A [limit](RunFilter::limit)
    /// returns pages.
    ///
    /// # Errors
    /// Fails when the store fails.
    pub async fn runs(&self, filter: &RunFilter) -> Result<Vec<RunInfo>> {
        self.shared.engine.runs(&self.shared.app, filter).await
    }

    /// Returns the number of runs that a filter selects, which may be more than a page of
    /// [`runs`](Self::runs).
    ///
    /// # Errors
    /// Fails when the store fails.
    pub async fn count_runs(&self, filter: &RunFilter) -> Result<usize> {
        let (engine, app) = (&self.shared.engine, &self.shared.app);
        engine.count_runs(app, filter).await
    }

    /// Lists all open waits of this app, of all users, in the order in which they began.
    /// [`SessionHandle::waiting`](super::SessionHandle::waiting) lists the waits of a session, and
    /// [`waiting_of`](Self::waiting_of) the waits that a filter selects.
    ///
    /// # Errors
    /// Fails when the store fails.
    pub async fn waiting(&self) -> Result<Vec<Waiting>> {
        self.waiting_of(&RunFilter::unfinished()).await
    }

    /// Lists the open waits of the runs that a filter selects, such as the runs of one user.
    ///
    /// # Errors
    /// Fails when the store fails.
    pub async fn waiting_of(&self, filter: &RunFilter) -> Result<Vec<Waiting>> {
        self.shared.engine.waiting(&self.shared.app, filter).await
    }

    /// Answers a wait by its id, for the user who began its run. This method accepts the waits of
    /// any user; [`SessionHandle::answer`](super::SessionHandle::answer) refuses the waits of other
    /// sessions. For a wait with `by`, call [`answer_as`](Self::answer_as), which names the caller.
    /// The run continues when it is [resumed](Self::resume) or [recovered](Self::recover), in this
    /// process or another, and automatically where a [`watch`](Self::watch) runs. The first answer
    /// counts.
    ///
    /// The answer to an `await` is read as its type if
    /// [`RunnerBuilder::workflow`](super::RunnerBuilder::workflow) added the workflow and its type
    /// has not changed since the question. Otherwise the answer is checked against the stored
    /// schema.
    ///
    /// # Errors
    /// Fails with [`ErrorKind::UnknownWait`]; with [`ErrorKind::Answered`] for a second answer;
    /// with [`ErrorKind::Expired`] after the deadline; with [`ErrorKind::AnswerInvalid`] for an
    /// answer of another type; and with [`ErrorKind::WrongAnswerer`] for a wait with `by`. An error
    /// changes nothing.
    pub async fn answer(&self, wait: &str, value: impl Serialize) -> Result<()> {
        self.answer_as(wait, value, &Answerer::default()).await
    }

    /// Answers a wait, as [`answer`](Self::answer) does, and names the user who answers. A user
    /// without the role that the wait requires in `by` is refused. If the wait requires `by =
    /// other`, the user who began the run is refused. The caller of this method is responsible for
    /// authenticating the user and the roles.
    ///
    /// ```
    /// # use adk_core as adk;
    /// use adk::{Answerer, Runner};
    /// # async fn approve(runner: &Runner, wait: &str) -> adk::Result<()> {
    /// runner.answer_as(wait, true, &Answerer::user("bob").role("staff")).await?;
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// Fails as [`answer`](Self::answer) does. Fails with [`ErrorKind::WrongAnswerer`] for a user
    /// who may not answer, and with [`ErrorKind::UnknownWait`] for a wait of another user without
    /// `by`. An error changes nothing.
    pub async fn answer_as(
        &self,
        wait: &str,
        value: impl Serialize,
        answerer: &Answerer,
    ) -> Result<()> {
        self.shared.answer(None, wait, value, answerer).await
    }
}

impl RunnerShared {
    /// Answers a wait. If a session is given, the wait must belong to it.
    pub(super) async fn answer(
        &self,
        session: Option<&SessionKey>,
        wait: &str,
        value: impl Serialize,
        answerer: &Answerer,
    ) -> Result<()> {
        let value = to_json(&value).map_err(|error| {
            let help = format!("{}; the wait is still open", error.help());
            error
                .into_error(
                    ErrorKind::AnswerInvalid,
                    format_args!("the answer to `{wait}`"),
                )
                .with_help(help)
        })?;
        let waits = self.engine.waits_for(|| format!("answer `{wait}`"))?;
        let waiting = waits.open_wait(&self.app, wait).await?;
        if session.is_some_and(|key| key.user != waiting.user || key.id != waiting.session) {
            return Err(refuse::unknown_wait(wait));
        }
        waiting.check_answerer(answerer)?;
        if let Some(deadline) = waiting.deadline
            && deadline <= waits.now().await?
        {
            let message = format!("the answer to `{wait}` comes after its deadline");
            return Err(Error::new(ErrorKind::Expired, message).with_help(
                "answer earlier; the run continues with the default of the wait, or fails without \
                 one",
            ));
        }
        let value = self.read_answer(&waiting, value)?;
        waits.resolve(&self.app, wait, record::escape(value)).await
    }

    /// Returns a page of the oldest ready runs of this app and its tenants that a filter selects.
    pub(super) async fn ready(&self, filter: &RunFilter) -> Result<Vec<RunInfo>> {
        let mut ready = self.engine.runs(&self.app, filter).await?;
        if self.tenant_of.is_none()
            && let Some(registry) = self.engine.registry()
        {
            ready.extend(registry.runs_of_tenants(&self.app, filter).await?);
            ready.sort_by_key(|run| run.run_id);
            ready.truncate(filter.limit.unwrap_or(usize::MAX));
        }
        Ok(ready)
    }

    /// Answers a page of waits past their deadline, with their defaults or an error.
    pub(super) async fn expire(&self) -> Result<Expiry> {
        let Some(registry) = self.engine.waits() else {
            return Ok(Expiry {
                next: None,
                is_full: false,
            });
        };
        let now = registry.now().await?;
        let mut due = registry.due(&self.app, now, PAGE).await?;
        if self.tenant_of.is_none() {
            due = due.merge(registry.due_of_tenants(&self.app, now, PAGE).await?);
        }
        let DueWaits {
            waits: due, next, ..
        } = due;
        let next = next.map(|deadline| Duration::from_micros(deadline.saturating_sub(now)));
        let is_full = due.len() >= PAGE;
        let resolved = due.into_iter().map(|waiting| async move {
            match registry
                .resolve(&waiting.app, &waiting.id, expired_answer(&waiting))
                .await
            {
                // Another process or a user has answered in the meantime.
                Err(error)
                    if matches!(error.kind(), ErrorKind::Answered | ErrorKind::UnknownWait) =>
                {
                    Ok(())
                }
                other => other,
            }
        });
        let resolved: Vec<Result<()>> = stream::iter(resolved)
            .buffer_unordered(AT_ONCE)
            .collect()
            .await;
        resolved.into_iter().collect::<Result<()>>()?;
        Ok(Expiry { next, is_full })
    }

    /// Resumes a run of a known workflow, to its end or its next wait.
    pub(super) async fn drive(self: Arc<Self>, run: RunInfo) -> Recovered {
        let RunInfo {
            run_id,
            session,
            workflow,
            ..
        } = run;
        let result = match self.find_workflow(&workflow).cloned() {
            Some(known) if session.app == self.app => run_to_wait(known.resume(self, run_id)).await,
            Some(known) => {
                run_to_wait(known.resume(Arc::new(self.for_app(&session.app)), run_id)).await
            }
            None => Err(self.unknown_workflow(&workflow)),
        };
        Recovered {
            run_id,
            session,
            workflow,
            result,
        }
    }

    /// Resumes runs in sequence.
    async fn drive_line(self: Arc<Self>, line: Vec<RunInfo>) -> Vec<Recovered> {
        let mut all = Vec::with_capacity(line.len());
        for run in line {
            all.push(self.clone().drive(run).await);
        }
        all
    }

    /// Returns the workflow with that name, if the runner has it.
    pub(super) fn find_workflow(&self, name: &str) -> Option<&Arc<dyn NamedWorkflow>> {
        self.workflows
            .iter()
            .find(|known| known.workflow().meta().name == name)
    }

    pub(super) fn unknown_workflow(&self, name: &str) -> Error {
        let known: Vec<_> = self
            .workflows
            .iter()
            .map(|known| format!("`{}`", known.workflow().meta().name))
            .collect();
        let known = if known.is_empty() {
            "none".to_owned()
        } else {
            known.join(", ")
        };
        let message = format!("no workflow `{name}` is known to this runner; known: {known}");
        Error::new(ErrorKind::Config, message)
            .with_help("give it to `Runner::builder().workflow(...)`")
    }
}

/// Deadlines after a page of waits was answered.
pub(super) struct Expiry {
    /// Time until the next deadline.
    pub(super) next: Option<Duration>,
    /// Whether more waits may be due.
    pub(super) is_full: bool,
}

/// Returns the answer to a wait past its deadline: its default, or a failure. If the failure ends
/// the run, `retry` asks the question again.
fn expired_answer(waiting: &Waiting) -> Value {
    waiting.otherwise.clone().unwrap_or_else(|| {
        let message = "no answer arrived in time, and the wait has no default";
        let error = Error::new(ErrorKind::Expired, message)
            .with_help("answer earlier, or give it a `default`; `retry` asks again");
        record::from_failure(&error, 1)
    })
}
