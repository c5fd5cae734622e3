//! Runs that are taken up again, and the answers that they wait for.

use super::by_name::{self, JsonWorkflow};
use super::queue::lines;
use super::request::RunRequest;
use super::{RunEnd, Runner, RunnerShared, accept};
use crate::encode::to_json;
use crate::runtime::agent::DynAgent;
use crate::runtime::resources::Needs;
use crate::runtime::run::record;
use crate::runtime::workflow::{FieldFault, Form, Workflow};
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

/// How many waits that are due, or runs that are ready, are asked for at a time.
pub(super) const PAGE: usize = 256;

/// How many of them are written or driven at the same time.
const AT_ONCE: usize = 64;

/// What became of a run that [`Runner::recover`] or [`Runner::retry`] has resumed.
#[derive(Debug)]
#[non_exhaustive]
pub struct Recovered {
    /// The run.
    pub run_id: RunId,
    /// Its session, which says its app and its user.
    pub session: SessionKey,
    /// The name of its workflow.
    pub workflow: String,
    /// The values that it waits for now, none if it has ended well; or the error that it has failed with, or because of
    /// which it was not resumed. A run is still there to be resumed when [`Error::is_retryable`] says so.
    pub result: Result<Vec<Waiting>>,
}

/// A workflow that is known by its name.
pub(crate) trait NamedWorkflow: Send + Sync {
    fn workflow(&self) -> &dyn DynAgent;
    fn form(&self) -> Form;
    /// What is wrong with an input.
    fn check(&self, input: &Value) -> Vec<FieldFault>;
    fn run(&self, shared: Arc<RunnerShared>, key: SessionKey, input: Value) -> CheckedRequest;
    fn resume(&self, shared: Arc<RunnerShared>, run: RunId) -> RunRequest<'static, Value>;
    /// A run that was handed over to this process.
    fn begin(&self, shared: Arc<RunnerShared>, task: RunTask) -> Result<RunRequest<'static, Value>>;
    fn branch(&self, shared: Arc<RunnerShared>, task: BranchTask) -> RunRequest<'static, BranchEnd>;
    /// The check of the `await` at that path.
    fn accepts(&self, path: &Path) -> Option<accept::AnswerCheck>;
}

/// A run, or what is wrong with its input.
type CheckedRequest = Result<RunRequest<'static, Value>, Vec<FieldFault>>;

pub(super) fn named_workflow<W: Workflow + 'static>(workflow: Arc<W>) -> Arc<dyn NamedWorkflow> {
    Arc::new(NamedJsonWorkflow(Arc::new(JsonWorkflow::new(workflow))))
}

struct NamedJsonWorkflow<W: Workflow>(Arc<JsonWorkflow<W>>);

impl<W: Workflow + 'static> NamedWorkflow for NamedJsonWorkflow<W> {
    fn workflow(&self) -> &dyn DynAgent {
        self.0.as_agent()
    }

    fn form(&self) -> Form {
        by_name::describe(&*self.0)
    }

    fn check(&self, input: &Value) -> Vec<FieldFault> {
        by_name::read(&*self.0, input.clone()).err().unwrap_or_default()
    }

    fn run(&self, shared: Arc<RunnerShared>, key: SessionKey, input: Value) -> CheckedRequest {
        let input = by_name::read(&*self.0, input)?;
        Ok(RunRequest::new(shared, key, false, self.0.clone(), input))
    }

    fn resume(&self, shared: Arc<RunnerShared>, run: RunId) -> RunRequest<'static, Value> {
        RunRequest::resume(shared, self.0.clone(), run)
    }

    fn begin(&self, shared: Arc<RunnerShared>, task: RunTask) -> Result<RunRequest<'static, Value>> {
        RunRequest::handed_over(shared, self.0.clone(), task)
    }

    fn branch(&self, shared: Arc<RunnerShared>, task: BranchTask) -> RunRequest<'static, BranchEnd> {
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
    /// Takes a run up again: it is executed once more, from the state it began with. Agents that have finished are
    /// skipped, and what was recorded is not done again; the events of the stream are the new ones.
    ///
    /// A run that has failed may be taken up as well: what failed for a passing reason is tried again.
    ///
    /// # Errors
    /// When the request is awaited or streamed: [`ErrorKind::UnknownRun`]; [`ErrorKind::RunBusy`] when a process drives
    /// it; [`ErrorKind::TopologyChanged`] when the workflow is of another shape by now, which changes nothing (see
    /// [`Topology`](crate::spec::Topology)); [`ErrorKind::Diverged`] when an agent does not do what its record says.
    pub fn resume<'a, H, W>(&self, workflow: H, run: RunId) -> RunRequest<'a, W::Output>
    where
        H: Deref<Target = W> + Send + Sync + 'a,
        W: Workflow + Needs<R> + ?Sized,
    {
        RunRequest::resume(self.shared.clone(), workflow, run)
    }

    /// Resumes all runs of this app and its [tenants](Self::for_app) that could go on and that nobody drives: those whose
    /// process has ended, and those that have an answer by now. What has waited past its deadline is answered before, with its default or an error.
    /// The workflows are those of [`RunnerBuilder::workflow`](super::RunnerBuilder::workflow). All run at the same time,
    /// to their end or their next wait; but runs that were queued begin one after the other, after the other runs of their
    /// session. Runs that have failed are left alone, see [`retry`](Self::retry). A runner that [`for_app`](Self::for_app)
    /// has made resumes the runs of its app alone.
    ///
    /// The list has no run that another process drives. It has a run that another process has ended in the meantime, with the
    /// end that it had; such a run is not executed again.
    ///
    /// # Errors
    /// When the store fails. What becomes of each run is in the list.
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
        let lines = lines(ready).into_iter().map(|line| self.shared.clone().drive_line(line));
        let mut driven: FuturesUnordered<_> = lines.collect();
        while let Some(line) = driven.next().await {
            all.extend(line);
        }
        // Another process was faster.
        all.retain(|run| !run.result.as_ref().is_err_and(|error| error.kind() == ErrorKind::RunBusy));
        all.sort_by_key(|run| run.run_id);
        Ok(all)
    }

    /// Resumes a run that has failed, after its cause was mended: the call that failed is made again, and nothing that
    /// was recorded before. A question that has expired is asked again, under the same id. The workflow is one of [`RunnerBuilder::workflow`](super::RunnerBuilder::workflow);
    /// [`runs`](Self::runs) lists what has failed.
    ///
    /// # Errors
    /// [`ErrorKind::UnknownRun`], [`ErrorKind::RunBusy`], or when the store fails; [`ErrorKind::Config`] where another process
    /// drives the runs, which ends them for good. What becomes of the run is in the [`Recovered`].
    pub async fn retry(&self, run: RunId) -> Result<Recovered> {
        let found = self.shared.engine.runs(&self.shared.app, &RunFilter::of_run(run)).await?;
        let found = found.into_iter().next().ok_or_else(|| refuse::unknown_run(run))?;
        if self.shared.engine.driver().is_some() {
            let message =
                format!("run `{run}` was driven by another process, which takes up no run that has failed");
            return Err(Error::new(ErrorKind::Config, message).with_help(
                "begin another run; what fails for a passing reason is made again by `retry` and `try` in the workflow",
            ));
        }
        let retried = self.shared.clone().drive(found).await;
        match retried.result {
            Err(error) if error.kind() == ErrorKind::RunBusy => Err(error),
            result => Ok(Recovered { result, ..retried }),
        }
    }

    /// The runs of this app that a filter selects, newest first unless it says otherwise: with their status and the error of
    /// those that have failed, their times, and what they have used. A [limit](RunFilter::limit) makes pages.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn runs(&self, filter: &RunFilter) -> Result<Vec<RunInfo>> {
        self.shared.engine.runs(&self.shared.app, filter).await
    }

    /// All open waits of this app, of all users, in the order in which they began. Those of one user are
    /// [`SessionHandle::waiting`](super::SessionHandle::waiting), or [`waiting_of`](Self::waiting_of) a filter.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn waiting(&self) -> Result<Vec<Waiting>> {
        self.waiting_of(&RunFilter::unfinished()).await
    }

    /// The open waits of the runs that a filter selects, such as those of one user.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn waiting_of(&self, filter: &RunFilter) -> Result<Vec<Waiting>> {
        self.shared.engine.waiting(&self.shared.app, filter).await
    }

    /// Answers a wait by its id, for the user who began its run: of any user, and
    /// [`SessionHandle::answer`](super::SessionHandle::answer) refuses the waits of other sessions. A wait that says `by` is
    /// answered with [`answer_as`](Self::answer_as), which names the caller. The run goes on when it is [resumed](Self::resume) or [recovered](Self::recover), in this process or another, and by itself where a
    /// [`watch`](Self::watch) runs. The first answer wins.
    ///
    /// The answer to an `await` is read as its type where its workflow is one of
    /// [`RunnerBuilder::workflow`](super::RunnerBuilder::workflow) and its type is still the one that asked, and held
    /// against the stored schema otherwise.
    ///
    /// # Errors
    /// [`ErrorKind::UnknownWait`]; [`ErrorKind::Answered`] for a second answer; [`ErrorKind::Expired`] after its deadline;
    /// [`ErrorKind::AnswerInvalid`] for one of another type; [`ErrorKind::WrongAnswerer`] for a wait that says `by`. Nothing
    /// has changed then.
    pub async fn answer(&self, wait: &str, value: impl Serialize) -> Result<()> {
        self.answer_as(wait, value, &Answerer::default()).await
    }

    /// Answers a wait, as [`answer`](Self::answer) does, and says who answers. A user without the role that the wait names in
    /// `by` is refused; so is the user who began the run where the wait says `by = other`. The caller of this method vouches
    /// for the user and the roles.
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
    /// Those of [`answer`](Self::answer); [`ErrorKind::WrongAnswerer`] for a caller who may not answer, and
    /// [`ErrorKind::UnknownWait`] for a wait of another user without a `by`. Nothing has changed then.
    pub async fn answer_as(&self, wait: &str, value: impl Serialize, answerer: &Answerer) -> Result<()> {
        self.shared.answer(None, wait, value, answerer).await
    }
}

impl RunnerShared {
    /// Answers a wait, which has to be one of this session if one is given.
    pub(super) async fn answer(
        &self,
        of: Option<&SessionKey>,
        wait: &str,
        value: impl Serialize,
        answerer: &Answerer,
    ) -> Result<()> {
        let value = to_json(&value).map_err(|error| {
            let help = format!("{}; the wait is still open", error.help());
            error.named(ErrorKind::AnswerInvalid, format_args!("the answer to `{wait}`")).with_help(help)
        })?;
        let waits = self.engine.waits_for(|| format!("answer `{wait}`"))?;
        let waiting = waits.open_wait(&self.app, wait).await?;
        if of.is_some_and(|key| key.user != waiting.user || key.id != waiting.session) {
            return Err(refuse::unknown_wait(wait));
        }
        waiting.check_answerer(answerer)?;
        if let Some(deadline) = waiting.deadline
            && deadline <= waits.now().await?
        {
            let message = format!("the answer to `{wait}` comes after its deadline");
            return Err(Error::new(ErrorKind::Expired, message)
                .with_help("the run goes on with the default of the wait, or has failed without one"));
        }
        let value = self.read_answer(&waiting, value)?;
        waits.resolve(&self.app, wait, record::escaped(value)).await
    }

    /// The ready runs of this app and its tenants that a filter selects: a page of the oldest.
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

    /// Answers a page of waits whose deadline has passed, with their defaults or an error.
    pub(super) async fn expire(&self) -> Result<Expiry> {
        let Some(registry) = self.engine.waits() else { return Ok(Expiry { next: None, is_full: false }) };
        let now = registry.now().await?;
        let mut due = registry.due(&self.app, now, PAGE).await?;
        if self.tenant_of.is_none() {
            due = due.and(registry.due_of_tenants(&self.app, now, PAGE).await?);
        }
        let DueWaits { waits: due, next } = due;
        let next = next.map(|deadline| Duration::from_micros(deadline.saturating_sub(now)));
        let is_full = due.len() >= PAGE;
        let resolved = due.into_iter().map(|waiting| async move {
            match registry.resolve(&waiting.app, &waiting.id, too_late(&waiting)).await {
                // Somebody has answered in the meantime.
                Err(error) if matches!(error.kind(), ErrorKind::Answered | ErrorKind::UnknownWait) => Ok(()),
                other => other,
            }
        });
        let resolved: Vec<Result<()>> = stream::iter(resolved).buffer_unordered(AT_ONCE).collect().await;
        resolved.into_iter().collect::<Result<()>>()?;
        Ok(Expiry { next, is_full })
    }

    /// Resumes a run whose workflow is known here, to its end or its next wait.
    pub(super) async fn drive(self: Arc<Self>, run: RunInfo) -> Recovered {
        let RunInfo { run_id, session, workflow, .. } = run;
        let result = match self.find_workflow(&workflow).cloned() {
            Some(known) if session.app == self.app => run_to_wait(known.resume(self, run_id)).await,
            Some(known) => run_to_wait(known.resume(Arc::new(self.for_app(&session.app)), run_id)).await,
            None => Err(self.unknown_workflow(&workflow)),
        };
        Recovered { run_id, session, workflow, result }
    }

    /// Resumes runs one after the other.
    async fn drive_line(self: Arc<Self>, line: Vec<RunInfo>) -> Vec<Recovered> {
        let mut all = Vec::with_capacity(line.len());
        for run in line {
            all.push(self.clone().drive(run).await);
        }
        all
    }

    /// The workflow of that name, if it was given to the runner.
    pub(super) fn find_workflow(&self, name: &str) -> Option<&Arc<dyn NamedWorkflow>> {
        self.workflows.iter().find(|known| known.workflow().meta().name == name)
    }

    pub(super) fn unknown_workflow(&self, name: &str) -> Error {
        let known: Vec<_> =
            self.workflows.iter().map(|known| format!("`{}`", known.workflow().meta().name)).collect();
        let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
        let message = format!("no workflow `{name}` is known to this runner; known: {known}");
        Error::new(ErrorKind::Config, message).with_help("give it to `Runner::builder().workflow(...)`")
    }
}

/// What is known of deadlines after a page of waits was answered.
pub(super) struct Expiry {
    /// How long it is to the next deadline.
    pub(super) next: Option<Duration>,
    /// Whether more waits may be due.
    pub(super) is_full: bool,
}

/// The answer to a wait whose deadline has passed: its default, or a failure. When that fails the run, a retry asks again.
fn too_late(waiting: &Waiting) -> Value {
    waiting.otherwise.clone().unwrap_or_else(|| {
        let message = "nobody has answered in time, and the wait has no default";
        let error = Error::new(ErrorKind::Expired, message)
            .with_help("answer earlier, or give it a `default`; `retry` asks again");
        record::failure(&error, 1)
    })
}
