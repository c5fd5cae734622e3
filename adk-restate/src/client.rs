//! [`Restate`]: the engine of client processes, whose runs are executed by workers.

use crate::messages::AnswerCall;
use adk_core::engine::{
    Body, Claim, ClaimCheck, ClaimId, ClaimedRun, Done, DrivenRun, DueWaits, Engine, Journal,
    Reply, Retention, Roles, RunDriver, RunFilter, RunInfo, RunRecord, RunRegistry, RunReport,
    RunStatus, RunTask, Slot, StepKey, Stored, Wait, WaitRegistry, Waiting, error_from_value,
    refuse,
};
use adk_core::memory::MemoryService;
use adk_core::model::UsageByAgent;
use adk_core::session::{Location, SessionStore};
use adk_core::{ArtifactStore, BoxFuture, Error, ErrorKind, Result, RunId, Store, StoreErrorKind};
use restate_sdk::ingress::{
    ClientError, InvocationHandle, RequestExecutor, RequestTarget, ReqwestClient,
};
use restate_sdk::serde::Json;
use serde::Serialize;
use serde_json::Value;
use std::fmt;
use std::future::ready;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{Instant, sleep};

/// Time for which requests to an unreachable server are repeated, and the first and the longest
/// pause between them.
const PATIENCE: Duration = Duration::from_secs(60);
const PAUSE: (Duration, Duration) = (Duration::from_millis(50), Duration::from_secs(2));

/// The engine of a client process, whose runs are executed by workers, see
/// [`endpoint`](crate::endpoint()).
///
/// The engine wraps the store that clients and workers share. It is itself the
/// [store](adk_core::runner::RunnerBuilder::store) of a runner, with the sessions, artifacts and
/// memory of the wrapped store. Restate executes the runs of that runner, and the client follows
/// them in the wrapped store.
#[derive(Clone)]
pub struct Restate(Arc<Shared>);

struct Shared {
    /// The wrapped store.
    parts: Box<dyn Store>,
    /// Engine of the wrapped store.
    store: Arc<dyn Engine>,
    client: ReqwestClient,
    url: String,
}

tokio::task_local! {
    /// Set while a worker calls the wrapped store. If that call arrives here, it goes to the store,
    /// and not to Restate.
    static BELOW: ();
}

/// Calls the wrapped store, bypassing Restate.
pub(crate) fn call_store<T>(call: impl FnOnce() -> T) -> T {
    BELOW.sync_scope((), call)
}

fn is_below() -> bool {
    BELOW.try_with(|()| ()).is_ok()
}

impl Restate {
    /// Wraps a store in an engine for the Restate server with this ingress URL, for example
    /// `http://localhost:8080`.
    ///
    /// # Errors
    /// Fails with [`ErrorKind::Config`] if the URL is invalid, or if the store does not outlive
    /// this process.
    pub fn new(url: &str, store: impl Store) -> Result<Self> {
        let invalid = |error: &dyn fmt::Display| {
            Error::new(
                ErrorKind::Config,
                format!("`{url}` is not the URL of a Restate server: {error}"),
            )
            .with_help("give the URL of its ingress, such as `http://localhost:8080`")
        };
        let uri = url.parse().map_err(|error| invalid(&error))?;
        let client = ReqwestClient::connect(uri).map_err(|error| invalid(&error))?;
        let engine = store.engine();
        crate::is_durable(&*engine)?;
        Ok(Self(Arc::new(Shared {
            parts: Box::new(store),
            store: engine,
            client,
            url: url.to_owned(),
        })))
    }
}

impl fmt::Debug for Restate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Restate({})", self.0.url)
    }
}

impl Shared {
    fn registry(&self) -> Result<&dyn RunRegistry> {
        self.store.registry().ok_or_else(crate::no_registry)
    }

    fn waits(&self) -> Result<&dyn WaitRegistry> {
        self.store.waits().ok_or_else(crate::no_registry)
    }

    /// Calls a handler of the workflow of a run.
    async fn call(
        &self,
        app: &str,
        run: RunId,
        handler: &str,
        input: impl Serialize,
    ) -> Result<Value> {
        let filter = RunFilter::of_run(run);
        let found = self.registry()?.runs(app, &filter).await?;
        let found = found
            .into_iter()
            .next()
            .ok_or_else(|| refuse::unknown_run(run))?;
        let target = RequestTarget::workflow(&found.workflow, run.to_string(), handler);
        let input = serde_json::to_value(input).map_err(Error::other)?;
        self.insist(|| {
            let call = self
                .client
                .request::<_, Json<Value>>(target.clone(), Json(input.clone()));
            async { call.call().await?.into_body().map(|Json(value)| value) }
        })
        .await
        .map_err(|error| self.call_error(&found.workflow, error))
    }

    /// Repeats a request until the server answers.
    async fn insist<T, F>(&self, mut ask: impl FnMut() -> F) -> Result<T, ClientError>
    where
        F: Future<Output = Result<T, ClientError>> + Send,
    {
        let (begun, mut pause) = (Instant::now(), PAUSE.0);
        loop {
            match ask().await {
                Err(error) if passes(&error) && begun.elapsed() < PATIENCE => {
                    sleep(pause).await;
                    pause = (pause * 2).min(PAUSE.1);
                }
                answer => return answer,
            }
        }
    }

    async fn begin(&self, task: RunTask) -> Result<Option<RunReport>> {
        let (run, workflow) = (task.run_id, task.workflow.clone());
        let target = RequestTarget::workflow(&workflow, run.to_string(), "run");
        let input = serde_json::to_value(task).map_err(Error::other)?;
        // The run id is the key of the workflow in Restate, so repeated requests start only one
        // invocation.
        let sent = self.insist(|| {
            let send = self
                .client
                .request::<_, Json<Value>>(target.clone(), Json(input.clone()));
            async { send.send().await.map(|sent| sent.invocation_handle()) }
        });
        let sent = sent
            .await
            .map_err(|error| self.call_error(&workflow, error))?;
        self.end_of(run, &workflow, sent).await
    }

    async fn follow(&self, run: RunInfo) -> Result<Option<RunReport>> {
        let (id, workflow) = (run.run_id, &run.workflow);
        let found = self.insist(|| self.client.lookup_workflow(workflow, id.to_string(), None));
        match found.await {
            Ok(found) => self.end_of(id, workflow, found).await,
            // The invocation ended long ago, and the server has deleted it.
            Err(ClientError::Status { status, .. }) if status.as_u16() == 404 => Ok(None),
            Err(error) => Err(self.call_error(workflow, error)),
        }
    }

    async fn end_of<E: RequestExecutor>(
        &self,
        run: RunId,
        workflow: &str,
        sent: InvocationHandle<E, Json<Value>>,
    ) -> Result<Option<RunReport>> {
        loop {
            let begun = Instant::now();
            let ended = self
                .insist(|| async { sent.attach().await.map(|ended| ended.into_body().0) })
                .await;
            match ended {
                Ok(report) => return RunReport::from_value(report).map(Some),
                Err(ClientError::Status { status, .. }) if status.as_u16() == 409 => {
                    return Ok(Some(RunReport::new(
                        Err(refuse::cancelled(run)),
                        Vec::new(),
                        UsageByAgent::default(),
                    )));
                }
                // The connection lasted for a long time before it broke, so the time of
                // [`PATIENCE`] starts again.
                Err(error) if passes(&error) && begun.elapsed() > 2 * PATIENCE => {}
                Err(error) => return Err(self.call_error(workflow, error)),
            }
        }
    }

    fn call_error(&self, workflow: &str, error: ClientError) -> Error {
        let url = &self.url;
        let said = error
            .response()
            .map(|response| String::from_utf8_lossy(response.body()).into_owned());
        let converted = match (&error, said) {
            (ClientError::Status { status, .. }, Some(said)) if status.as_u16() == 404 => {
                let message = format!("Restate at `{url}` has no workflow `{workflow}`: {said}");
                Error::new(ErrorKind::Config, message).with_help(
                    "start a worker that serves the workflow, and register it with `restate \
                     deployments register URL`",
                )
            }
            (ClientError::Status { status, .. }, Some(said)) if !passes(&error) => {
                let message = format!(
                    "Restate at `{url}` ended a call of `{workflow}` with {status}: {said}"
                );
                Error::new(ErrorKind::Agent, message)
                    .with_help("inspect the invocation in the web UI of the Restate server")
            }
            (_, said) => {
                let said = said.map(|said| format!(": {said}")).unwrap_or_default();
                let message = format!("Restate at `{url}` cannot be reached: {error}{said}");
                Error::new(ErrorKind::Store(StoreErrorKind::Unavailable), message).with_help(
                    "start the server, or correct the URL of its ingress; the server continues \
                     runs that it has received",
                )
            }
        };
        converted.with_source(error)
    }
}

/// Reports whether the same request may succeed later.
fn passes(error: &ClientError) -> bool {
    match error {
        ClientError::Transport { .. } => true,
        ClientError::Status { status, .. } => matches!(status.as_u16(), 429 | 502..=504),
        _ => false,
    }
}

impl Store for Restate {
    fn session_store(&self) -> Arc<dyn SessionStore> {
        self.0.parts.session_store()
    }

    fn engine(&self) -> Arc<dyn Engine> {
        Arc::new(self.clone())
    }

    fn artifact_store(&self) -> Option<Arc<dyn ArtifactStore>> {
        self.0.parts.artifact_store()
    }

    fn memory_service(&self) -> Option<Arc<dyn MemoryService>> {
        self.0.parts.memory_service()
    }
}

impl Journal for Restate {
    fn commit<'a>(&'a self, slot: Slot, body: Body) -> Reply<'a, Result<Stored>> {
        self.0.store.commit(slot, body)
    }

    fn step(
        &self,
        claim: ClaimId,
        key: StepKey,
        work: BoxFuture<'static, Result<Value>>,
    ) -> BoxFuture<'_, Result<Value>> {
        self.0.store.step(claim, key, work)
    }

    fn answer(&self, claim: ClaimId, wait: Wait) -> BoxFuture<'_, Result<Option<Value>>> {
        self.0.store.answer(claim, wait)
    }
}

impl Engine for Restate {
    fn retention(&self) -> Retention {
        self.0.store.retention()
    }

    fn location(&self) -> Location {
        self.0.store.location()
    }

    fn roles(&self) -> Roles<'_> {
        Roles {
            registry: self.0.store.registry().map(|_| self as &dyn RunRegistry),
            waits: self.0.store.waits().map(|_| self as &dyn WaitRegistry),
            keys: self.0.store.keys(),
            driver: Some(self),
            remote: None,
            timers: None,
        }
    }
}

impl RunDriver for Restate {
    fn begin(&self, task: RunTask) -> BoxFuture<'static, Result<Option<RunReport>>> {
        let shared = self.0.clone();
        Box::pin(async move { shared.begin(task).await })
    }

    fn follow(&self, run: RunInfo) -> BoxFuture<'static, Result<Option<RunReport>>> {
        let shared = self.0.clone();
        Box::pin(async move { shared.follow(run).await })
    }
}

impl RunRegistry for Restate {
    fn enqueue(&self, claim: ClaimId, record: RunRecord) -> BoxFuture<'_, Result<Claim>> {
        Box::pin(async move { self.0.registry()?.enqueue(claim, record).await })
    }

    fn claim(&self, run: RunId, check: ClaimCheck) -> BoxFuture<'_, Result<ClaimedRun>> {
        Box::pin(async move { self.0.registry()?.claim(run, check).await })
    }

    fn finished(&self, claim: ClaimId, done: Vec<Done>) -> BoxFuture<'_, Result<()>> {
        Box::pin(async move { self.0.registry()?.finished(claim, done).await })
    }

    fn close(
        &self,
        claim: ClaimId,
        status: RunStatus,
        usage: UsageByAgent,
    ) -> BoxFuture<'_, Result<()>> {
        Box::pin(async move { self.0.registry()?.close(claim, status, usage).await })
    }

    /// Cancels the run in the store, and its invocation in Restate.
    fn cancel<'a>(&'a self, app: &'a str, run: RunId) -> BoxFuture<'a, Result<RunStatus>> {
        let is_below = is_below();
        Box::pin(async move {
            let status = self.0.registry()?.cancel(app, run).await?;
            if status == RunStatus::Cancelled && !is_below {
                self.0.call(app, run, "cancel", Value::Null).await?;
            }
            Ok(status)
        })
    }

    fn release(&self, claim: ClaimId) {
        if let Some(registry) = self.0.store.registry() {
            registry.release(claim);
        }
    }

    fn runs<'a>(
        &'a self,
        app: &'a str,
        filter: &'a RunFilter,
    ) -> BoxFuture<'a, Result<Vec<RunInfo>>> {
        Box::pin(async move { self.0.registry()?.runs(app, filter).await })
    }

    fn count_runs<'a>(
        &'a self,
        app: &'a str,
        filter: &'a RunFilter,
    ) -> BoxFuture<'a, Result<usize>> {
        Box::pin(async move { self.0.registry()?.count_runs(app, filter).await })
    }

    fn runs_of_tenants<'a>(
        &'a self,
        app: &'a str,
        filter: &'a RunFilter,
    ) -> BoxFuture<'a, Result<Vec<RunInfo>>> {
        Box::pin(async move { self.0.registry()?.runs_of_tenants(app, filter).await })
    }

    fn driven(&self, run: RunId, from: u64) -> BoxFuture<'_, Result<Option<DrivenRun>>> {
        Box::pin(async move { self.0.registry()?.driven(run, from).await })
    }
}

impl WaitRegistry for Restate {
    fn waiting<'a>(
        &'a self,
        app: &'a str,
        filter: &'a RunFilter,
    ) -> BoxFuture<'a, Result<Vec<Waiting>>> {
        Box::pin(async move { self.0.waits()?.waiting(app, filter).await })
    }

    fn open_wait<'a>(&'a self, app: &'a str, wait: &'a str) -> BoxFuture<'a, Result<Waiting>> {
        Box::pin(async move { self.0.waits()?.open_wait(app, wait).await })
    }

    /// Restate keeps the deadlines, so none is due in the store.
    fn due<'a>(&'a self, _: &'a str, _: u64, _: usize) -> BoxFuture<'a, Result<DueWaits>> {
        Box::pin(ready(Ok(DueWaits::default())))
    }

    fn due_of_tenants<'a>(
        &'a self,
        _: &'a str,
        _: u64,
        _: usize,
    ) -> BoxFuture<'a, Result<DueWaits>> {
        Box::pin(ready(Ok(DueWaits::default())))
    }

    fn withdraw(&self, claim: ClaimId, waits: Vec<String>) -> BoxFuture<'_, Result<()>> {
        Box::pin(async move { self.0.waits()?.withdraw(claim, waits).await })
    }

    fn resolve<'a>(
        &'a self,
        app: &'a str,
        wait: &'a str,
        answer: Value,
    ) -> BoxFuture<'a, Result<()>> {
        if is_below() {
            return Box::pin(async move { self.0.waits()?.resolve(app, wait, answer).await });
        }
        Box::pin(async move {
            let run = wait.split('/').next().and_then(|run| run.parse().ok());
            let run = run.ok_or_else(|| refuse::unknown_wait(wait))?;
            let call = AnswerCall {
                app: app.to_owned(),
                wait: wait.to_owned(),
                value: answer,
            };
            let refused = self.0.call(app, run, "answer", call).await?;
            error_from_value(&refused).map_or(Ok(()), Err)
        })
    }
}
