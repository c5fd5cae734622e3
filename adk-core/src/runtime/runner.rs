//! Runs workflows: what a program of a user begins with.

mod accept;
mod answers;
mod builder;
mod by_name;
mod cancel;
mod follow;
mod hooks;
mod input;
mod open;
mod parts;
mod queue;
mod recover;
mod request;
mod root;
mod session;
mod store;
mod stream;
mod watch;

pub use builder::RunnerBuilder;
pub use by_name::{KnownQuestion, KnownWorkflow};
pub use input::IntoInput;
pub use recover::Recovered;
pub use request::RunRequest;
pub use session::SessionHandle;
pub use store::{InMemoryStore, Store};
pub use stream::{RunEnd, RunStream};
pub use watch::Watch;

use crate::Result;
use crate::id::IdSeed;
use crate::models::model::{ModelProvider, NoProvider};
use crate::runtime::live::LiveQueue;
use crate::runtime::resources::{Needs, NoResources};
use crate::runtime::run::{RunConfig, Services};
use crate::runtime::workflow::{Live, Workflow};
use crate::store::engine::{BranchEnd, BranchTask, Engine};
use crate::store::session::{SessionKey, SessionSnapshot, SessionStore, now_micros};
use std::fmt;
use std::marker::PhantomData;
use std::ops::Deref;
use std::sync::Arc;

/// Runs workflows: models, stores and settings. Cheap to clone.
///
/// `P` is where models are looked up by name; it is fixed by the facade's features and never written by users. `R` is what
/// it gives to tools and agents, see [`RunnerBuilder::resources`].
pub struct Runner<P = NoProvider, R = NoResources> {
    shared: Arc<RunnerShared>,
    types: PhantomData<fn() -> (P, R)>,
}

#[derive(Clone)]
pub(crate) struct RunnerShared {
    app: String,
    /// The app of the runner that was built, where this one is [for another](Runner::for_app).
    tenant_of: Option<String>,
    sessions: Arc<dyn SessionStore>,
    engine: Arc<dyn Engine>,
    services: Arc<Services>,
    config: RunConfig,
    workflows: Vec<Arc<dyn recover::NamedWorkflow>>,
    driven: Arc<cancel::DrivenRuns>,
}

impl RunnerShared {
    /// The same for another app: a tenant of the app of the runner that was built, unless it is that one.
    fn for_app(&self, name: impl Into<String>) -> Self {
        let (app, home) = (name.into(), self.tenant_of.as_ref().unwrap_or(&self.app));
        let tenant_of = (app != *home).then(|| home.clone());
        Self { app, tenant_of, ..self.clone() }
    }
}

impl<P: ModelProvider + Default> Runner<P> {
    /// A runner to be configured.
    pub fn builder() -> RunnerBuilder<P> {
        RunnerBuilder::new()
    }
}

impl<P, R> Runner<P, R> {
    /// Asks for a run of a workflow in a session of its own.
    ///
    /// The workflow is borrowed, or an `Arc` for a run that can be spawned.
    pub fn run<'a, H, W>(&self, workflow: H, input: impl IntoInput<W::Input>) -> RunRequest<'a, W::Output>
    where
        H: Deref<Target = W> + Send + Sync + 'a,
        W: Workflow + Needs<R> + ?Sized,
    {
        RunRequest::new(self.shared.clone(), self.private_key(), true, workflow, input.into_input())
    }

    /// Asks for a live run of a workflow in a session of its own: one that people talk to while it goes on.
    ///
    /// The workflow is an LLM agent, or a sequence of agents. Each LLM agent answers messages of the queue, one by one,
    /// until the queue is closed or, in a workflow, until it calls `task_completed`, a tool that a live run gives to it;
    /// then the next agent takes over and begins with what was said so far. Functions run once, when it is their turn.
    /// The inputs are keys and say nothing; [`RunRequest::message`] says something before the first message of the queue. The
    /// input of an agent or tree that was built at run time is such a message: `Content::default()` says nothing.
    ///
    /// A workflow that holds a loop or a parallel block anywhere does not compile here (`live-loop`), and a tree that was
    /// built at run time fails with [`ErrorKind::LiveLoop`](crate::ErrorKind::LiveLoop) before anything is stored.
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
        RunRequest::live(self.shared.clone(), self.private_key(), true, workflow, input.into_input(), queue)
    }

    /// Asks for a branch of a run that is driven elsewhere: what an [`Engine`] that has taken a
    /// [`BranchTask`] calls, in this process or another. The engine of this runner commits what the branch
    /// emits; its outcome and those events come back as a [`BranchReport`](crate::store::engine::BranchReport).
    ///
    /// # Errors
    /// Those of the branch; [`ErrorKind::TopologyChanged`](crate::ErrorKind::TopologyChanged) when there is no such
    /// branch in the workflow.
    pub fn branch<'a, H, W>(&self, workflow: H, task: BranchTask) -> RunRequest<'a, BranchEnd>
    where
        H: Deref<Target = W> + Send + Sync + 'a,
        W: Workflow + Needs<R> + ?Sized,
    {
        RunRequest::branch(self.shared.clone(), workflow, task)
    }

    /// A session of a user: made when its first run begins.
    pub fn session(&self, user: impl Into<String>, id: impl Into<String>) -> SessionHandle<R> {
        SessionHandle::new(self.shared.clone(), SessionKey::new(&self.shared.app, user, id))
    }

    /// A session with an id that nobody has yet.
    pub fn new_session(&self, user: impl Into<String>) -> SessionHandle<R> {
        self.session(user, IdSeed::new().run(now_micros()).to_string())
    }

    /// The sessions of a user, or of all users, with their state and without events, sorted by the time of their last
    /// change.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn sessions(&self, user: Option<&str>) -> Result<Vec<SessionSnapshot>> {
        self.shared.sessions.list(&self.shared.app, user).await
    }

    /// The key of a session that is one run's own.
    fn private_key(&self) -> SessionKey {
        SessionKey::new(&self.shared.app, "user", IdSeed::new().run(now_micros()).text())
    }

    /// The name of the app.
    pub fn app_name(&self) -> &str {
        &self.shared.app
    }
}

impl<P, R> Clone for Runner<P, R> {
    fn clone(&self) -> Self {
        Self { shared: self.shared.clone(), types: PhantomData }
    }
}

impl<P, R> fmt::Debug for Runner<P, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Runner({})", self.shared.app)
    }
}
