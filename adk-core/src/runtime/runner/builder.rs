//! [`RunnerBuilder`]: the settings of a [`Runner`].

use super::cancel::DrivenRuns;
use super::parts::StoreParts;
use super::recover::{self, NamedWorkflow};
use super::{Runner, RunnerShared};
use crate::ArtifactStore;
use crate::Store;
use crate::memory::MemoryService;
#[cfg(doc)]
use crate::model::Model;
use crate::model::{ModelProvider, ModelRef, RateLimit};
use crate::runtime::resources::{Needs, NoResources, Resources, SharedResources};
use crate::runtime::run::hooks::Hook;
use crate::runtime::run::{Hooks, Models, Plugin, RunConfig, Services};
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

/// Builder for a [`Runner`]. Without settings, the runner keeps all data in memory and has no
/// model.
pub struct RunnerBuilder<P, R = NoResources> {
    settings: Settings,
    types: PhantomData<fn() -> (P, R)>,
}

struct Settings {
    app: String,
    models: ModelSettings,
    prices: Option<Arc<Prices>>,
    store: StoreParts,
    /// The sessions, engine, artifacts and memory that replace those of the store.
    parts: StoreParts,
    plugins: Hooks,
    config: RunConfig,
    workflows: Vec<Arc<dyn NamedWorkflow>>,
    resources: SharedResources,
}

/// The models of agents without models of their own.
#[derive(Default)]
struct ModelSettings {
    default: Option<ModelRef>,
    fallback: Vec<ModelRef>,
    limits: HashMap<String, RateLimit>,
    provider: Option<Arc<dyn ModelProvider>>,
}

impl<P: ModelProvider + Default> RunnerBuilder<P> {
    pub(super) fn new() -> Self {
        let settings = Settings {
            app: "app".to_owned(),
            models: ModelSettings::default(),
            prices: None,
            store: StoreParts::default(),
            parts: StoreParts::default(),
            plugins: Hooks::default(),
            config: RunConfig::default(),
            workflows: Vec::new(),
            resources: SharedResources::new(NoResources),
        };
        Self {
            settings,
            types: PhantomData,
        }
    }

    /// Sets the resources that tools and agents take from the program: a struct with
    /// `#[derive(adk::Resources)]`. Tools and agents receive its fields by type. rustc refuses to
    /// run a workflow that takes a resource that `resources` does not contain (`resource-missing`).
    /// [Add](Self::workflow) workflows that take resources after this call.
    #[must_use]
    pub fn resources<R: Resources>(self, resources: R) -> RunnerBuilder<P, R> {
        let settings = Settings {
            resources: SharedResources::new(resources),
            ..self.settings
        };
        RunnerBuilder {
            settings,
            types: PhantomData,
        }
    }
}

impl<P: ModelProvider + Default, R> RunnerBuilder<P, R> {
    /// Sets the name of the app. Sessions and `app:` state belong to an app. Default `app`.
    #[must_use]
    pub fn app_name(mut self, name: impl Into<String>) -> Self {
        self.settings.app = name.into();
        self
    }

    /// Sets the model of all agents without a model of their own: by name, such as
    /// `"gemini-2.5-flash"`, or by value.
    #[must_use]
    pub fn model(mut self, model: impl Into<ModelRef>) -> Self {
        self.settings.models.default = Some(model.into());
        self
    }

    /// Sets the fallback models of all agents without a model of their own. The runner calls them
    /// in this order when a call has finally failed, or was refused because of load (429, 5xx), but
    /// not after a part of the reply was streamed.
    #[must_use]
    pub fn fallback<M: Into<ModelRef>>(mut self, models: impl IntoIterator<Item = M>) -> Self {
        self.settings.models.fallback = models.into_iter().map(Into::into).collect();
        self
    }

    /// Limits the requests that all runs together send to a provider, such as `"openai"` or
    /// `"gcp.gemini"`: see [`Model::provider`]. Default: no limit.
    #[must_use]
    pub fn rate_limit(mut self, provider: impl Into<String>, limit: RateLimit) -> Self {
        self.settings.models.limits.insert(provider.into(), limit);
        self
    }

    /// Sets the prices of models, for `Outcome::usage.cost` and for budgets in money. By default,
    /// no call has a cost, and a budget in money is an error of the run.
    #[must_use]
    pub fn prices(mut self, prices: Prices) -> Self {
        self.settings.prices = Some(Arc::new(prices));
        self
    }

    /// Sets the provider that looks up models by name, in place of the default.
    #[must_use]
    pub fn model_provider(mut self, provider: impl ModelProvider) -> Self {
        self.settings.models.provider = Some(Arc::new(provider));
        self
    }

    /// Sets the store of sessions, runs, waits, artifacts and memory. Without a store, sessions and
    /// artifacts are kept in memory, runs end with their streams, and memory is not kept.
    ///
    /// [`session_store`](Self::session_store), [`engine`](Self::engine),
    /// [`artifact_store`](Self::artifact_store) and [`memory_service`](Self::memory_service) each
    /// replace one part of the store. The order of the calls does not matter.
    #[must_use]
    pub fn store(mut self, store: impl Store) -> Self {
        self.settings.store = StoreParts::from(&store);
        self
    }

    /// Replaces only the sessions of the [store](Self::store). Runs write events only into sessions
    /// of the [location](SessionStore::location) of their engine, so sessions in a database also
    /// need its [`engine`](Self::engine).
    #[must_use]
    pub fn session_store(mut self, store: impl Into<Arc<dyn SessionStore>>) -> Self {
        self.settings.parts.sessions = Some(store.into());
        self
    }

    /// Replaces only the artifacts of the [store](Self::store). Without a store and without this
    /// call, artifacts are kept in memory if runs are also kept in memory. With an engine that [is
    /// durable](Retention::Durable), artifacts in memory would be lost before the runs that saved
    /// them, so each save fails with an error of kind [`ErrorKind::NoArtifactStore`]. A program
    /// that accepts the loss passes `MemoryArtifacts::new()` here.
    #[must_use]
    pub fn artifact_store(mut self, store: impl Into<Arc<dyn ArtifactStore>>) -> Self {
        self.settings.parts.artifacts = Some(store.into());
        self
    }

    /// Replaces only the memory across sessions of the [store](Self::store). Without a store and
    /// without this call, the runner keeps no memory, and a search fails with an error of kind
    /// [`ErrorKind::NoMemoryService`].
    #[must_use]
    pub fn memory_service(mut self, service: impl Into<Arc<dyn MemoryService>>) -> Self {
        self.settings.parts.memory = Some(service.into());
        self
    }

    /// Replaces only the engine of the [store](Self::store), which keeps runs and their waits. An
    /// engine of a database also needs its [`session_store`](Self::session_store). Without a store
    /// and without this call, runs end with their streams;
    /// [`MemoryJournal`](crate::engine::MemoryJournal) keeps them in memory.
    #[must_use]
    pub fn engine(mut self, engine: impl Engine) -> Self {
        self.settings.parts.engine = Some(Arc::new(engine));
        self
    }

    /// Adds a plugin. Every run calls it after the plugins that were added before.
    #[must_use]
    pub fn plugin(mut self, plugin: impl Plugin) -> Self {
        self.settings.plugins.push(Hook::Plugin(Arc::new(plugin)));
        self
    }

    /// Adds a workflow whose runs [`recover`](Runner::recover) resumes by name. If the program also
    /// runs the workflow itself, pass it in an `Arc`.
    #[must_use]
    pub fn workflow<W: Workflow + Needs<R> + 'static>(mut self, workflow: W) -> Self {
        self.settings
            .workflows
            .push(recover::named_workflow(Arc::new(workflow)));
        self
    }

    /// Sets the default settings of runs.
    #[must_use]
    pub fn config(mut self, config: RunConfig) -> Self {
        self.settings.config = config;
        self
    }

    /// Builds the runner.
    ///
    /// # Errors
    /// Fails when sessions, runs and artifacts are kept in different
    /// [locations](crate::session::Location), because data would be lost; the error names the
    /// missing call.
    ///
    /// Also fails when the model's name is unknown, when its provider's key is missing, or when the
    /// crate was built without a feature that knows model names; when the app is called `user` or
    /// its name [cannot be stored](crate::store::session::SessionKey::check); and when two plugins
    /// have the same name.
    pub fn build(self) -> Result<Runner<P, R>> {
        let settings = self.settings;
        if settings.app.is_empty() || settings.app == "user" {
            let message = format!("`{}` cannot be the name of an app", settings.app);
            return Err(Error::new(ErrorKind::Config, message)
                .with_help("choose another with `.app_name(...)`"));
        }
        check_id("app name", &settings.app)?;
        if let Some(name) = settings.plugins.repeated_name() {
            let message = format!("two plugins are called `{name}`");
            return Err(Error::new(ErrorKind::Config, message)
                .with_help("return another name from `Plugin::name` of one of them"));
        }
        let provider = settings
            .models
            .provider
            .unwrap_or_else(|| Arc::new(P::default()));
        let mut models = Models::new(provider);
        models.set_default(settings.models.default.as_ref(), &settings.models.fallback)?;
        models.set_limits(settings.models.limits);
        let stores = settings.parts.with_defaults(settings.store)?;
        let shared = RunnerShared {
            app: settings.app,
            tenant_of: None,
            sessions: stores.sessions,
            engine: stores.engine,
            services: Arc::new(Services {
                artifacts: stores.artifacts,
                memory: stores.memory,
                models,
                plugins: settings.plugins,
                resources: settings.resources,
                prices: settings.prices,
            }),
            config: settings.config,
            workflows: settings.workflows,
            driven: Arc::new(DrivenRuns::default()),
        };
        Ok(Runner {
            shared: Arc::new(shared),
            types: PhantomData,
        })
    }
}

impl<P, R> fmt::Debug for RunnerBuilder<P, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RunnerBuilder")
            .field("app", &self.settings.app)
            .field("model", &self.settings.models.default)
            .finish_non_exhaustive()
    }
}
