//! [`serve`]: from a runner to a router or a process that listens.

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

/// Serves the workflows of a runner over HTTP: those of `RunnerBuilder::workflow`, and those that are added here.
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

/// A server to be configured.
#[must_use = "nothing is served until it is bound, or its router is"]
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

/// What a server takes at most.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Limits {
    /// Bytes of a request body; default 1 MiB.
    pub body: usize,
    /// Runs that are driven for one user of an app at a time; default 256.
    pub runs_per_user: usize,
    /// Streams of events that are open at a time; default 4,096.
    pub streams: usize,
    /// How long runs may go on after the server was told to stop; default 10 seconds. Those that have not ended then stay in
    /// the store, for the next process.
    pub grace: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self { body: 1 << 20, runs_per_user: 256, streams: 4096, grace: Duration::from_secs(10) }
    }
}

/// What all requests share.
pub(crate) struct App {
    runner: Runner,
    /// What ends when the server stops.
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
    /// Whether a request may be for this host. With an [`Authorize`] and no names, any: then it knows who asks.
    pub(crate) fn is_host(&self, host: &str) -> bool {
        let name = without_port(host);
        self.hosts.is_empty() && self.authorize.is_some()
            || ["localhost", "127.0.0.1", "[::1]"].contains(&name)
            || self.hosts.iter().any(|known| known.eq_ignore_ascii_case(name))
    }

    pub(crate) fn runner(&self, caller: &Caller) -> Runner {
        match caller.app.as_deref().filter(|name| *name != self.runner.app_name()) {
            Some(tenant) => self.runner.for_app(tenant),
            None => self.runner.clone(),
        }
    }

    /// The workflows as a caller sees them: without the inputs that the server gives.
    pub(crate) fn workflows(&self, runner: &Runner, caller: &Caller) -> impl Iterator<Item = KnownWorkflow> {
        runner.workflows().map(|workflow| self.with_inputs(workflow, caller))
    }

    /// The workflow of that name.
    pub(crate) fn workflow(
        &self,
        runner: &Runner,
        caller: &Caller,
        name: &str,
    ) -> Result<KnownWorkflow, Refusal> {
        let workflow = runner.workflows().find(|workflow| workflow.name() == name).ok_or_else(|| {
            let names: Vec<_> = runner.workflows().map(|known| format!("`{}`", known.name())).collect();
            Refusal::missing("workflow", name).help(format!("there are: {}", names.join(", ")))
        });
        workflow.map(|workflow| self.with_inputs(workflow, caller))
    }

    fn with_inputs(&self, workflow: KnownWorkflow, caller: &Caller) -> KnownWorkflow {
        if self.inputs.is_empty() {
            return workflow;
        }
        workflow.with_inputs(self.inputs.iter().map(|input| (input.name.clone(), input.value(caller))))
    }

    /// The runner whose app the tenants are of.
    #[cfg(feature = "push")]
    pub(crate) fn main_runner(&self) -> &Runner {
        &self.runner
    }

    /// Takes up what another process has left, and what is answered elsewhere, of all tenants.
    fn watch(&self) {
        let (runs, ours, runner) = (self.runs.clone(), self.runs.clone(), self.runner.clone());
        let watch = runner.watch().leave(move |run| ours.is_ours(run));
        let watch = watch.resume_by(move |run| runs.clone().resume(runner.for_app(&run.session.app), run));
        self.until_stopped(tokio::spawn(watch.into_future()).abort_handle());
    }

    /// Ends a task when the server stops.
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

    /// Takes no new runs, and gives those that go on a time to end.
    pub(crate) async fn stop(&self) {
        self.stop_watching();
        let _ = tokio::time::timeout(self.limits.grace, self.runs.close()).await;
        self.runs.abandon();
    }

    /// The right to an open stream.
    pub(crate) fn stream(&self) -> Result<tokio::sync::OwnedSemaphorePermit, Refusal> {
        self.streams.clone().try_acquire_owned().map_err(|_| {
            let message = format!("{} streams are open, and that is the most", self.limits.streams);
            Refusal::new(axum::http::StatusCode::SERVICE_UNAVAILABLE, "too_many_streams", message)
                .help("ask again later, or for the events as a list")
        })
    }
}

impl<P, R> Server<P, R> {
    /// Serves one more workflow under its name.
    pub fn workflow<W: Workflow + Needs<R> + 'static>(mut self, workflow: W) -> Self {
        self.runner = self.runner.with_workflow(workflow);
        self
    }

    /// Serves a tool by itself, as a workflow whose inputs are its arguments: see [`ToolWorkflow`].
    pub fn tool<T: Tool>(self, tool: T) -> Self {
        self.workflow(ToolWorkflow::new(tool))
    }

    /// Who asks, for each request. Without it everybody is an [operator](Caller::operator), and the server binds to loopback
    /// addresses alone. A layer around the [router](Self::router) may say it as well, by a [`Caller`] in the extensions of the
    /// request.
    pub fn authorize(mut self, authorize: impl Authorize) -> Self {
        self.authorize = Some(Arc::new(authorize));
        self
    }

    /// Gives an input of the workflows that have it, from the caller: requests may not name it, and no schema, form or tool
    /// shows it. A request whose caller has no value that fits is refused.
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

    /// A name by which the server is reached, beside those of loopback: requests for other hosts, and those of pages of other
    /// origins, are refused. Without any, a server with [`authorize`](Self::authorize) takes requests for every host.
    pub fn host(mut self, name: impl Into<String>) -> Self {
        self.hosts.push(name.into());
        self
    }

    /// An address to which tasks of A2A may be told (push notifications), with everything below its path: clients may give such
    /// addresses with their messages. Without any, none is posted to: a client could let the server ask inside of its network.
    ///
    /// Whichever server drives a task of the store sends its notifications, and those that a server has not sent before it ended
    /// are sent by another one: at least once, so the last one may come again. An address that does not answer is tried three
    /// times.
    #[cfg(feature = "push")]
    pub fn push_to(mut self, prefix: impl Into<String>) -> Self {
        self.push_to.push(prefix.into());
        self
    }

    /// What is taken at most.
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// How long the key of a request is bound to its run: the `Idempotency-Key` of the API, and the `messageId` of A2A. Default 24
    /// hours. A request that is repeated later begins another run.
    pub fn key_lifetime(mut self, lifetime: Duration) -> Self {
        self.key_lifetime = lifetime;
        self
    }

    /// Serves Google's dev UI, adk-web, at `/dev-ui/`: the folder that an installed google-adk has at `google/adk/cli/browser`.
    /// It is the page of one user, who is called `user` unless its address says another: `/dev-ui/?userId=ann`.
    pub fn dev_ui(mut self, folder: impl Into<PathBuf>) -> Self {
        self.dev_ui = Some(folder.into());
        self
    }

    /// The routes, to be nested in another router under any path. It also takes up the runs that another process has left, so
    /// it is made inside of a Tokio runtime.
    ///
    /// # Errors
    /// When a workflow has a name that a route has, no workflow has an [input](Self::input) that the server gives, an address to push to is no URL, or there is no page in the folder of
    /// [`dev_ui`](Self::dev_ui).
    pub fn router(self) -> Result<Router> {
        Ok(routes::router(self.app()?))
    }

    /// Serves on an address, until the process gets an interrupt or a request to terminate; then runs have
    /// [a time](Limits::grace) to end.
    ///
    /// # Errors
    /// When the address is not one of loopback and nothing says who asks; when it cannot be bound; as [`router`](Self::router).
    pub async fn bind(self, address: impl tokio::net::ToSocketAddrs) -> Result<()> {
        let listener = TcpListener::bind(address).await.map_err(|error| {
            config(format!("the server cannot listen: {error}")).with_help("give it an address that is free")
        })?;
        self.serve(listener, stopped()).await
    }

    /// Serves on a listener, until a future ends.
    ///
    /// # Errors
    /// As [`bind`](Self::bind).
    pub async fn serve(
        self,
        listener: TcpListener,
        until: impl Future<Output = ()> + Send + 'static,
    ) -> Result<()> {
        let address =
            listener.local_addr().map_err(|error| config(format!("the listener has no address: {error}")))?;
        if self.authorize.is_none() && !is_loopback(address) {
            return Err(config(format!("`{address}` is reached by others, and nothing says who may ask"))
                .with_help("bind to 127.0.0.1, or say who asks with `.authorize(...)`"));
        }
        let app = self.app()?;
        let closing = app.clone();
        let stop = async move {
            until.await;
            // Connections that wait for runs end with them.
            closing.stop().await;
        };
        let router = routes::router(app);
        let served = axum::serve(listener, router).with_graceful_shutdown(stop).await;
        served.map_err(|error| config(format!("the server has failed: {error}")))
    }

    /// Serves the workflows and tools to one client of MCP on standard input and output, until the input ends; then runs have
    /// [a time](Limits::grace) to end. Nothing else may be written to standard output.
    ///
    /// ```no_run
    /// # async fn run<W>(runner: adk_core::Runner, research: W) -> adk_core::Result<()>
    /// # where W: adk_core::Workflow + adk_core::Needs<adk_core::NoResources> + 'static {
    /// adk_server::serve(&runner).workflow(research).stdio().await
    /// # }
    /// ```
    ///
    /// # Errors
    /// When the client does not speak MCP; as [`router`](Self::router).
    #[cfg(feature = "mcp")]
    pub async fn stdio(self) -> Result<()> {
        crate::mcp::stdio(self.app()?).await
    }

    fn app(self) -> Result<Arc<App>> {
        let runner = self.runner.by_name();
        for workflow in runner.workflows() {
            if routes::TAKEN.contains(&workflow.name()) {
                let message = format!("the workflow `{}` has the name of a route", workflow.name());
                return Err(config(message).with_help("give it another name"));
            }
        }
        for CallerInput { name, .. } in &self.inputs {
            let has_it =
                |workflow: KnownWorkflow| workflow.form().inputs().iter().any(|input| *input.key == **name);
            if !runner.workflows().any(has_it) {
                let message = format!("no workflow of the server has an input `{name}`");
                return Err(
                    config(message).with_help("give `.input(...)` the name of an input, after its workflow")
                );
            }
        }
        let push = Push::new(&self.push_to)?;
        let (changes, changed) = mpsc::unbounded_channel();
        let app = App {
            watches: Mutex::default(),
            authorize: self.authorize,
            inputs: self.inputs,
            hosts: self.hosts,
            runs: Arc::new(Runs::new(&self.limits, push.is_on().then_some(changes))),
            starting: Starting::default(),
            key_lifetime: self.key_lifetime,
            streams: Arc::new(Semaphore::new(self.limits.streams.min(Semaphore::MAX_PERMITS))),
            limits: self.limits,
            push,
            dev_ui: self.dev_ui.map(|folder| adk_web::folder(&folder)).transpose()?,
            #[cfg(feature = "mcp")]
            mcp: crate::mcp::Sessions::default(),
            runner,
        };
        let app = Arc::new(app);
        app.push_changes(changed);
        app.watch();
        Ok(app)
    }
}

impl Drop for App {
    fn drop(&mut self) {
        self.stop_watching();
    }
}

/// Ends when the process is asked to end: by an interrupt, and on Unix by a request to terminate, as containers send it.
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
