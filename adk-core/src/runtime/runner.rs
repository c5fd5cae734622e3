//! [`Runner`]: the entry point of a program that runs workflows.

mod accept;
mod answers;
mod builder;
mod by_name;
mod cancel;
mod claim;
mod follow;
mod hooks;
mod input;
mod json;
mod opened;
mod parts;
mod pending;
mod place;
mod prune;
mod queue;
mod recover;
mod request;
mod root;
mod session;
mod stream;
mod watch;

pub use builder::RunnerBuilder;
pub use by_name::{KnownQuestion, KnownWorkflow, input_from_json};
pub use input::IntoInput;
pub use json::{ErrorJson, RunJson, WaitJson};
pub use recover::Recovered;
pub use request::RunRequest;
pub use session::SessionHandle;
pub use stream::{RunEnd, RunStream};
pub use watch::Watch;

use crate::Result;
use crate::id::IdSeed;
use crate::model::{ModelProvider, NoProvider};
use crate::runtime::live::LiveQueue;
use crate::runtime::resources::{Needs, NoResources};
use crate::runtime::run::{Run, RunConfig, RunIdentity, RunKind, RunLimits, Services};
use crate::runtime::workflow::{Live, Workflow};
use crate::store::engine::{BranchEnd, BranchTask, Engine};
use crate::store::session::{Session, SessionKey, SessionSnapshot, SessionStore, now_micros};
use std::fmt;
use std::marker::PhantomData;
use std::ops::Deref;
use std::sync::Arc;

/// Runs workflows with the models, stores and settings of one app. Cheap to clone.
///
/// `P` is the provider that looks up models by name. The features of the facade crate fix it, so
/// users never write it. `R` is the type of the resources for tools and agents, see
/// [`RunnerBuilder::resources`].
pub struct Runner<P = NoProvider, R = NoResources> {
    shared: Arc<RunnerShared>,
    types: PhantomData<fn() -> (P, R)>,
}

#[derive(Clone)]
pub(crate) struct RunnerShared {
    app: String,
    /// App of the runner that [`RunnerBuilder::build`] returned, when this runner was made by
    /// [`Runner::for_app`].
    tenant_of: Option<String>,
    sessions: Arc<dyn SessionStore>,
    engine: Arc<dyn Engine>,
    services: Arc<Services>,
    config: RunConfig,
    workflows: Vec<Arc<dyn recover::NamedWorkflow>>,
    driven: Arc<cancel::DrivenRuns>,
}

impl RunnerShared {
    /// Creates a run on the engine of the runner.
    fn create_run(
        &self,
        kind: RunKind,
        identity: RunIdentity,
        session: Arc<Session>,
        limits: RunLimits,
    ) -> Arc<Run> {
        let (engine, services) = (self.engine.clone(), self.services.clone());
        Arc::new(Run::new(kind, identity, session, engine, services, limits))
    }

    /// Returns the same settings for another app. Unless `name` is the app of the built runner, the
    /// other app is a tenant of that app.
    fn for_app(&self, name: impl Into<String>) -> Self {
        let (app, home) = (name.into(), self.tenant_of.as_ref().unwrap_or(&self.app));
        let tenant_of = (app != *home).then(|| home.clone());
        Self {
            app,
            tenant_of,
            ..self.clone()
        }
    }
}

impl<P: ModelProvider + Default> Runner<P> {
    /// Returns a builder for a runner.
    pub fn builder() -> RunnerBuilder<P> {
        RunnerBuilder::new()
    }
}

impl<P, R> Runner<P, R> {
    /// Requests a run of a workflow in a new private session.
    ///
    /// The workflow is borrowed. For a run that is spawned, pass an `Arc`.
    pub fn run<'a, H, W>(
        &self,
        workflow: H,
        input: impl IntoInput<W::Input>,
    ) -> RunRequest<'a, W::Output>
    where
        H: Deref<Target = W> + Send + Sync + 'a,
        W: Workflow + Needs<R> + ?Sized,
    {
        RunRequest::new(
            self.shared.clone(),
            self.private_key(),
            true,
            workflow,
            input.into_input(),
        )
    }

    /// Requests a live run of a workflow in a new private session. Users talk to a live run while
    /// it executes.
    ///
    /// The workflow is an LLM agent or a sequence of agents. Each LLM agent answers the messages of
    /// the queue, one by one, until the queue is closed. In a workflow, an agent also ends when it
    /// calls `task_completed`, a tool that a live run adds. The next agent then takes over and
    /// begins with the conversation so far. Function agents run once.
    ///
    /// Inputs are state keys and add no message; [`RunRequest::message`] adds a message before the
    /// first one of the queue. For an agent or tree that was built at run time, the input is that
    /// message, and `Content::default()` adds none.
    ///
    /// A workflow that contains a loop or a parallel block does not compile here (`live-loop`). A
    /// tree with one that was built at run time fails with
    /// [`ErrorKind::LiveLoop`](crate::ErrorKind::LiveLoop) before anything is stored.
    pub fn run_live<'a, H, W>(
        &self,
        workflow: H,
        input: impl IntoInput<W::Input>,
        queue: &LiveQueue,
    ) -> RunRequest<'a, W::Output>
    where
        H: Deref<Target = W> + Send + Sync + 'a,
        W: Workflow + Live + Needs<R> + ?Sized,
    {
        RunRequest::live(
            self.shared.clone(),
            self.private_key(),
            true,
            workflow,
            input.into_input(),
            queue,
        )
    }

    /// Requests a branch of a run that another process drives. An [`Engine`] that received a
    /// [`BranchTask`] calls this method, in this process or another. The engine of this runner
    /// commits the events that the branch emits; the outcome and the events return as a
    /// [`BranchReport`](crate::store::engine::BranchReport).
    ///
    /// # Errors
    /// Fails with the errors of the branch. Fails with
    /// [`ErrorKind::TopologyChanged`](crate::ErrorKind::TopologyChanged) when the workflow has no
    /// branch at the path of the task.
    pub fn branch<'a, H, W>(&self, workflow: H, task: BranchTask) -> RunRequest<'a, BranchEnd>
    where
        H: Deref<Target = W> + Send + Sync + 'a,
        W: Workflow + Needs<R> + ?Sized,
    {
        RunRequest::branch(self.shared.clone(), workflow, task)
    }

    /// Returns a handle for a session of a user. The first run creates the session.
    pub fn session(&self, user: impl Into<String>, id: impl Into<String>) -> SessionHandle<R> {
        SessionHandle::new(
            self.shared.clone(),
            SessionKey::new(&self.shared.app, user, id),
        )
    }

    /// Returns a handle for a session with a new unique id.
    pub fn new_session(&self, user: impl Into<String>) -> SessionHandle<R> {
        self.session(user, IdSeed::random().run(now_micros()).to_string())
    }

    /// Lists the sessions of a user, or of all users, sorted by the time of their last change. The
    /// snapshots contain state and no events.
    ///
    /// # Errors
    /// Fails when the store fails.
    pub async fn sessions(&self, user: Option<&str>) -> Result<Vec<SessionSnapshot>> {
        self.sessions_with_prefix(user, "").await
    }

    /// Lists the sessions as [`sessions`](Self::sessions) does, but only those whose ids begin with
    /// a prefix. The store does not read the others.
    ///
    /// # Errors
    /// Fails when the store fails.
    pub async fn sessions_with_prefix(
        &self,
        user: Option<&str>,
        prefix: &str,
    ) -> Result<Vec<SessionSnapshot>> {
        let (store, app) = (&self.shared.sessions, &self.shared.app);
        store.list(app, user, prefix).await
    }

    /// Returns a new key for a session that belongs to a single run.
    fn private_key(&self) -> SessionKey {
        SessionKey::new(
            &self.shared.app,
            "user",
            IdSeed::random().run(now_micros()).text(),
        )
    }

    /// Returns the name of the app.
    pub fn app_name(&self) -> &str {
        &self.shared.app
    }
}

impl<P, R> Clone for Runner<P, R> {
    fn clone(&self) -> Self {
        Self {
            shared: self.shared.clone(),
            types: PhantomData,
        }
    }
}

impl<P, R> fmt::Debug for Runner<P, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Runner({})", self.shared.app)
    }
}
