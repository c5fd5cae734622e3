//! [`Endpoint`]: the workflows of a runner as services of Restate.

use crate::service::{Handlers, definition};
use crate::{Worker, branch, idle, run};
use adk_core::runner::KnownWorkflow;

use adk_core::spec::Topology;
use adk_core::{Error, ErrorKind, Needs, Result, Runner, Workflow};
use restate_sdk::discovery::ServiceType;
use restate_sdk::endpoint::{self, ServiceOptions};
use restate_sdk::http_server::HttpServer;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::{TcpListener, ToSocketAddrs};

/// Serves workflows to a Restate server, which calls this process to execute their runs.
///
/// All workers and clients share the session store and the engine of the runner: Postgres, or a
/// SQLite file on one machine. The endpoint serves the workflows that the runner knows, and those
/// added by [`Endpoint::workflow`].
///
/// ```no_run
/// # use adk_core as adk;
/// # async fn serve(runner: adk::Runner) -> adk::Result<()> {
/// adk_restate::endpoint(&runner).serve("0.0.0.0:9080").await
/// # }
/// ```
pub fn endpoint<P, R>(runner: &Runner<P, R>) -> Endpoint<P, R> {
    Endpoint {
        runner: runner.clone(),
        keys: Vec::new(),
        retries: None,
    }
}

/// Workflows to serve, see [`endpoint()`].
#[must_use = "an `Endpoint` serves nothing until you call `serve`"]
pub struct Endpoint<P, R> {
    runner: Runner<P, R>,
    keys: Vec<String>,
    retries: Option<Retries>,
}

/// Retry policy of Restate for transient failures, such as an unreachable database.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Retries {
    /// Pause after the first failure.
    pub first: Duration,
    /// Factor by which each pause exceeds the previous one.
    pub factor: f64,
    /// Longest pause.
    pub longest: Duration,
    /// Number of attempts after which Restate pauses the invocation until an operator resumes it.
    /// `None` for no limit.
    pub attempts: Option<u64>,
}

impl Retries {
    /// Returns a policy without a limit of attempts. The pause is 100 ms at first, doubles each
    /// time, and is at most 10 s.
    pub fn new() -> Self {
        let (first, longest) = (Duration::from_millis(100), Duration::from_secs(10));
        Self {
            first,
            factor: 2.0,
            longest,
            attempts: None,
        }
    }

    /// Sets the number of attempts after which Restate pauses the invocation.
    pub fn attempts(mut self, attempts: u64) -> Self {
        self.attempts = Some(attempts);
        self
    }

    /// Sets the first and the longest pause.
    pub fn between(mut self, first: Duration, longest: Duration) -> Self {
        (self.first, self.longest) = (first, longest);
        self
    }

    fn options(&self) -> ServiceOptions {
        let options = ServiceOptions::new()
            .retry_policy_initial_interval(self.first)
            .retry_policy_exponentiation_factor(self.factor)
            .retry_policy_max_interval(self.longest);
        // Without a number, Restate applies a limit of its own.
        let attempts = self.attempts.unwrap_or(u64::from(u32::MAX));
        options
            .retry_policy_max_attempts(attempts)
            .retry_policy_pause_on_max_attempts()
    }
}

impl Default for Retries {
    fn default() -> Self {
        Self::new()
    }
}

impl<P, R> Endpoint<P, R> {
    /// Adds a workflow, in addition to those that the runner knows by name.
    pub fn workflow<W: Workflow + Needs<R> + 'static>(mut self, workflow: W) -> Self {
        self.runner = self.runner.with_workflow(workflow);
        self
    }

    /// Adds the public key of a Restate server, such as
    /// `publickeyv1_w7YHemBctH5Ck2nQRQ47iBBqhNHy4FV7t2Usbye2A6f`. The endpoint then accepts only
    /// calls that are signed with one of its keys. Default: the endpoint accepts all calls.
    pub fn identity_key(mut self, key: impl Into<String>) -> Self {
        self.keys.push(key.into());
        self
    }

    /// Sets the retry policy for transient failures. Default: the configuration of the Restate
    /// server.
    pub fn retry(mut self, retries: Retries) -> Self {
        self.retries = Some(retries);
        self
    }

    /// Binds an address and serves until the process receives an interrupt or a termination signal.
    /// Calls in flight then have ten seconds; Restate repeats unfinished calls on another worker.
    ///
    /// # Errors
    /// Fails with [`ErrorKind::Config`] if the address cannot be bound, or like
    /// [`serve_on`](Self::serve_on).
    pub async fn serve(self, address: impl ToSocketAddrs + fmt::Debug) -> Result<()> {
        let listener = TcpListener::bind(&address).await.map_err(|error| {
            Error::new(
                ErrorKind::Config,
                format!("cannot serve on {address:?}: {error}"),
            )
            .with_source(error)
        })?;
        self.serve_on(listener, shutdown_signal()).await
    }

    /// Serves on a socket until `shutdown` is ready.
    ///
    /// # Errors
    /// Fails with [`ErrorKind::Config`] if the engine of the runner does not outlive the process,
    /// if there is no workflow, or if Restate rejects the name of a workflow or a key.
    pub async fn serve_on(
        self,
        listener: TcpListener,
        shutdown: impl Future<Output = ()>,
    ) -> Result<()> {
        let endpoint = self.build()?;
        HttpServer::new(endpoint)
            .serve_with_cancel(listener, shutdown)
            .await;
        Ok(())
    }

    fn build(self) -> Result<endpoint::Endpoint> {
        let engine = self.runner.engine().clone();
        crate::is_durable(&*engine)?;
        let workflows: Vec<_> = self.runner.workflows().collect();
        if workflows.is_empty() {
            return Err(
                Error::new(ErrorKind::Config, "the endpoint has no workflow to serve").with_help(
                    "add a workflow with `Runner::builder().workflow(...)` or `.workflow(...)`",
                ),
            );
        }
        let branches = |known: &KnownWorkflow| {
            let shape = Topology::of(known.agent().meta());
            (
                known.name().to_owned(),
                branch::services(known.name(), &shape),
            )
        };
        let worker = Arc::new(Worker {
            engine,
            sessions: self.runner.session_store().clone(),
            branches: workflows.iter().map(branches).collect(),
            runner: self.runner.by_name(),
        });
        let options = self
            .retries
            .as_ref()
            .map(Retries::options)
            .unwrap_or_default();
        let mut builder = endpoint::Endpoint::builder();
        let mut bind = |name: &str, ty, handlers: Handlers| -> Result<()> {
            let service = definition(name, ty, handlers, &worker, options.clone())?;
            builder = std::mem::take(&mut builder).bind(service);
            Ok(())
        };
        for (workflow, branches) in &worker.branches {
            bind(workflow, ServiceType::Workflow, run::HANDLERS)?;
            for branches in branches {
                bind(branches, ServiceType::Service, branch::HANDLERS)?;
            }
        }
        bind(idle::SESSIONS, ServiceType::VirtualObject, idle::HANDLERS)?;
        for key in &self.keys {
            builder = builder.identity_key(key).map_err(|error| {
                Error::new(
                    ErrorKind::Config,
                    format!("`{key}` is not an identity key of Restate: {error}"),
                )
            })?;
        }
        Ok(builder.build())
    }
}

impl<P, R> fmt::Debug for Endpoint<P, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Endpoint({:?})", self.runner)
    }
}

/// Completes when the process receives an interrupt or a termination signal.
async fn shutdown_signal() {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        if let Ok(mut terminate) = signal(SignalKind::terminate()) {
            let interrupt = std::pin::pin!(tokio::signal::ctrl_c());
            let terminate = std::pin::pin!(terminate.recv());
            futures_util::future::select(interrupt, terminate).await;
            return;
        }
    }
    let _ = tokio::signal::ctrl_c().await;
}
