//! [`App`]: the part of the server that all protocols share. It finds the workflows of a caller,
//! starts, resumes and cancels runs, and follows their events.

mod access;
mod follow;
mod http;
mod limits;
mod lookup;
mod pauses;
mod prune;
mod runs;
mod start;

pub use access::{Authorize, Caller};
pub(crate) use follow::stored_page;
pub use follow::{RunItem, stored_events};
pub use http::{Answer, Body, RunQuery, RunQueryParam, parse_body, parse_run_query, sse_response};
pub use limits::{Limits, StreamPermit};
pub use lookup::{find_run, output, run_id};
pub use runs::{Listener, Reservation, RunEnding};
pub use start::{RunStart, StartOutcome};

pub(crate) use access::{Access, CallerInput, Identity, check, request_scheme};
#[cfg(feature = "mcp")]
pub(crate) use follow::EVERY;
pub(crate) use http::{StreamEnd, body_refusal, header_text, wants_stream};
pub(crate) use limits::{lock, read_body_in_time};
pub(crate) use lookup::with_status;
pub(crate) use pauses::{PausedStream, WaitAnswer};
#[cfg(feature = "push")]
pub(crate) use runs::RunChange;
pub(crate) use start::{Key, another_request, bind, digest, may_begin, scope};

use crate::refuse::Refusal;
use adk_core::engine::{RunInfo, RunStatus};
use adk_core::runner::{KnownWorkflow, SessionHandle};
use adk_core::{Event, EventId, Result, RunId, RunRequest, Runner};
use axum::extract::{Extension, State};
use futures_util::Stream;
use limits::Streams;
use runs::Runs;
use serde_json::Value;
use start::Starter;
use std::fmt;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::task::AbortHandle;

/// The extractor of the [`App`].
pub type Shared = State<Arc<App>>;

/// The extractor of the [`Caller`].
pub type Who = Extension<Caller>;

/// The server without its protocols, and the state of all routes.
///
/// The runs of an `App` need no connected client: a request starts or resumes a run, and any number
/// of requests follow it.
pub struct App {
    runner: Runner,
    /// Tasks that end when the server stops.
    tasks: Mutex<Vec<AbortHandle>>,
    access: Arc<Access>,
    runs: Arc<Runs>,
    starter: Starter,
    streams: Streams,
    limits: Limits,
}

impl App {
    /// Creates the shared part of a server.
    ///
    /// # Errors
    /// [`ErrorKind::Config`](adk_core::ErrorKind::Config) if no workflow has an input that the
    /// server sets.
    pub(crate) fn new(
        runner: Runner,
        access: Access,
        limits: Limits,
        key_lifetime: Duration,
    ) -> Result<Self> {
        access.check_inputs(&runner)?;
        let runs = Arc::new(Runs::new(limits.runs_per_user));
        Ok(Self {
            runner,
            tasks: Mutex::default(),
            access: Arc::new(access),
            starter: Starter::new(runs.clone(), key_lifetime),
            runs,
            streams: Streams::new(&limits),
            limits,
        })
    }

    /// Returns the runner for the app of a caller.
    pub fn runner(&self, caller: &Caller) -> Runner {
        match caller
            .app
            .as_deref()
            .filter(|name| *name != self.runner.app_name())
        {
            Some(tenant) => self.runner.for_app(tenant),
            None => self.runner.clone(),
        }
    }

    /// Returns the workflows as a caller sees them: without the inputs that the server sets.
    pub fn workflows(
        &self,
        runner: &Runner,
        caller: &Caller,
    ) -> impl Iterator<Item = KnownWorkflow> {
        runner
            .workflows()
            .map(|workflow| self.access.with_inputs(workflow, caller))
    }

    /// Returns a workflow by name, as a caller sees it.
    ///
    /// # Errors
    /// `404 Not Found` if the runner has no workflow of this name.
    pub fn workflow(
        &self,
        runner: &Runner,
        caller: &Caller,
        name: &str,
    ) -> Result<KnownWorkflow, Refusal> {
        let workflow = runner
            .workflows()
            .find(|workflow| workflow.name() == name)
            .ok_or_else(|| {
                let names: Vec<_> = runner
                    .workflows()
                    .map(|known| format!("`{}`", known.name()))
                    .collect();
                Refusal::missing("workflow", name).help(format!("use one of: {}", names.join(", ")))
            });
        workflow.map(|workflow| self.access.with_inputs(workflow, caller))
    }

    /// Starts a run, unless an earlier request with its key has started one.
    ///
    /// The store accepts each run id once, also from several processes. Therefore a request that
    /// finds a bound key without a stored run starts that run itself.
    ///
    /// # Errors
    /// If this request has not started a run. If the store is unavailable, an earlier request with
    /// the key may have started one.
    pub async fn begin(
        &self,
        start: &RunStart<'_>,
        request: impl Fn(&SessionHandle) -> Result<RunRequest<'static, Value>>,
    ) -> Result<StartOutcome, Refusal> {
        self.starter.begin(start, request).await
    }

    /// Reserves a run before it is answered, so that this process [resumes](Self::resume) it, and
    /// not its watch for answered runs.
    pub fn reserve(&self, run: RunId) -> Reservation {
        self.runs.reserve(run)
    }

    /// Resumes a run that has an answer, unless a process drives it already. Returns a listener for
    /// all its events if this call has resumed the run. If a call fails, a watch resumes the run
    /// later.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub async fn resume(&self, runner: &Runner, run: RunId) -> Result<Option<Listener>, Refusal> {
        Ok(self.runs.resume_answered(runner, run).await?)
    }

    /// Answers a wait of a run, as [`Runner::answer_as`] does, and notes the user for the streams
    /// that stay open over the pause.
    ///
    /// # Errors
    /// Those of [`Runner::answer_as`].
    pub(crate) async fn answer(
        &self,
        runner: &Runner,
        run: RunId,
        wait: &str,
        value: Value,
        caller: &Caller,
    ) -> Result<()> {
        runner.answer_as(wait, value, &caller.answerer()).await?;
        let user = caller.user.as_deref();
        self.runs.pauses.note_answer(run, wait, user);
        Ok(())
    }

    /// Enters a stream that stays open while its run waits for answers.
    pub(crate) fn pause_stream(&self, runner: &Runner, run: RunId) -> PausedStream {
        PausedStream::new(&self.runs.pauses, runner, run)
    }

    /// Cancels a run. Returns its status: `Cancelled`, or the end that it had before.
    ///
    /// # Errors
    /// If the store fails.
    pub async fn cancel(&self, runner: &Runner, run: &RunInfo) -> Result<RunStatus, Refusal> {
        let status = runner.cancel(run.run_id).await?;
        self.runs.report_change(&run.session.app, run.run_id, false);
        Ok(status)
    }

    /// Returns a listener of a run that this process drives.
    pub fn listen(&self, run: RunId) -> Option<Listener> {
        self.runs.listen(run)
    }

    /// Follows the events of a run after a cursor until the run ends or waits. The stream ends
    /// without [`RunItem::End`] if the server stops first.
    ///
    /// A listener also receives events that are not stored: the pieces of replies. A listener that
    /// is too slow falls back to the store, so that it does not slow down the run. Without a
    /// listener, the stream reads the store.
    pub fn follow(
        &self,
        runner: Runner,
        run: RunInfo,
        after: Option<EventId>,
        listener: Option<Listener>,
    ) -> impl Stream<Item = Result<RunItem, Refusal>> + Send + use<> {
        follow::follow(self.runs.clone(), runner, run, after, listener)
    }

    /// Returns whether the server stops and refuses new runs.
    pub fn is_stopping(&self) -> bool {
        self.runs.is_closing()
    }

    /// Acquires a permit for an open stream of a caller.
    ///
    /// # Errors
    /// `429 Too Many Requests` if the user has reached [`Limits::streams_per_user`]; `503 Service
    /// Unavailable` if the server has reached [`Limits::streams`].
    pub fn acquire_stream(&self, caller: &Caller) -> Result<StreamPermit, Refusal> {
        let app = caller.app.as_deref().unwrap_or(self.runner.app_name());
        self.streams.acquire(app, caller.user.as_deref())
    }

    /// Returns the start events of the open steps of a run that this process drives.
    pub(crate) fn open_steps(&self, run: RunId) -> Vec<Arc<Event>> {
        self.runs.open_steps(run)
    }

    /// Returns the runner that was passed to [`serve`](crate::serve).
    pub(crate) fn main_runner(&self) -> &Runner {
        &self.runner
    }

    pub(crate) fn access(&self) -> &Arc<Access> {
        &self.access
    }

    pub(crate) fn limits(&self) -> &Limits {
        &self.limits
    }

    /// Returns the time that a request key stays bound to its run.
    pub(crate) fn key_lifetime(&self) -> Duration {
        self.starter.key_lifetime
    }

    /// Subscribes to the starts, ends and cancellations of runs.
    #[cfg(feature = "push")]
    pub(crate) fn changes(&self) -> tokio::sync::mpsc::UnboundedReceiver<RunChange> {
        self.runs.changes()
    }

    /// Completes when the server begins to refuse new runs.
    #[cfg(feature = "mcp")]
    pub(crate) fn wait_closing(&self) -> impl Future<Output = ()> + Send + 'static + use<> {
        self.runs.wait_closing()
    }

    /// Resumes runs of all tenants that another process has released or answered.
    pub(crate) fn watch(&self) {
        let (runs, known, runner) = (self.runs.clone(), self.runs.clone(), self.runner.clone());
        let watch = runner.watch().leave(move |run| known.is_driven_here(run));
        let watch =
            watch.resume_by(move |run| runs.clone().resume(runner.for_app(&run.session.app), run));
        self.until_stopped(tokio::spawn(watch.into_future()).abort_handle());
    }

    /// Deletes the runs that ended longer ago than `after`, of all tenants.
    pub(crate) fn prune(&self, after: Duration) {
        let task = tokio::spawn(prune::prune(self.runner.clone(), after));
        self.until_stopped(task.abort_handle());
    }

    /// Aborts a task when the server stops.
    pub(crate) fn until_stopped(&self, task: AbortHandle) {
        let mut tasks = lock(&self.tasks);
        tasks.retain(|task| !task.is_finished());
        tasks.push(task);
    }

    fn abort_tasks(&self) {
        for task in lock(&self.tasks).drain(..) {
            task.abort();
        }
    }

    /// Refuses new runs, and waits for the others up to [`Limits::grace`].
    pub(crate) async fn stop(&self) {
        self.abort_tasks();
        let _ = tokio::time::timeout(self.limits.grace, self.runs.close()).await;
        self.runs.abandon();
    }
}

impl Drop for App {
    fn drop(&mut self) {
        self.abort_tasks();
    }
}

impl fmt::Debug for App {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "App({:?})", self.runner)
    }
}
