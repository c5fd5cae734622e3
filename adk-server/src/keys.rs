//! Runs that begin once: [`App::begin`] binds the key of a request to the id of its run, and the store refuses a second run of that
//! id.

use crate::access::Caller;
use crate::follow::micros;
use crate::refuse::Refusal;
use crate::runs::{Listener, Started};
use crate::serve::App;
use adk_core::engine::{KeyBinding, RequestKey, RunFilter, RunInfo, RunStatus};
use adk_core::runner::SessionHandle;
use adk_core::{Error, ErrorKind, Result, RunId, RunRequest, Runner};
use axum::http::StatusCode;
use serde_json::{Value, json};
use std::collections::HashSet;
use std::time::Duration;
use tokio::sync::watch;

/// How long a repeated request waits for the first one to begin its run.
const WAIT: Duration = Duration::from_secs(2);

/// How often a run is begun under one id when the store is lost in the commit of its first event.
const ATTEMPTS: u32 = 2;

/// The runs that requests to this process are about to begin.
#[derive(Default)]
pub(crate) struct Starting(watch::Sender<HashSet<RunId>>);

/// The right to begin a run in this process, for as long as this lives.
struct StartingRun<'a> {
    starting: &'a Starting,
    run: RunId,
}

impl Starting {
    /// `None` when another request begins the run.
    fn enter(&self, run: RunId) -> Option<StartingRun<'_>> {
        let is_first = self.0.send_if_modified(|runs| runs.insert(run));
        is_first.then_some(StartingRun { starting: self, run })
    }

    /// Waits until no request begins the run; `false` when that takes too long.
    async fn wait(&self, run: RunId) -> bool {
        let mut runs = self.0.subscribe();
        tokio::time::timeout(WAIT, runs.wait_for(|runs| !runs.contains(&run))).await.is_ok()
    }
}

impl Drop for StartingRun<'_> {
    fn drop(&mut self) {
        self.starting.0.send_if_modified(|runs| runs.remove(&self.run));
    }
}

/// The key of a request that begins a run.
pub(crate) struct Key {
    pub(crate) scope: String,
    pub(crate) key: String,
    /// Whether a key whose run has failed or was cancelled begins another run.
    pub(crate) begins_again: bool,
}

/// The scope of the keys that a caller gives in a protocol. Keys of one caller are unknown to all others.
pub(crate) fn scope(protocol: &str, caller: &Caller) -> String {
    json!([protocol, caller.user]).to_string()
}

/// The same digest for the same JSON, whatever the order of its fields.
pub(crate) fn digest(mut request: Value) -> String {
    request.sort_all_objects();
    format!("{:032x}", RunId::of_text(&request.to_string()).as_u128())
}

/// A run to be begun.
pub(crate) struct Beginning<'a> {
    pub(crate) runner: &'a Runner,
    pub(crate) user: &'a str,
    pub(crate) workflow: &'a str,
    /// Without one the run has a session of its own.
    pub(crate) session: Option<&'a str>,
    /// What is asked for: the input, and what belongs to it.
    pub(crate) input: &'a Value,
    pub(crate) key: Option<Key>,
}

/// How the run of a request began.
pub(crate) enum Begun {
    /// By this request.
    Now(RunInfo, Listener),
    /// By an earlier request with the same key.
    Before(RunInfo),
    /// Whether it has begun is not known, and it may begin later: an earlier request is about to, or the store was lost.
    Unknown(RunInfo),
}

impl Beginning<'_> {
    /// The session is known by the run, so that every request with the key begins it there.
    fn session(&self, run: RunId) -> SessionHandle {
        match self.session {
            Some(session) => self.runner.session(self.user, session),
            None => self.runner.session(self.user, run.to_string()),
        }
    }

    async fn find(&self, run: RunId) -> Result<Option<RunInfo>> {
        Ok(self.runner.runs(&RunFilter::of_run(run)).await?.into_iter().next())
    }

    /// The run as far as it is known without the store.
    fn info(&self, run: RunId) -> RunInfo {
        let (key, time) = (self.session(run).key().clone(), micros(run.as_u128()));
        RunInfo::new(run, key, self.workflow, RunStatus::Running, false).at(time, time)
    }

    /// The run of a key: `run`, if the key is free.
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
            if first.is_some_and(|run| matches!(run.status, RunStatus::Failed(_) | RunStatus::Cancelled)) {
                bound = bind(self.runner, &request, &binding, Some(&bound.target), lifetime).await?;
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
        Error::new(ErrorKind::Config, "the engine of this server keeps no keys of requests")
            .with_help("leave out the key, or give the runner an engine with `Engine::keys`")
    })?;
    keys.bind(key, binding, replaces, lifetime).await
}

/// A key that was given with another request before.
pub(crate) fn another_request() -> Refusal {
    let message = "the key of this request belongs to another request, which came before";
    Refusal::new(StatusCode::UNPROCESSABLE_ENTITY, "key_reused", message)
        .help("give each request a key of its own, and repeat a request as it was")
}

/// A key whose run may or may not have begun.
pub(crate) fn may_begin(run: RunId) -> Refusal {
    let message = format!("run `{run}` of this key may have begun, or may begin soon");
    Refusal::new(StatusCode::CONFLICT, "starting", message)
        .help("send the same request with the same key again")
        .retry()
}

impl App {
    /// Begins a run, unless an earlier request with its key did.
    ///
    /// A run begins once under its id, also when several processes begin it. So whoever finds a bound key whose run is not in the
    /// store begins the run itself.
    ///
    /// # Errors
    /// When this request has begun nothing. Where the store is away, an earlier request with its key may have begun its run.
    pub(crate) async fn begin(
        &self,
        beginning: &Beginning<'_>,
        request: impl Fn(&SessionHandle) -> Result<RunRequest<'static, Value>>,
    ) -> Result<Begun, Refusal> {
        let id = RunId::new();
        let run = match &beginning.key {
            Some(key) => beginning.bind(key, id, self.key_lifetime).await?,
            None => id,
        };
        let unknown = || Ok(Begun::Unknown(beginning.info(run)));
        let mut is_repeated = run != id;
        let _starting = loop {
            if is_repeated {
                match beginning.find(run).await {
                    Ok(Some(run)) => return Ok(Begun::Before(run)),
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
        let session = beginning.session(run);
        for _ in 0..ATTEMPTS {
            let refusal = match self.runs.start(session.key(), request(&session)?.run_id(run)).await {
                Ok(Started { run, listener }) => {
                    let now = beginning.find(run).await.ok().flatten();
                    return Ok(Begun::Now(now.unwrap_or_else(|| beginning.info(run)), listener));
                }
                Err(refusal) => refusal,
            };
            is_repeated |= refusal.is_outcome_unknown();
            // A request that has found the key bound may have begun the run before.
            let is_adopted = beginning.key.is_some() && refusal.status() == StatusCode::CONFLICT;
            if !is_repeated && !is_adopted {
                return Err(refusal);
            }
            match beginning.find(run).await {
                Ok(Some(run)) => return Ok(Begun::Before(run)),
                // It was not written, or not yet: the id decides.
                Ok(None) if refusal.is_outcome_unknown() => {}
                Ok(None) if refusal.status() != StatusCode::SERVICE_UNAVAILABLE => return Err(refusal),
                Ok(None) | Err(_) => return unknown(),
            }
        }
        unknown()
    }
}
