//! [`serve`] and [`Server`]: build a router or a listening process from a runner.

use crate::a2a::Push;
use crate::access::{self, Authorize, Caller, CallerInput, without_port};
use crate::adk_web;
use crate::keys::Starting;
use crate::refuse::Refusal;
use crate::routes;
use crate::runs::{Runs, lock};
use adk_core::runner::KnownWorkflow;
use adk_core::{Error, ErrorKind, Needs, Result, Runner, Tool, ToolWorkflow, Workflow};
use axum::Router;
use serde::Serialize;
use std::fmt;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::sync::{Semaphore, mpsc};
use tokio::task::AbortHandle;

/// Serves the workflows of a runner over HTTP: the workflows of `RunnerBuilder::workflow` and of
/// [`Server::workflow`].
///
/// ```no_run
/// # async fn run<W>(runner: adk_core::Runner, research: W) -> adk_core::Result<()>
/// # where W: adk_core::Workflow + adk_core::Needs<adk_core::NoResources> + 'static {
/// adk_server::serve(&runner).workflow(research).bind("127.0.0.1:8000").await
/// # }
/// ```
pub fn serve<P, R>(runner: &Runner<P, R>) -> Server<P, R> {
    let (inputs, hosts, limits, push_to) = Default::default();
    let key_lifetime = Duration::from_secs(24 * 3600);
    Server {
        runner: runner.clone(),
        authorize: None,
        inputs,
        hosts,
        limits,
        key_lifetime,
        push_to,
        dev_ui: None,
    }
}

/// The configuration of a server. [`serve`] creates it.
#[must_use = "call `bind`, `serve` or `router` to serve the workflows"]
pub struct Server<P, R> {
    runner: Runner<P, R>,
    authorize: Option<Arc<dyn Authorize>>,
    inputs: Vec<CallerInput>,
    hosts: Vec<String>,
    limits: Limits,
    key_lifetime: Duration,
    push_to: Vec<String>,
    dev_ui: Option<PathBuf>,
}

/// The limits of a server.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Limits {
    /// The maximum size of a request body in bytes; default 1 MiB.
    pub body: usize,
    /// The maximum number of concurrent runs of one user of an app; default 256.
    pub runs_per_user: usize,
    /// The maximum number of concurrent event streams; default 4,096.
    pub streams: usize,
    /// The time that runs may take after the server was asked to stop; default 10 seconds. Runs
    /// that have not ended by then stay in the store for the next process.
    pub grace: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            body: 1 << 20,
            runs_per_user: 256,
            streams: 4096,
            grace: Duration::from_secs(10),
        }
    }
}

/// The state that all requests share.
pub(crate) struct App {
    runner: Runner,
    /// Tasks that end when the server stops.
    watches: Mutex<Vec<AbortHandle>>,
    pub(crate) authorize: Option<Arc<dyn Authorize>>,
    inputs: Vec<CallerInput>,
    pub(crate) hosts: Vec<String>,
    pub(crate) runs: Arc<Runs>,
    pub(crate) starting: Starting,
    pub(crate) key_lifetime: Duration,
    pub(crate) streams: Arc<Semaphore>,
    pub(crate) limits: Limits,
    pub(crate) push: Push,
    /// The folder of Google's dev UI.
    pub(crate) dev_ui: Option<PathBuf>,
    #[cfg(feature = "mcp")]
    pub(crate) mcp: crate::mcp::Sessions,
}

impl App {
    /// Returns whether requests may name this host. A server with an [`Authorize`] and no host
    /// names accepts all.
    pub(crate) fn is_host(&self, host: &str) -> bool {
        let name = without_port(host);
        self.hosts.is_empty() && self.authorize.is_some()
            || ["localhost", "127.0.0.1", "[::1]"].contains(&name)
            || self
                .hosts
                .iter()
                .any(|known| known.eq_ignore_ascii_case(name))
    }

    pub(crate) fn runner(&self, caller: &Caller) -> Runner {
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
    pub(crate) fn workflows(
        &self,
        runner: &Runner,
        caller: &Caller,
    ) -> impl Iterator<Item = KnownWorkflow> {
        runner
            .workflows()
            .map(|workflow| self.with_inputs(workflow, caller))
    }

    /// Returns a workflow by name.
    pub(crate) fn workflow(
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
        workflow.map(|workflow| self.with_inputs(workflow, caller))
    }

    fn with_inputs(&self, workflow: KnownWorkflow, caller: &Caller) -> KnownWorkflow {
        if self.inputs.is_empty() {
            return workflow;
        }
        workflow.with_inputs(
            self.inputs
                .iter()
                .map(|input| (input.name.clone(), input.value(caller))),
        )
    }

    /// Returns the runner that was passed to [`serve`].
    #[cfg(feature = "push")]
    pub(crate) fn main_runner(&self) -> &Runner {
        &self.runner
    }

    /// Resumes runs of all tenants that another process has released or answered.
    fn watch(&self) {
        let (runs, known, runner) = (self.runs.clone(), self.runs.clone(), self.runner.clone());
        let watch = runner.watch().leave(move |run| known.is_driven_here(run));
        let watch =
            watch.resume_by(move |run| runs.clone().resume(runner.for_app(&run.session.app), run));
        self.until_stopped(tokio::spawn(watch.into_future()).abort_handle());
    }

    /// Aborts a task when the server stops.
    pub(crate) fn until_stopped(&self, task: AbortHandle) {
        let mut watches = lock(&self.watches);
        watches.retain(|watch| !watch.is_finished());
        watches.push(task);
    }

    fn stop_watching(&self) {
        for watch in lock(&self.watches).drain(..) {
            watch.abort();
        }
    }

    /// Refuses new runs, and waits for the others up to [`Limits::grace`].
    pub(crate) async fn stop(&self) {
        self.stop_watching();
        let _ = tokio::time::timeout(self.limits.grace, self.runs.close()).await;
        self.runs.abandon();
    }

    /// Acquires a permit for an open stream.
    pub(crate) fn acquire_stream(&self) -> Result<tokio::sync::OwnedSemaphorePermit, Refusal> {
        self.streams.clone().try_acquire_owned().map_err(|_| {
            let message = format!(
                "the server has reached the limit of {} open streams",
                self.limits.streams
            );
            Refusal::new(
                axum::http::StatusCode::SERVICE_UNAVAILABLE,
                "too_many_streams",
                message,
            )
            .help("try again later, or request the events as a list")
        })
    }
}

impl<P, R> Server<P, R> {
    /// Adds a workflow, served under its name.
    pub fn workflow<W: Workflow + Needs<R> + 'static>(mut self, workflow: W) -> Self {
        self.runner = self.runner.with_workflow(workflow);
        self
    }

    /// Adds a tool, served as a workflow whose inputs are its arguments. See [`ToolWorkflow`].
    pub fn tool<T: Tool>(self, tool: T) -> Self {
        self.workflow(ToolWorkflow::new(tool))
    }

    /// Sets the function that identifies the caller of each request. Without it, each caller is an
    /// [operator](Caller::operator), and the server binds only to loopback addresses.
    /// Alternatively, a layer around the [router](Self::router) may insert a [`Caller`] into the
    /// extensions of the request.
    pub fn authorize(mut self, authorize: impl Authorize) -> Self {
        self.authorize = Some(Arc::new(authorize));
        self
    }

    /// Sets an input of all workflows that have it, from the caller. Requests may not contain the
    /// input, and schemas, forms and tools omit it. A request whose caller has no valid value is
    /// refused.
    ///
    /// ```no_run
    /// # async fn run<W>(runner: adk_core::Runner, orders: W) -> adk_core::Result<()>
    /// # where W: adk_core::Workflow + adk_core::Needs<adk_core::NoResources> + 'static {
    /// let server = adk_server::serve(&runner).workflow(orders);
    /// server.input("customer", |caller| caller.user.clone()).bind("127.0.0.1:8000").await?;
    /// # Ok(()) }
    /// ```
    pub fn input<T: Serialize>(
        mut self,
        name: impl Into<String>,
        value: impl Fn(&Caller) -> T + Send + Sync + 'static,
    ) -> Self {
        self.inputs.push(CallerInput::new(name.into(), value));
        self
    }

    /// Adds a host name of the server, besides the loopback names. The server refuses requests for
    /// other hosts and from pages of other origins. Without a host name, a server with
    /// [`authorize`](Self::authorize) accepts requests for all hosts.
    pub fn host(mut self, name: impl Into<String>) -> Self {
        self.hosts.push(name.into());
        self
    }

    /// Allows A2A push notifications to an address and to all addresses below its path. Clients
    /// pass such addresses with their messages. By default no address is allowed, because a client
    /// could otherwise make the server send requests inside its network.
    ///
    /// The server that drives a task sends its notifications. If a server ends before it has sent
    /// them, another server sends them. Delivery is at least once, so the last notification may be
    /// repeated. The server tries an address that does not answer three times.
    #[cfg(feature = "push")]
    pub fn push_to(mut self, prefix: impl Into<String>) -> Self {
        self.push_to.push(prefix.into());
        self
    }

    /// Sets the limits.
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Sets the time that a request key stays bound to its run: the `Idempotency-Key` of the API,
    /// and the `messageId` of A2A. Default: 24 hours. A request that is repeated later starts
    /// another run.
    pub fn key_lifetime(mut self, lifetime: Duration) -> Self {
        self.key_lifetime = lifetime;
        self
    }

    /// Serves Google's dev UI, adk-web, at `/dev-ui/`. `folder` is `google/adk/cli/browser` of an
    /// installed google-adk. The page acts for the user `user`; another address selects another
    /// user: `/dev-ui/?userId=ann`.
    pub fn dev_ui(mut self, folder: impl Into<PathBuf>) -> Self {
        self.dev_ui = Some(folder.into());
        self
    }

    /// Returns the routes, which another router may nest under any path. Also begins to resume the
    /// runs that another process has released; call it inside a Tokio runtime.
    ///
    /// # Errors
    /// [`ErrorKind::Config`] if a workflow has the name of a route, no workflow has an
    /// [input](Self::input) that the server sets, a push address is not an HTTP URL, or the folder
    /// of [`dev_ui`](Self::dev_ui) has no page.
    pub fn router(self) -> Result<Router> {
        Ok(routes::router(self.app()?))
    }

    /// Serves on an address until the process receives an interrupt or a termination signal. Runs
    /// then have [a grace period](Limits::grace) to end.
    ///
    /// # Errors
    /// [`ErrorKind::Config`] if the address is not a loopback address and the server has no
    /// [`authorize`](Self::authorize), or if the address cannot be bound. Also the errors of
    /// [`router`](Self::router).
    pub async fn bind(self, address: impl tokio::net::ToSocketAddrs) -> Result<()> {
        let listener = TcpListener::bind(address).await.map_err(|error| {
            config(format!("the server cannot listen: {error}")).with_help("choose a free address")
        })?;
        self.serve(listener, stopped()).await
    }

    /// Serves on a listener until a future completes.
    ///
    /// # Errors
    /// The errors of [`bind`](Self::bind).
    pub async fn serve(
        self,
        listener: TcpListener,
        until: impl Future<Output = ()> + Send + 'static,
    ) -> Result<()> {
        let address = listener
            .local_addr()
            .map_err(|error| config(format!("the listener has no address: {error}")))?;
        if self.authorize.is_none() && !is_loopback(address) {
            return Err(config(format!(
                "`{address}` is not a loopback address, and the server has no `authorize`"
            ))
            .with_help("bind to 127.0.0.1, or identify callers with `.authorize(...)`"));
        }
        let app = self.app()?;
        let closing = app.clone();
        let stop = async move {
            until.await;
            // Connections that wait for runs end when the runs end.
            closing.stop().await;
        };
        let router = routes::router(app);
        let result = axum::serve(listener, router)
            .with_graceful_shutdown(stop)
            .await;
        result.map_err(|error| config(format!("the server has failed: {error}")))
    }

    /// Serves the workflows and tools to one MCP client on standard input and output, until the
    /// input ends. Runs then have [a grace period](Limits::grace) to end. The program must not
    /// write anything else to standard output.
    ///
    /// ```no_run
    /// # async fn run<W>(runner: adk_core::Runner, research: W) -> adk_core::Result<()>
    /// # where W: adk_core::Workflow + adk_core::Needs<adk_core::NoResources> + 'static {
    /// adk_server::serve(&runner).workflow(research).stdio().await
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::Config`] if the client does not speak MCP. Also the errors of
    /// [`router`](Self::router).
    #[cfg(feature = "mcp")]
    pub async fn stdio(self) -> Result<()> {
        crate::mcp::stdio(self.app()?).await
    }

    fn app(self) -> Result<Arc<App>> {
        let runner = self.runner.by_name();
        for workflow in runner.workflows() {
            if routes::RESERVED_NAMES.contains(&workflow.name()) {
                let message = format!("the workflow `{}` has the name of a route", workflow.name());
                return Err(config(message).with_help("rename the workflow"));
            }
        }
        for CallerInput { name, .. } in &self.inputs {
            let has_input = |workflow: KnownWorkflow| {
                workflow
                    .form()
                    .inputs()
                    .iter()
                    .any(|input| *input.key == **name)
            };
            if !runner.workflows().any(has_input) {
                let message = format!("no workflow of the server has an input `{name}`");
                return Err(config(message).with_help("pass the name of an input to `.input(...)`"));
            }
        }
        let push = Push::new(&self.push_to)?;
        let (changes, receiver) = mpsc::unbounded_channel();
        let app = App {
            watches: Mutex::default(),
            authorize: self.authorize,
            inputs: self.inputs,
            hosts: self.hosts,
            runs: Arc::new(Runs::new(&self.limits, push.is_on().then_some(changes))),
            starting: Starting::default(),
            key_lifetime: self.key_lifetime,
            streams: Arc::new(Semaphore::new(
                self.limits.streams.min(Semaphore::MAX_PERMITS),
            )),
            limits: self.limits,
            push,
            dev_ui: self
                .dev_ui
                .map(|folder| adk_web::folder(&folder))
                .transpose()?,
            #[cfg(feature = "mcp")]
            mcp: crate::mcp::Sessions::default(),
            runner,
        };
        let app = Arc::new(app);
        app.push_changes(receiver);
        app.watch();
        Ok(app)
    }
}

impl Drop for App {
    fn drop(&mut self) {
        self.stop_watching();
    }
}

/// Completes when the process receives an interrupt or, on Unix, a termination signal, as
/// containers send it.
pub async fn stopped() {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        if let Ok(mut terminate) = signal(SignalKind::terminate()) {
            tokio::select! {
                _ = tokio::signal::ctrl_c() => {}
                _ = terminate.recv() => {}
            }
            return;
        }
    }
    let _ = tokio::signal::ctrl_c().await;
}

fn is_loopback(address: SocketAddr) -> bool {
    address.ip().to_canonical().is_loopback()
}

fn config(message: String) -> Error {
    Error::new(ErrorKind::Config, message)
}

impl<P, R> fmt::Debug for Server<P, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Server({:?})", self.runner)
    }
}

pub(crate) use access::check;
