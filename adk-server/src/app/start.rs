//! [`Starter`]: starts a run at most once per request key. The key is bound to the id of the run,
//! and the store refuses a second run with that id.

use super::access::Caller;
use super::follow::micros;
use super::runs::{Listener, Runs, Started};
use crate::refuse::Refusal;
use adk_core::engine::{KeyBinding, RequestKey, RunFilter, RunInfo, RunStatus};
use adk_core::runner::SessionHandle;
use adk_core::{Error, ErrorKind, Result, RunId, RunRequest, Runner};
use axum::http::StatusCode;
use serde_json::{Value, json};
use std::collections::HashSet;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;

/// The time that a repeated request waits for the first request to start its run.
const WAIT: Duration = Duration::from_secs(2);

/// The number of attempts to start a run whose first commit has an unknown outcome.
const ATTEMPTS: u32 = 2;

/// The runs that requests to this process are about to start.
#[derive(Default)]
struct Starting(watch::Sender<HashSet<RunId>>);

/// The exclusive right to start a run in this process. Dropping it releases the right.
struct StartingRun<'a> {
    starting: &'a Starting,
    run: RunId,
}

impl Starting {
    /// Returns `None` if another request is starting the run.
    fn enter(&self, run: RunId) -> Option<StartingRun<'_>> {
        let is_first = self.0.send_if_modified(|runs| runs.insert(run));
        is_first.then_some(StartingRun {
            starting: self,
            run,
        })
    }

    /// Waits until no request is starting the run. Returns `false` after [`WAIT`].
    async fn wait(&self, run: RunId) -> bool {
        let mut runs = self.0.subscribe();
        tokio::time::timeout(WAIT, runs.wait_for(|runs| !runs.contains(&run)))
            .await
            .is_ok()
    }
}

impl Drop for StartingRun<'_> {
    fn drop(&mut self) {
        self.starting
            .0
            .send_if_modified(|runs| runs.remove(&self.run));
    }
}

/// The key of a request that starts a run.
pub(crate) struct Key {
    pub(crate) scope: String,
    pub(crate) key: String,
    /// Whether a repeated request starts a new run if the first run has failed or was cancelled.
    pub(crate) begins_again: bool,
}

/// Returns the scope of the keys of one caller in one protocol. Callers do not share keys.
pub(crate) fn scope(protocol: &str, caller: &Caller) -> String {
    json!([protocol, caller.user]).to_string()
}

/// Returns a digest of JSON that does not depend on the order of fields.
pub(crate) fn digest(mut request: Value) -> String {
    request.sort_all_objects();
    format!("{:032x}", RunId::of_text(&request.to_string()).as_u128())
}

/// The parameters of a run that is to be started.
pub struct RunStart<'a> {
    runner: &'a Runner,
    user: &'a str,
    workflow: &'a str,
    /// The session; without one, the run gets its own session.
    session: Option<&'a str>,
    /// The body of the request, which the digest of the key covers.
    input: &'a Value,
    key: Option<Key>,
}

/// The outcome of [`App::begin`](super::App::begin).
#[derive(Debug)]
pub enum StartOutcome {
    /// This request has started the run.
    Started(RunInfo, Listener),
    /// An earlier request with the same key has started the run.
    Existing(RunInfo),
    /// The run may or may not have started: an earlier request is starting it, or the store is
    /// unavailable.
    Unknown(RunInfo),
}

impl<'a> RunStart<'a> {
    /// Creates the parameters of a run in its own session.
    pub fn new(runner: &'a Runner, user: &'a str, workflow: &'a str, input: &'a Value) -> Self {
        Self {
            runner,
            user,
            workflow,
            session: None,
            input,
            key: None,
        }
    }

    /// Sets the id of the session.
    #[must_use]
    pub fn session(mut self, id: impl Into<Option<&'a str>>) -> Self {
        self.session = id.into();
        self
    }

    /// Sets the key of the request. A repeated request with the key starts no second run.
    pub(crate) fn key(mut self, key: impl Into<Option<Key>>) -> Self {
        self.key = key.into();
        self
    }

    /// Returns the session. A default session is named after the run, so that repeated requests use
    /// the same one.
    fn handle(&self, run: RunId) -> SessionHandle {
        match self.session {
            Some(session) => self.runner.session(self.user, session),
            None => self.runner.session(self.user, run.to_string()),
        }
    }

    async fn find(&self, run: RunId) -> Result<Option<RunInfo>> {
        Ok(self
            .runner
            .runs(&RunFilter::of_run(run))
            .await?
            .into_iter()
            .next())
    }

    /// Returns the data of the run that is known without the store.
    fn info(&self, run: RunId) -> RunInfo {
        let (key, time) = (self.handle(run).key().clone(), micros(run.as_u128()));
        RunInfo::new(run, key, self.workflow, RunStatus::Running, false).at(time, time)
    }

    /// Binds a key to `run` if the key is free. Returns the run that the key is bound to.
    async fn bind(&self, key: &Key, run: RunId, lifetime: Duration) -> Result<RunId, Refusal> {
        let request = RequestKey::new(self.runner.app_name(), &key.scope, &key.key);
        let digest = digest(json!([self.workflow, self.user, self.session, self.input]));
        let binding = KeyBinding::new(run.to_string(), digest);
        let mut bound = bind(self.runner, &request, &binding, None, lifetime).await?;
        if key.begins_again && bound.target != binding.target {
            let first = bound.target.parse().ok();
            let first = match first {
                Some(first) => self.find(first).await.ok().flatten(),
                None => None,
            };
            if first.is_some_and(|run| {
                matches!(run.status, RunStatus::Failed(_) | RunStatus::Cancelled)
            }) {
                bound = bind(
                    self.runner,
                    &request,
                    &binding,
                    Some(&bound.target),
                    lifetime,
                )
                .await?;
            }
        }
        if bound.digest != binding.digest {
            return Err(another_request());
        }
        Ok(bound.target.parse::<RunId>()?)
    }
}

/// Binds a key in the store.
pub(crate) async fn bind(
    runner: &Runner,
    key: &RequestKey,
    binding: &KeyBinding,
    replaces: Option<&str>,
    lifetime: Duration,
) -> Result<KeyBinding> {
    let keys = runner.engine().keys().ok_or_else(|| {
        Error::new(
            ErrorKind::Config,
            "the engine of this server does not store request keys",
        )
        .with_help("omit the key, or use an engine with `Engine::keys`")
    })?;
    keys.bind(key, binding, replaces, lifetime).await
}

/// Refuses a key that an earlier, different request has used.
pub(crate) fn another_request() -> Refusal {
    let message = "an earlier, different request has used the key of this request";
    Refusal::new(StatusCode::UNPROCESSABLE_ENTITY, "key_reused", message)
        .help("use a new key for each request, and repeat a request unchanged")
}

/// Refuses a request whose run may or may not have started.
pub(crate) fn may_begin(run: RunId) -> Refusal {
    let message = format!("run `{run}` of this key may have started or may start soon");
    Refusal::new(StatusCode::CONFLICT, "starting", message)
        .help("send the same request with the same key again")
        .retry()
}

impl fmt::Debug for RunStart<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RunStart({} of {})", self.workflow, self.user)
    }
}

/// Starts the runs of requests.
pub(crate) struct Starter {
    runs: Arc<Runs>,
    /// The time that a key stays bound to its run.
    pub(crate) key_lifetime: Duration,
    starting: Starting,
}

impl Starter {
    pub(crate) fn new(runs: Arc<Runs>, key_lifetime: Duration) -> Self {
        Self {
            runs,
            key_lifetime,
            starting: Starting::default(),
        }
    }

    /// Starts a run, unless an earlier request with its key has started one.
    ///
    /// The store accepts each run id once, also from several processes. Therefore a request that
    /// finds a bound key without a stored run starts that run itself.
    ///
    /// # Errors
    /// If this request has not started a run. If the store is unavailable, an earlier request with
    /// the key may have started one.
    pub(crate) async fn begin(
        &self,
        start: &RunStart<'_>,
        request: impl Fn(&SessionHandle) -> Result<RunRequest<'static, Value>>,
    ) -> Result<StartOutcome, Refusal> {
        let id = RunId::new();
        let run = match &start.key {
            Some(key) => start.bind(key, id, self.key_lifetime).await?,
            None => id,
        };
        let unknown = || Ok(StartOutcome::Unknown(start.info(run)));
        let mut is_repeated = run != id;
        let _starting = loop {
            if is_repeated {
                match start.find(run).await {
                    Ok(Some(run)) => return Ok(StartOutcome::Existing(run)),
                    Ok(None) => {}
                    Err(_) => return unknown(),
                }
            }
            if let Some(starting) = self.starting.enter(run) {
                break starting;
            }
            is_repeated = true;
            if !self.starting.wait(run).await {
                return unknown();
            }
        };
        let session = start.handle(run);
        for _ in 0..ATTEMPTS {
            let refusal = match self
                .runs
                .start(session.key(), request(&session)?.run_id(run))
                .await
            {
                Ok(Started { run, listener }) => {
                    let now = start.find(run).await.ok().flatten();
                    return Ok(StartOutcome::Started(
                        now.unwrap_or_else(|| start.info(run)),
                        listener,
                    ));
                }
                Err(refusal) => refusal,
            };
            is_repeated |= refusal.is_outcome_unknown();
            // Another request with this key may have started the run first.
            let is_adopted = start.key.is_some() && refusal.status() == StatusCode::CONFLICT;
            if !is_repeated && !is_adopted {
                return Err(refusal);
            }
            match start.find(run).await {
                Ok(Some(run)) => return Ok(StartOutcome::Existing(run)),
                // The commit is not visible yet, or it failed. Trying again is safe: the store
                // accepts an id once.
                Ok(None) if refusal.is_outcome_unknown() => {}
                Ok(None) if refusal.status() != StatusCode::SERVICE_UNAVAILABLE => {
                    return Err(refusal);
                }
                Ok(None) | Err(_) => return unknown(),
            }
        }
        unknown()
    }
}
