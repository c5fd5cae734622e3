//! [`Server`]: builds a router or a listening process from a runner and a list of protocols.

use crate::app::{
    Access, App, Authorize, Caller, CallerInput, Identity, Limits, check, read_body_in_time,
};
use crate::connections::{LINGER, serve_connections};
use crate::protocol::Protocol;
use crate::refuse::{Refusal, short};
use adk_core::{Error, ErrorKind, Needs, Result, Runner, Tool, ToolWorkflow, Workflow};
use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::http::{StatusCode, Uri};
use axum::middleware::from_fn_with_state;
use serde::Serialize;
use std::any::Any;
use std::fmt;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::net::TcpListener;

/// The configuration of a server. [`serve`](crate::serve()) creates it.
#[must_use = "call `bind`, `serve` or `router` to serve the workflows"]
pub struct Server<P, R> {
    runner: Runner<P, R>,
    access: Access,
    limits: Limits,
    key_lifetime: Duration,
    prune: Option<Duration>,
    protocols: Vec<Box<dyn Protocol>>,
}

impl<P, R> Server<P, R> {
    /// Creates a server that speaks these protocols.
    pub(crate) fn new(runner: Runner<P, R>, protocols: Vec<Box<dyn Protocol>>) -> Self {
        Self {
            runner,
            access: Access::default(),
            limits: Limits::default(),
            key_lifetime: Duration::from_secs(24 * 3600),
            prune: None,
            protocols,
        }
    }

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
    /// [operator](Caller::operator), and the server binds only to loopback addresses, unless it is
    /// [open to all](Self::open_to_all). A layer around the [router](Self::router) may insert a
    /// [`Caller`] into the extensions of the request; the function then handles only requests
    /// without one.
    pub fn authorize(mut self, authorize: impl Authorize) -> Self {
        self.access.identity = Identity::Authorized(Arc::new(authorize));
        self
    }

    /// Makes everyone who can reach the server an [operator](Caller::operator), who sees all data
    /// and acts for all users. Without this word or [`authorize`](Self::authorize), the server
    /// binds only to loopback addresses, and [`router`](Self::router) fails.
    pub fn open_to_all(mut self) -> Self {
        self.access.identity = Identity::OpenToAll;
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
        self.access
            .inputs
            .push(CallerInput::new(name.into(), value));
        self
    }

    /// Adds a host name of the server, besides the loopback names. The server refuses requests for
    /// other hosts. Without a host name, a server with [`authorize`](Self::authorize) accepts
    /// requests for all hosts.
    ///
    /// The server also refuses requests from pages of other origins. The own origin is the scheme,
    /// host and port of the request; a proxy that ends TLS reports the scheme as
    /// `X-Forwarded-Proto`. A name with a scheme, such as `https://adk.example`, adds its host and
    /// allows pages of exactly that origin.
    pub fn host(mut self, name: impl AsRef<str>) -> Self {
        self.access.add_host(name.as_ref());
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

    /// Deletes the finished, failed and cancelled runs that ended longer ago than `after`, with
    /// their journals and waits, of the app and its tenants. Their events stay in their sessions.
    /// By default the server deletes no runs.
    ///
    /// The server looks for such runs when it starts and then every hour, or every `after` if that
    /// is shorter, but not more than once a minute. Of several servers with one store, one does it.
    /// An error is logged, and the server tries again at the next time.
    ///
    /// A deleted run can neither be shown nor retried, and a repeated request for it would start
    /// another run, so `after` must not be shorter than the [lifetime of
    /// keys](Self::key_lifetime).
    pub fn prune(mut self, after: Duration) -> Self {
        self.prune = Some(after);
        self
    }

    /// Adds a protocol, or replaces the protocol of the same type.
    pub fn protocol<T: Protocol>(mut self, protocol: T) -> Self {
        match self.protocol_mut() {
            Some(known) => *known = protocol,
            None => self.protocols.push(Box::new(protocol)),
        }
        self
    }

    /// Returns the protocol of a type.
    pub(crate) fn protocol_mut<T: Protocol>(&mut self) -> Option<&mut T> {
        self.protocols
            .iter_mut()
            .find_map(|protocol| (&mut **protocol as &mut dyn Any).downcast_mut())
    }

    /// Returns the routes, which another router may nest under any path. Also begins to resume the
    /// runs that another process has released; call it inside a Tokio runtime.
    ///
    /// The program that serves the router chooses its addresses, so the server must have
    /// [`authorize`](Self::authorize) or be [open to all](Self::open_to_all).
    ///
    /// # Errors
    /// [`ErrorKind::Config`] if everyone would be an operator without that word, a workflow has the
    /// name of a route, no workflow has an [input](Self::input) that the server sets, a
    /// [protocol](Self::protocol) refuses its settings, or runs would be [deleted](Self::prune)
    /// before their keys.
    ///
    /// # Panics
    /// If two protocols have a route with the same path.
    pub fn router(self) -> Result<Router> {
        if matches!(self.access.identity, Identity::Local) {
            let message = "the router would make everyone who reaches it an operator";
            return Err(config(message.to_owned())
                .with_help("identify callers with `.authorize(...)`, or write `.open_to_all()`"));
        }
        Ok(self.start()?.1)
    }

    /// Serves on an address until the process receives an interrupt or a termination signal. Runs
    /// and connections then have [a grace period](Limits::grace) to end.
    ///
    /// # Errors
    /// [`ErrorKind::Config`] if the address is not a loopback address and the server has no
    /// [`authorize`](Self::authorize) and is not [open to all](Self::open_to_all), or if the
    /// address cannot be bound. Also the errors of [`router`](Self::router).
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
        if matches!(self.access.identity, Identity::Local) && !is_loopback(address) {
            return Err(config(format!(
                "`{address}` is not a loopback address, and the server has no `authorize`"
            ))
            .with_help(
                "bind to 127.0.0.1, identify callers with `.authorize(...)`, or write \
                 `.open_to_all()`",
            ));
        }
        let (app, router) = self.start()?;
        let limits = app.limits().clone();
        let grace = limits.grace;
        let stop = async move {
            until.await;
            let stopped = Instant::now();
            // Connections that wait for runs end when the runs end.
            app.stop().await;
            grace.saturating_sub(stopped.elapsed()).max(LINGER)
        };
        serve_connections(listener, router, &limits, stop).await;
        Ok(())
    }

    /// Returns the shared part of the server and the routes of all protocols. Begins to resume the
    /// runs that another process has released.
    pub(crate) fn start(self) -> Result<(Arc<App>, Router)> {
        if let Some(after) = self.prune
            && after < self.key_lifetime
        {
            let message = "`.prune(...)` would delete runs whose request keys are still bound";
            return Err(config(message.to_owned())
                .with_help("pass at least the time of `.key_lifetime(...)`, by default 24 hours"));
        }
        let app = App::new(
            self.runner.by_name(),
            self.access,
            self.limits,
            self.key_lifetime,
        )?;
        let app = Arc::new(app);
        let (mut protected, mut public) = (Router::new(), Router::new());
        for protocol in self.protocols {
            let routes = protocol.routes(&app)?;
            if protocol.is_public() {
                public = public.merge(routes);
            } else {
                protected = protected.merge(routes);
            }
        }
        let router = protected
            .fallback(unknown_path)
            .method_not_allowed_fallback(wrong_method)
            .layer(DefaultBodyLimit::max(app.limits().body))
            .layer(from_fn_with_state(
                app.limits().body_time,
                read_body_in_time,
            ))
            .layer(from_fn_with_state(app.access().clone(), check))
            .merge(public)
            .with_state(app.clone());
        app.watch();
        if let Some(after) = self.prune {
            app.prune(after);
        }
        Ok((app, router))
    }
}

async fn unknown_path(uri: Uri) -> Refusal {
    Refusal::missing("path", uri.path()).help("see the paths of the API in `GET /openapi.json`")
}

async fn wrong_method(uri: Uri) -> Refusal {
    let message = format!("`{}` does not support this method", short(uri.path()));
    Refusal::new(StatusCode::METHOD_NOT_ALLOWED, "method", message)
        .help("see the paths of the API in `GET /openapi.json`")
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
