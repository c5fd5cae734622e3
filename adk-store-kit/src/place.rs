//! [`Place`]: where the data of a store is, and [`OpenStore`]: the store as one process has opened
//! it.

use adk_build::engine::{Engine, RunRegistry, WaitRegistry};
use adk_build::memory::MemoryService;
use adk_build::session::{SessionKey, SessionStore};
use adk_build::testing::ScriptedModel;
use adk_build::{ArtifactStore, Error, ErrorKind, RunConfig, Runner, Store, StoreErrorKind};
use std::future::{Future, ready};
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use crate::trees::Tree;

/// The place where a store keeps its data: a folder, a database, or a value in memory. The author
/// of a store implements it once, for his tests.
///
/// A promise makes a place of its own, and opens it as often as it needs processes.
pub trait Place: Sized + 'static {
    /// The store.
    type Store: Store;

    /// Creates an empty place.
    fn new() -> impl Future<Output = Self>;

    /// Opens the store, as one more process does. The stores of one place share no memory, unless
    /// they end with the process.
    fn open(&self) -> impl Future<Output = Self::Store>;

    /// Returns the address with which another process finds the place. Only the promises about
    /// killed processes need it.
    fn address(&self) -> String {
        String::new()
    }

    /// Returns the place at an [`address`](Self::address), in another process, which is killed
    /// later. The data must outlive this value.
    fn at(address: &str) -> Self {
        panic!("`Place::at` is missing, so no other process finds `{address}`")
    }

    /// Returns the longest time until a process is killed. A store that notices a dead process late
    /// needs a longer time, or few kills happen in the middle of a run.
    fn time_to_kill(&self) -> Duration {
        Duration::from_millis(120)
    }

    /// Returns whether an event is on disk, checked without the store; `None` if that cannot be
    /// checked.
    fn has_event(&self, id: &str) -> impl Future<Output = Option<bool>> {
        let _ = id;
        ready(None)
    }

    /// Returns the number of stored request keys, checked without the store; `None` if that cannot
    /// be checked.
    fn request_key_count(&self) -> impl Future<Output = Option<usize>> {
        ready(None)
    }

    /// Checks that the data is whole after a kill, without the store. Panics if it is not.
    fn check(&self) -> impl Future<Output = ()> {
        ready(())
    }
}

/// A future that is polled on the thread of its promise.
pub type LocalFuture<'a, T> = Pin<Box<dyn Future<Output = T> + 'a>>;

/// A [`Place`] as the promises see it: one type for all stores, so that each promise is compiled
/// once.
pub trait DynPlace {
    /// Opens the store, as one more process does.
    fn open_dyn(&self) -> LocalFuture<'_, OpenStore>;
    /// Returns [`Place::address`].
    fn address_dyn(&self) -> String;
    /// Returns [`Place::time_to_kill`].
    fn time_to_kill_dyn(&self) -> Duration;
    /// Returns [`Place::has_event`].
    fn has_event_dyn<'a>(&'a self, id: &'a str) -> LocalFuture<'a, Option<bool>>;
    /// Returns [`Place::request_key_count`].
    fn request_key_count_dyn(&self) -> LocalFuture<'_, Option<usize>>;
    /// Calls [`Place::check`].
    fn check_dyn(&self) -> LocalFuture<'_, ()>;
}

impl<P: Place> DynPlace for P {
    fn open_dyn(&self) -> LocalFuture<'_, OpenStore> {
        Box::pin(async { OpenStore::new(&self.open().await) })
    }
    fn address_dyn(&self) -> String {
        self.address()
    }
    fn time_to_kill_dyn(&self) -> Duration {
        self.time_to_kill()
    }
    fn has_event_dyn<'a>(&'a self, id: &'a str) -> LocalFuture<'a, Option<bool>> {
        Box::pin(self.has_event(id))
    }
    fn request_key_count_dyn(&self) -> LocalFuture<'_, Option<usize>> {
        Box::pin(self.request_key_count())
    }
    fn check_dyn(&self) -> LocalFuture<'_, ()> {
        Box::pin(self.check())
    }
}

impl dyn DynPlace + '_ {
    /// Opens the store, and builds a runner of the app `app` with this model.
    pub async fn runner(&self, model: ScriptedModel) -> Runner {
        let builder = Runner::builder().app_name("app").model(model);
        builder.store(self.open_dyn().await).build().unwrap()
    }

    /// Opens the store, and builds a runner of the app `app` that recovers runs of this workflow.
    pub async fn knows(&self, tree: Tree) -> Runner {
        self.open_dyn().await.knows("app", tree)
    }
}

/// A store with all its parts, as one process has opened it.
#[derive(Clone)]
pub struct OpenStore {
    /// The sessions.
    pub sessions: Arc<dyn SessionStore>,
    /// The engine of runs.
    pub engine: Arc<dyn Engine>,
    /// The artifacts, if the store has them.
    pub artifacts: Option<Arc<dyn ArtifactStore>>,
    /// The memory across sessions, if the store has it.
    pub memory: Option<Arc<dyn MemoryService>>,
}

impl Store for OpenStore {
    fn session_store(&self) -> Arc<dyn SessionStore> {
        self.sessions.clone()
    }
    fn engine(&self) -> Arc<dyn Engine> {
        self.engine.clone()
    }
    fn artifact_store(&self) -> Option<Arc<dyn ArtifactStore>> {
        self.artifacts.clone()
    }
    fn memory_service(&self) -> Option<Arc<dyn MemoryService>> {
        self.memory.clone()
    }
}

impl OpenStore {
    /// Takes the parts of a store.
    pub fn new(store: &impl Store) -> Self {
        Self {
            sessions: store.session_store(),
            engine: store.engine(),
            artifacts: store.artifact_store(),
            memory: store.memory_service(),
        }
    }

    /// Returns the store without artifacts.
    pub(crate) fn without_artifacts(self) -> Self {
        Self {
            artifacts: None,
            ..self
        }
    }

    /// Returns the artifacts.
    pub fn artifacts(&self) -> Arc<dyn ArtifactStore> {
        let artifacts = self.artifacts.clone();
        artifacts.expect("`Store::artifact_store` returns artifacts; or leave their promises out")
    }

    /// Returns the memory across sessions.
    pub fn memory(&self) -> Arc<dyn MemoryService> {
        let memory = self.memory.clone();
        memory.expect("`Store::memory_service` returns a service; or leave its promises out")
    }

    /// Returns the registry of runs.
    pub fn registry(&self) -> &dyn RunRegistry {
        self.engine
            .registry()
            .expect("`Engine::registry` returns a registry of runs")
    }

    /// Returns the registry of waits.
    pub fn waits(&self) -> &dyn WaitRegistry {
        self.engine
            .waits()
            .expect("`Engine::waits` returns a registry of waits")
    }

    /// Builds a runner of an app.
    pub fn runner(&self, app: &str) -> Runner {
        let builder = Runner::builder().app_name(app).store(self.clone());
        builder.build().unwrap()
    }

    /// Builds a runner of an app that recovers runs of this workflow.
    pub fn knows(&self, app: &str, tree: Tree) -> Runner {
        let builder = Runner::builder().app_name(app).store(self.clone());
        let builder = builder.config(RunConfig::new().streaming(true));
        builder.workflow::<Tree>(tree).build().unwrap()
    }
}

/// Returns the key of the session that promises about one session use.
pub fn key() -> SessionKey {
    SessionKey::new("app", "u", "s")
}

/// Returns the kind of a store error.
pub fn kind(error: &Error) -> StoreErrorKind {
    match error.kind() {
        ErrorKind::Store(kind) => kind,
        other => panic!("{other:?}: {error}"),
    }
}

/// Builds a runner of the app `app` on a store.
pub fn runner(store: &impl Store) -> Runner {
    OpenStore::new(store).runner("app")
}
