//! [`RunRequest`]: a run that has not begun yet.

use super::RunnerShared;
use super::claim::check_shape;
use super::follow;
use super::opened::{Body, Execution};
use super::pending::{PendingKind, PendingRun, already_awaited};
use super::root::{run_branch_task, run_workflow};
use super::stream::RunStream;
use crate::panic::Panic;
use crate::runtime::live::LiveQueue;
use crate::runtime::run::{Outcome, RunConfig};
use crate::runtime::workflow::{Keys, Values, Workflow};
use crate::spec::{AgentMeta, Topology};
use crate::store::engine::{BranchEnd, BranchTask, ClaimId, RunTask};
use crate::store::session::SessionKey;
use crate::{Content, Error, ErrorKind, Name, Path, Result, RunId};
use adk_spec::__private::{LIVE_HELP, describe_live};
use serde::Serialize;
use std::fmt;
use std::ops::Deref;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{self, Poll};

/// Request of a run. Awaiting or spawning it returns the [`Outcome`]; [`stream`](Self::stream)
/// returns the events as they are committed.
#[must_use = "a run does nothing until it is awaited or streamed"]
pub struct RunRequest<'a, T>(RequestState<'a, T>);

enum RequestState<'a, T> {
    Pending(Box<PendingRun>, Body<'a, T>),
    Running(Box<RunStream<'a, T>>),
    Ended,
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
                // The run has no id yet.
                let path = Path::root(workflow.as_agent().meta().name.to_owned());
                let what = "a `let` value of the workflow";
                Err(Panic::new(&*panic).into_error(what, RunId::new(), &path))
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
        pending.kind = PendingKind::Resumed(run);
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
                Err(error) => pending.begin = Err(error),
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
        if let PendingKind::Resumed(run) = pending.kind {
            let message = format!("run `{run}` keeps its `{what}` when it is resumed");
            pending.begin = Err(Error::new(ErrorKind::Config, message).with_help(
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
            pending.live = Some(queue.input());
            if let Some(error) = refused {
                pending.begin = Err(error);
            }
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
        pending.kind = PendingKind::Branch(task);
        Self(RequestState::Pending(pending, body))
    }
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
