//! [`RunRequest`]: a run that has not begun yet.

use super::RunnerShared;
use super::cancel::DriveGuard;
use super::follow::{self, FollowedRun};
use super::open::{
    SessionPlace, branch_run, check_run, check_run_new, check_session_free, check_shape, claim_run,
    open_in_turn,
};
use super::queue::{QueuedRun, TurnWait};
use super::root::{Start, run_branch_task, run_workflow};
use super::stream::{OpenOutcome, OpenedRun, Opening, RunStream};
use crate::encode::to_json;
use crate::runtime::live::{LiveInput, LiveQueue};
use crate::runtime::run::{
    NewRun, Outcome, Run, RunConfig, RunIdentity, RunKind, RunLimits, SessionTurns, TraceSpan,
};
use crate::runtime::workflow::{Keys, Values, Workflow};
use crate::spec::{AgentMeta, Topology};
use crate::store::engine::{
    BranchEnd, BranchTask, Claim, ClaimId, DrivenRun, RunRecord, RunStatus, RunTask,
};
use crate::store::event::StateDelta;
use crate::store::session::{Session, SessionKey, SessionTurn, TurnPlace};
use crate::{BoxFuture, Content, Error, ErrorKind, Name, Path, Result, RunId, panic};
use adk_spec::__private::{LIVE_HELP, describe_live};
use serde::Serialize;
use std::fmt;
use std::ops::Deref;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{self, Poll};
use std::time::Duration;

/// Request of a run. Awaiting or spawning it returns the [`Outcome`]; [`stream`](Self::stream)
/// returns the events as they are committed.
#[must_use = "a run does nothing until it is awaited or streamed"]
pub struct RunRequest<'a, T>(RequestState<'a, T>);

enum RequestState<'a, T> {
    Pending(Box<PendingRun>, Body<'a, T>),
    Running(Box<RunStream<'a, T>>),
    Ended,
}

/// Data of a run before it begins. The type does not depend on the workflow, so that its code is
/// compiled only once, not in each crate that runs workflows.
struct PendingRun {
    shared: Arc<RunnerShared>,
    key: SessionKey,
    /// Whether the session belongs only to this run.
    private: bool,
    state: StateDelta,
    config: RunConfig,
    message: Option<Content>,
    live: Option<LiveInput>,
    error: Option<Error>,
    /// Claim of the run, if the caller has chosen its id.
    claim: Option<ClaimId>,
    begin: Result<Keys>,
    /// Run that is resumed.
    resume: Option<RunId>,
    /// Trace that the run continues.
    trace: Option<Box<str>>,
    /// Branch that is executed instead of the whole workflow.
    task: Option<Arc<BranchTask>>,
    /// Name and shape of the workflow, if runs are kept.
    shape: Option<(String, Topology)>,
}

/// Function that runs the workflow in its root context, or follows its driver, and reads the
/// output.
pub(super) type Body<'a, T> =
    Box<dyn FnOnce(Arc<Run>, Execution) -> BoxFuture<'a, Result<T>> + Send + 'a>;

/// Process that executes a run.
pub(super) enum Execution {
    /// This process, with the first event of the run.
    Local(Start),
    /// Another process, whose run is followed.
    Followed(FollowedRun),
}

impl<'a, T: Send + 'static> RunRequest<'a, T> {
    pub(super) fn new<H, W>(
        shared: Arc<RunnerShared>,
        key: SessionKey,
        private: bool,
        workflow: H,
        input: W::Input,
    ) -> Self
    where
        H: Deref<Target = W> + Send + Sync + 'a,
        W: Workflow<Output = T> + ?Sized,
    {
        let mut keys = Keys::default();
        // The expressions of `let` items run here. A panic in one is an error of the run, as in any
        // agent.
        let begin = match catch_unwind(AssertUnwindSafe(|| workflow.begin(input, &mut keys))) {
            Ok(begun) => begun.map(|()| keys),
            Err(panic) => {
                let message = format!(
                    "a `let` value of the workflow panicked: {}",
                    panic::message(&*panic)
                );
                Err(Error::new(ErrorKind::Panic, message))
            }
        };
        let begin = begin
            .map_err(|error| error.at(&Path::root(workflow.as_agent().meta().name.to_owned())));
        let (pending, body) = Self::pending(shared, key, private, workflow, begin);
        Self(RequestState::Pending(pending, body))
    }

    /// Returns the request for a run that another process has handed over.
    pub(super) fn from_task<H, W>(
        shared: Arc<RunnerShared>,
        workflow: H,
        task: RunTask,
    ) -> Result<Self>
    where
        H: Deref<Target = W> + Send + Sync + 'a,
        W: Workflow<Output = T> + ?Sized,
    {
        let now = Topology::of(workflow.as_agent().meta());
        check_shape(&task.workflow, task.run_id, &task.topology, &now)?;
        let config = serde_json::from_value(task.config).unwrap_or_else(|_| shared.config.clone());
        let (mut pending, body) =
            Self::pending(shared, task.session, false, workflow, Ok(Keys::default()));
        pending.claim = Some(ClaimId::driven_above(task.run_id));
        (pending.message, pending.state, pending.config) = (Some(task.message), task.delta, config);
        pending.trace = task.trace.map(String::into_boxed_str);
        Ok(Self(RequestState::Pending(pending, body)))
    }

    /// Returns the request for a resumed run. Its inputs are stored with the run.
    pub(super) fn resume<H, W>(shared: Arc<RunnerShared>, workflow: H, run: RunId) -> Self
    where
        H: Deref<Target = W> + Send + Sync + 'a,
        W: Workflow<Output = T> + ?Sized,
    {
        let key = SessionKey::new(&shared.app, "", run.to_string());
        let (mut pending, body) = Self::pending(shared, key, false, workflow, Ok(Keys::default()));
        pending.resume = Some(run);
        Self(RequestState::Pending(pending, body))
    }

    fn pending<H, W>(
        shared: Arc<RunnerShared>,
        key: SessionKey,
        private: bool,
        workflow: H,
        begin: Result<Keys>,
    ) -> (Box<PendingRun>, Body<'a, T>)
    where
        H: Deref<Target = W> + Send + Sync + 'a,
        W: Workflow<Output = T> + ?Sized,
    {
        let shape = recorded_shape(&shared, workflow.as_agent().meta());
        let body: Body<'a, T> = Box::new(move |run, execution| match execution {
            Execution::Local(start) => Box::pin(async move {
                let end = run_workflow(
                    workflow.as_agent(),
                    workflow.is_closed(),
                    run.clone(),
                    start,
                )
                .await;
                end.output(|| workflow.finish(&Values { run: &run }))
            }),
            Execution::Followed(followed) => Box::pin(async move {
                follow::to_end(&run, followed).await?;
                workflow.finish(&Values { run: &run })
            }),
        });
        (PendingRun::new(shared, key, private, shape, begin), body)
    }

    /// Sets the message of the user, in addition to the inputs: text, images, files. Inputs are
    /// state, which models see where a prompt names them. Without this call, the message is the
    /// value of a single `String` input; any other workflow has no message. A resumed run keeps its
    /// message.
    pub fn message(mut self, content: impl Into<Content>) -> Self {
        if let Some(pending) = self.pending_unless_resumed("message") {
            pending.message = Some(content.into());
        }
        self
    }

    /// Sets a state key in the event of the user. A resumed run keeps its state.
    pub fn state(mut self, key: impl Into<Name>, value: impl Serialize) -> Self {
        if let Some(pending) = self.pending_unless_resumed("state") {
            let key = key.into();
            match crate::runtime::run::encode(&key, value) {
                Ok(value) => pending.state.insert(key, value),
                Err(error) => pending.error = Some(error),
            }
        }
        self
    }

    /// Sets the id of this run, a [new id](RunId::new), for a caller that must know the id before
    /// the run begins. If the engine keeps runs and a run with this id exists, the request fails
    /// with an error of kind [`RunExists`](ErrorKind::RunExists) and begins nothing. A resumed run
    /// keeps its id.
    pub fn run_id(mut self, id: RunId) -> Self {
        if let Some(pending) = self.pending_unless_resumed("run_id") {
            pending.claim = Some(ClaimId::chosen(id));
        }
        self
    }

    /// Sets the settings of this run, in place of the runner's settings. A resumed run keeps its
    /// settings.
    pub fn config(mut self, config: RunConfig) -> Self {
        if let Some(pending) = self.pending_unless_resumed("config") {
            pending.config = config;
        }
        self
    }

    /// Returns the run before it begins. Settings of a resumed run would be ignored, so they are an
    /// error.
    fn pending_unless_resumed(&mut self, what: &str) -> Option<&mut PendingRun> {
        let RequestState::Pending(pending, _) = &mut self.0 else {
            return None;
        };
        if let Some(run) = pending.resume {
            let message = format!("run `{run}` keeps its `{what}` when it is resumed");
            pending.error = Some(Error::new(ErrorKind::Config, message).with_help(
                "answer its waits with `runner.answer(...)`, or begin another run of the session",
            ));
        }
        Some(pending)
    }

    /// Returns the request for a live run, whose messages come from the queue.
    pub(super) fn live<H, W>(
        shared: Arc<RunnerShared>,
        key: SessionKey,
        private: bool,
        workflow: H,
        input: W::Input,
        queue: &LiveQueue,
    ) -> Self
    where
        H: Deref<Target = W> + Send + Sync + 'a,
        W: Workflow<Output = T> + ?Sized,
    {
        let meta = workflow.as_agent().meta();
        let refused = describe_live(meta).map(|message| {
            let error = Error::new(ErrorKind::LiveLoop, message).with_help(LIVE_HELP);
            error.at(&Path::root(Name::shared(meta.name)))
        });
        let mut request = Self::new(shared, key, private, workflow, input);
        if let RequestState::Pending(pending, _) = &mut request.0 {
            (pending.live, pending.error) = (Some(queue.input()), refused);
        }
        request
    }

    /// Begins the run and returns its events as they are committed. Dropping the stream cancels the
    /// run.
    pub fn stream(self) -> RunStream<'a, T> {
        match self.0 {
            RequestState::Pending(pending, body) => {
                RunStream::new(pending.into_opening(), Some(body))
            }
            RequestState::Running(_) | RequestState::Ended => {
                RunStream::new(Box::pin(async { Err(already_awaited()) }), None)
            }
        }
    }
}

/// Returns the error of a request that was already awaited or streamed.
#[cold]
fn already_awaited() -> Error {
    Error::new(ErrorKind::Config, "this run was awaited before")
        .with_help("request another run from the runner")
}

impl PendingRun {
    fn new(
        shared: Arc<RunnerShared>,
        key: SessionKey,
        private: bool,
        shape: Option<(String, Topology)>,
        begin: Result<Keys>,
    ) -> Box<Self> {
        let config = shared.config.clone();
        Box::new(Self {
            shared,
            key,
            private,
            state: StateDelta::default(),
            config,
            message: None,
            live: None,
            error: None,
            claim: None,
            begin,
            resume: None,
            trace: None,
            task: None,
            shape,
        })
    }

    /// Opens or creates the session.
    // No `async fn`: each crate that awaits one would compile its body again.
    fn into_opening(self: Box<Self>) -> Opening {
        Box::pin(self.open())
    }

    // Rarely used futures are boxed: each run begins here, and most runs only need a private
    // session.
    async fn open(mut self: Box<Self>) -> Result<OpenOutcome> {
        if self.task.is_none() && self.shared.engine.driver().is_some() {
            return Box::pin(self.follow()).await;
        }
        if let Some(error) = self.error.take() {
            return Err(error);
        }
        let keys = std::mem::replace(&mut self.begin, Ok(Keys::default()))?;
        if let Some(task) = &self.task {
            let run = Arc::new(Box::pin(branch_run(&self.shared, task)).await?);
            let execution = Execution::Local(Start::default());
            return Ok(OpenOutcome::Opened(OpenedRun {
                run,
                claim: None,
                turn: None,
                guard: None,
                execution,
            }));
        }
        if let Some(run) = self.resume {
            return Box::pin(claim_run(&self.shared, run, self.shape.take()))
                .await
                .map(OpenOutcome::Opened);
        }
        let (is_alone, is_kept) = (self.private && self.shape.is_none(), self.shape.is_some());
        if is_alone {
            let key = std::mem::replace(&mut self.key, SessionKey::new("", "", ""));
            let session = self.shared.sessions.create_private(key).await?;
            return Ok(OpenOutcome::Opened(
                self.into_opened(session, None, is_alone, keys),
            ));
        }
        let SessionPlace { session, place } = Box::pin(open_in_turn(
            &self.shared,
            &self.key,
            self.config.turns,
            is_kept,
        ))
        .await?;
        let turn = match place {
            Some(TurnPlace::Later(turn)) => {
                return Box::pin(self.enqueue(session, turn, keys)).await;
            }
            Some(TurnPlace::Now(turn)) => Some(turn),
            None => None,
        };
        Ok(OpenOutcome::Opened(
            self.into_opened(session, turn, is_alone, keys),
        ))
    }

    /// Adds the run to the registry as queued. The run begins when it has the turn of its session.
    async fn enqueue(
        self: Box<Self>,
        session: Arc<Session>,
        turn: BoxFuture<'static, SessionTurn>,
        keys: Keys,
    ) -> Result<OpenOutcome> {
        let Self {
            shared,
            state,
            config,
            message,
            live,
            claim,
            trace,
            shape,
            ..
        } = *self;
        let claim = claim.unwrap_or_else(|| ClaimId::first(RunId::new()));
        let registry = shared
            .engine
            .registry_for(|| format!("queue run `{}`", claim.run_id))?;
        let Start { message, delta } = run_start(message, live.is_some(), keys, state);
        let (workflow, topology) = shape.ok_or_else(already_awaited)?;
        let key = session.key().clone();
        let mut record = RunRecord::new(claim.run_id, key, workflow, topology);
        record.message = message;
        record.delta = delta;
        record.config = to_json(&config).unwrap_or_default();
        record.trace = trace
            .as_deref()
            .map(str::to_owned)
            .or_else(TraceSpan::current);
        record.is_queued = true;
        record.tenant_of = shared.tenant_of.clone();
        let wait = TurnWait::new(&shared, claim.run_id);
        let claim = registry.enqueue(claim, record.clone()).await?;
        let id = record.run_id;
        let queued = QueuedRun {
            shared,
            session,
            claim,
            record,
            config,
            live,
            trace,
        };
        let begin = async move {
            let turn = wait.until(turn).await?;
            queued
                .begin(Some(turn), wait)
                .await
                .map(OpenOutcome::Opened)
        };
        Ok(OpenOutcome::Queued(id, Box::pin(begin)))
    }

    /// Returns the run in an open session.
    fn into_opened(
        self,
        session: Arc<Session>,
        turn: Option<SessionTurn>,
        is_alone: bool,
        keys: Keys,
    ) -> OpenedRun {
        let Self {
            shared,
            state,
            config,
            message,
            live,
            claim: claim_id,
            trace,
            shape,
            ..
        } = self;
        let claim_id = claim_id.unwrap_or_else(|| ClaimId::first(RunId::new()));
        let mut identity = RunIdentity::new(claim_id, trace);
        if let Some(turn) = &turn {
            turn.set_holder(claim_id.run_id);
        }
        let Start { message, delta } = run_start(message, live.is_some(), keys, state);
        let mut new = NewRun {
            live,
            is_alone,
            ..NewRun::default()
        };
        let mut claim = None;
        if let Some((workflow, topology)) = shape {
            let key = session.key().clone();
            let mut record = RunRecord::new(claim_id.run_id, key, workflow, topology);
            record.tenant_of = shared.tenant_of.clone();
            (record.message, record.delta) = (message.clone(), delta.clone());
            record.config = to_json(&config).unwrap_or_default();
            identity.begin(&mut record, &session);
            new.attach(record);
            let engine = shared.engine.clone();
            claim = Some(Claim::new(claim_id, move |claim| {
                if let Some(registry) = engine.registry() {
                    registry.release(claim);
                }
            }));
        }
        let limits = RunLimits::after(Duration::ZERO, config);
        let run = Arc::new(shared.create_run(RunKind::New(new), identity, session, limits));
        let guard = claim.as_ref().map(|_| DriveGuard::new(&shared, &run));
        OpenedRun {
            run,
            claim,
            turn,
            guard,
            execution: Execution::Local(Start { message, delta }),
        }
    }

    /// Hands the run over to the driver of the engine, or finds the run that was handed over
    /// earlier.
    async fn follow(self: Box<Self>) -> Result<OpenOutcome> {
        let Self {
            shared,
            key,
            private,
            state,
            config,
            message,
            live,
            error,
            claim,
            begin,
            ..
        } = *self;
        if let Some(error) = error {
            return Err(error);
        }
        let (keys, driver) = (begin?, shared.engine.driver().ok_or_else(already_awaited)?);
        let (run, followed) = match (self.resume, self.shape) {
            (Some(run), shape) => {
                let check =
                    |driven: &DrivenRun| check_run(&shared.app, shape.as_ref(), &driven.record);
                follow::resume(&shared, run, check).await?
            }
            (None, Some((workflow, topology))) if live.is_none() => {
                key.check()?;
                if config.turns == SessionTurns::Refuse && !private {
                    check_session_free(&shared, &key).await?;
                }
                if let Some(claim) = claim {
                    check_run_new(&shared, claim.run_id).await?;
                }
                let Start { message, delta } = run_start(message, false, keys, state);
                let run_id = claim.map_or_else(RunId::new, |claim| claim.run_id);
                let mut task = RunTask::new(run_id, key, workflow, topology);
                task.takes_turn = !private && config.turns != SessionTurns::Share;
                (task.message, task.delta) = (message, delta);
                task.config = to_json(&config).unwrap_or_default();
                task.trace = TraceSpan::current();
                let (driven, followed) = follow::hand_over(&shared, driver, task).await?;
                let (id, is_queued) = (driven.record.run_id, driven.status == RunStatus::Queued);
                let shared = shared.clone();
                let begin = async move {
                    let (run, followed) = follow::from_first(&shared, driven, followed).await?;
                    Ok(followed_run(&shared, run, followed))
                };
                return if is_queued {
                    Ok(OpenOutcome::Queued(id, Box::pin(begin)))
                } else {
                    begin.await
                };
            }
            (None, _) => {
                let message = "a live run cannot be handed over to another process";
                return Err(Error::new(ErrorKind::Config, message)
                    .with_help("run it on a runner whose engine executes runs in this process"));
            }
        };
        Ok(followed_run(&shared, run, followed))
    }
}

/// Returns the outcome of opening a run that another process drives.
fn followed_run(shared: &Arc<RunnerShared>, run: Run, followed: FollowedRun) -> OpenOutcome {
    let run = Arc::new(run);
    let guard = Some(DriveGuard::new(shared, &run));
    OpenOutcome::Opened(OpenedRun {
        run,
        claim: None,
        turn: None,
        guard,
        execution: Execution::Followed(followed),
    })
}

impl<'a> RunRequest<'a, BranchEnd> {
    /// Returns the request for a branch of a run that another process drives.
    pub(super) fn branch<H, W>(shared: Arc<RunnerShared>, workflow: H, task: BranchTask) -> Self
    where
        H: Deref<Target = W> + Send + Sync + 'a,
        W: Workflow + ?Sized,
    {
        let (key, task) = (task.session.clone(), Arc::new(task));
        let sought = task.clone();
        let body: Body<'a, BranchEnd> = Box::new(move |run, _| {
            Box::pin(async move {
                run_branch_task(workflow.as_agent(), workflow.is_closed(), run, sought).await
            })
        });
        let mut pending = PendingRun::new(shared, key, false, None, Ok(Keys::default()));
        pending.task = Some(task);
        Self(RequestState::Pending(pending, body))
    }
}

/// Returns the content of the first event. In a live run, messages come from the queue and inputs
/// are only keys.
fn run_start(message: Option<Content>, is_live: bool, keys: Keys, state: StateDelta) -> Start {
    let message = message.unwrap_or_else(|| {
        if is_live {
            keys.user_message()
        } else {
            keys.to_message()
        }
    });
    let mut delta = keys.into_delta();
    delta.extend(state);
    Start { message, delta }
}

/// Returns the name and shape of a workflow, if runs are kept.
fn recorded_shape(shared: &RunnerShared, meta: &AgentMeta<'_>) -> Option<(String, Topology)> {
    shared
        .engine
        .records()
        .then(|| (meta.name.to_owned(), Topology::of(meta)))
}

impl<T: Send + 'static> Future for RunRequest<'_, T> {
    type Output = Result<Outcome<T>>;

    fn poll(self: Pin<&mut Self>, cx: &mut task::Context<'_>) -> Poll<Self::Output> {
        let this = self.get_mut();
        if let RequestState::Pending(..) = &this.0
            && let RequestState::Pending(pending, body) =
                std::mem::replace(&mut this.0, RequestState::Ended)
        {
            this.0 =
                RequestState::Running(Box::new(RunStream::new(pending.into_opening(), Some(body))));
        }
        let RequestState::Running(running) = &mut this.0 else {
            return Poll::Ready(Err(already_awaited()));
        };
        let ended = std::task::ready!(running.poll_end(cx));
        this.0 = RequestState::Ended;
        Poll::Ready(ended)
    }
}

impl<T> fmt::Debug for RunRequest<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            RequestState::Pending(pending, _) => write!(f, "RunRequest({})", pending.key),
            RequestState::Running(_) => f.write_str("RunRequest(running)"),
            RequestState::Ended => f.write_str("RunRequest(ended)"),
        }
    }
}
