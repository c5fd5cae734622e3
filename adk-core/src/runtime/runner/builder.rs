//! What a runner is made of.

use super::cancel::DrivenRuns;
use super::parts::StoreParts;
use super::recover::{self, NamedWorkflow};
use super::store::Store;
use super::{Runner, RunnerShared};
#[cfg(doc)]
use crate::models::model::Model;
use crate::models::model::{ModelProvider, ModelRef, RateLimit};
use crate::runtime::resources::{Needs, NoResources, Resources, SharedResources};
use crate::runtime::run::memory::MemoryService;
use crate::runtime::run::{ArtifactStore, Models, Plugin, Plugins, RunConfig, Services};
use crate::runtime::workflow::Workflow;
use crate::spec::Prices;
use crate::store::engine::Engine;
#[cfg(doc)]
use crate::store::engine::Retention;
use crate::store::session::{SessionStore, check_id};
use crate::{Error, ErrorKind, Result};
use std::collections::HashMap;
use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

/// A [`Runner`] to be configured. Without any setting it keeps everything in memory and has no model.
pub struct RunnerBuilder<P, R = NoResources> {
    app: String,
    model: Option<ModelRef>,
    fallback: Vec<ModelRef>,
    limits: HashMap<String, RateLimit>,
    prices: Option<Arc<Prices>>,
    provider: Option<Arc<dyn ModelProvider>>,
    store: StoreParts,
    /// What replaces parts of the store.
    parts: StoreParts,
    plugins: Plugins,
    config: RunConfig,
    workflows: Vec<Arc<dyn NamedWorkflow>>,
    resources: SharedResources,
    types: PhantomData<fn() -> (P, R)>,
}

impl<P: ModelProvider + Default> RunnerBuilder<P> {
    pub(super) fn new() -> Self {
        Self {
            app: "app".to_owned(),
            model: None,
            fallback: Vec::new(),
            limits: HashMap::new(),
            prices: None,
            provider: None,
            store: StoreParts::default(),
            parts: StoreParts::default(),
            plugins: Plugins::default(),
            config: RunConfig::default(),
            workflows: Vec::new(),
            resources: SharedResources::new(NoResources),
            types: PhantomData,
        }
    }

    /// What tools and agents take from the program: a struct with `#[derive(adk::Resources)]`, of which each field is given
    /// by its type. A workflow that takes what `resources` does not give is not run, which rustc says (`resource-missing`).
    /// Workflows that take something are [added](Self::workflow) after it.
    #[must_use]
    pub fn resources<R: Resources>(self, resources: R) -> RunnerBuilder<P, R> {
        RunnerBuilder {
            app: self.app,
            model: self.model,
            fallback: self.fallback,
            limits: self.limits,
            prices: self.prices,
            provider: self.provider,
            store: self.store,
            parts: self.parts,
            plugins: self.plugins,
            config: self.config,
            workflows: self.workflows,
            resources: SharedResources::new(resources),
            types: PhantomData,
        }
    }
}

impl<P: ModelProvider + Default, R> RunnerBuilder<P, R> {
    /// The name of the app: sessions and `app:` state belong to it. Default `app`.
    #[must_use]
    pub fn app_name(mut self, name: impl Into<String>) -> Self {
        self.app = name.into();
        self
    }

    /// The model of all agents that name none: by name, such as `"gemini-2.5-flash"`, or by value.
    #[must_use]
    pub fn model(mut self, model: impl Into<ModelRef>) -> Self {
        self.model = Some(model.into());
        self
    }

    /// The models that are asked in this order when a call has failed for good, or was refused for load (429, 5xx), by all agents
    /// that name none themselves. Never after a part of an answer was handed on.
    #[must_use]
    pub fn fallback<M: Into<ModelRef>>(mut self, models: impl IntoIterator<Item = M>) -> Self {
        self.fallback = models.into_iter().map(Into::into).collect();
        self
    }

    /// What a provider may be asked by all runs together, such as `"openai"` or `"gcp.gemini"`: see [`Model::provider`]. Default: no limit.
    #[must_use]
    pub fn rate_limit(mut self, provider: impl Into<String>, limit: RateLimit) -> Self {
        self.limits.insert(provider.into(), limit);
        self
    }

    /// What models cost, for `Outcome::usage.cost` and for budgets in money. Default: none, then nothing has a cost, and a budget
    /// in money is an error of the run.
    #[must_use]
    pub fn prices(mut self, prices: Prices) -> Self {
        self.prices = Some(Arc::new(prices));
        self
    }

    /// Where models are looked up by name, in place of the default.
    #[must_use]
    pub fn model_provider(mut self, provider: impl ModelProvider) -> Self {
        self.provider = Some(Arc::new(provider));
        self
    }

    /// The store of sessions, runs, waits, artifacts and memory. Default: none. Then sessions and artifacts are kept in
    /// memory, runs end with their streams, and memory is not kept.
    ///
    /// [`session_store`](Self::session_store), [`engine`](Self::engine), [`artifact_store`](Self::artifact_store) and
    /// [`memory_service`](Self::memory_service) each replace one part of it, whether they are called before or after.
    #[must_use]
    pub fn store(mut self, store: impl Store) -> Self {
        self.store = StoreParts::from(&store);
        self
    }

    /// Replaces the sessions of the [store](Self::store), and nothing else. Runs write events into sessions of the
    /// [location](SessionStore::location) of their engine only, so sessions in a database also need its
    /// [`engine`](Self::engine).
    #[must_use]
    pub fn session_store(mut self, store: impl Into<Arc<dyn SessionStore>>) -> Self {
        self.parts.sessions = Some(store.into());
        self
    }

    /// Replaces the artifacts of the [store](Self::store), and nothing else. Without both, artifacts are kept in memory if
    /// runs are as well. With an engine that [is durable](Retention::Durable) they would not last as long as the runs that
    /// saved them, so each save is refused with an error of kind [`ErrorKind::NoArtifactStore`]. `MemoryArtifacts::new()`
    /// given here is taken as it is: then artifacts are lost with the process, by choice.
    #[must_use]
    pub fn artifact_store(mut self, store: impl Into<Arc<dyn ArtifactStore>>) -> Self {
        self.parts.artifacts = Some(store.into());
        self
    }

    /// Replaces the memory across sessions of the [store](Self::store), and nothing else. Without both, nothing is
    /// remembered, and a search is an error of kind [`ErrorKind::NoMemoryService`].
    #[must_use]
    pub fn memory_service(mut self, service: impl Into<Arc<dyn MemoryService>>) -> Self {
        self.parts.memory = Some(service.into());
        self
    }

    /// Replaces the engine of the [store](Self::store), which keeps runs and their waits, and nothing else. An engine of a
    /// database also needs its [`session_store`](Self::session_store). Without both, runs end with their streams;
    /// [`MemoryJournal`](crate::engine::MemoryJournal) keeps them in memory.
    #[must_use]
    pub fn engine(mut self, engine: impl Engine) -> Self {
        self.parts.engine = Some(Arc::new(engine));
        self
    }

    /// Adds a plugin: called in every run, after earlier plugins.
    #[must_use]
    pub fn plugin(mut self, plugin: impl Plugin) -> Self {
        self.plugins.0.push(Arc::new(plugin));
        self
    }

    /// A workflow whose runs [`recover`](Runner::recover) takes up again: it is found by its name. One that the program
    /// runs as well is given in an `Arc`.
    #[must_use]
    pub fn workflow<W: Workflow + Needs<R> + 'static>(mut self, workflow: W) -> Self {
        self.workflows.push(recover::named_workflow(Arc::new(workflow)));
        self
    }

    /// The settings of runs that bring none of their own.
    #[must_use]
    pub fn config(mut self, config: RunConfig) -> Self {
        self.config = config;
        self
    }

    /// The runner.
    ///
    /// # Errors
    /// When the stores do not fit: sessions, runs and artifacts that are kept in different
    /// [locations](crate::session::Location) would lose data; the error names the missing call.
    ///
    /// When the model's name is unknown, its provider's key is missing, or the crate was built without a
    /// feature that knows model names; when the app is called `user`, or by a name that [cannot be
    /// kept](crate::store::session::SessionKey::check); when two plugins have one name.
    pub fn build(self) -> Result<Runner<P, R>> {
        if self.app.is_empty() || self.app == "user" {
            let message = format!("`{}` cannot be the name of an app", self.app);
            return Err(
                Error::new(ErrorKind::Config, message).with_help("choose another with `.app_name(...)`")
            );
        }
        check_id("app name", &self.app)?;
        if let Some(name) = self.plugins.repeated() {
            let message = format!("two plugins are called `{name}`");
            return Err(Error::new(ErrorKind::Config, message)
                .with_help("give each another name: its `Plugin::name` says it"));
        }
        let provider = self.provider.unwrap_or_else(|| Arc::new(P::default()));
        let mut models = Models::new(provider);
        models.set_default(self.model.as_ref(), &self.fallback)?;
        models.set_limits(self.limits);
        let stores = self.parts.with_defaults(self.store)?;
        let shared = RunnerShared {
            app: self.app,
            tenant_of: None,
            sessions: stores.sessions,
            engine: stores.engine,
            services: Arc::new(Services {
                artifacts: stores.artifacts,
                memory: stores.memory,
                models,
                plugins: self.plugins,
                resources: self.resources,
                prices: self.prices,
            }),
            config: self.config,
            workflows: self.workflows,
            driven: Arc::new(DrivenRuns::default()),
        };
        Ok(Runner { shared: Arc::new(shared), types: PhantomData })
    }
}

impl<P, R> fmt::Debug for RunnerBuilder<P, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RunnerBuilder")
            .field("app", &self.app)
            .field("model", &self.model)
            .finish_non_exhaustive()
    }
}
