//! [`Services`]: what all runs of a runner share.

use super::{Hooks, Models, Run};
use crate::memory::{MemoryEntry, MemoryService};
use crate::runtime::resources::SharedResources;
use crate::spec::Prices;
use crate::{ArtifactStore, Error, ErrorKind, Result};
use std::sync::Arc;

/// Services that all runs of a runner share.
pub(crate) struct Services {
    pub(crate) artifacts: Arc<dyn ArtifactStore>,
    pub(crate) memory: Option<Arc<dyn MemoryService>>,
    pub(crate) models: Models,
    pub(crate) plugins: Hooks,
    pub(crate) resources: SharedResources,
    pub(crate) prices: Option<Arc<Prices>>,
}

impl Services {
    /// Creates the services of a run in memory without models.
    pub(super) fn for_tests(resources: SharedResources) -> Self {
        Self {
            artifacts: Arc::new(crate::MemoryArtifacts::new()),
            memory: None,
            models: Models::new(Arc::new(crate::model::NoProvider)),
            plugins: Hooks::default(),
            resources,
            prices: None,
        }
    }

    /// Returns the memory service of the runner.
    pub(crate) fn memory(&self) -> Result<&Arc<dyn MemoryService>> {
        self.memory.as_ref().ok_or_else(|| {
            let message = "memory is requested, but this runner has no memory service";
            Error::new(ErrorKind::NoMemoryService, message).with_help(
                "give it one: `Runner::builder().store(store)`, or \
                 `.memory_service(InMemoryMemoryService::new())`",
            )
        })
    }
}

impl Run {
    /// Searches the memory of the user of the session.
    pub(crate) fn search_memory(
        &self,
        query: &str,
    ) -> impl Future<Output = Result<Vec<MemoryEntry>>> + Send + use<> {
        let memory = self.services.memory().cloned();
        let (key, query) = (self.session().key().clone(), query.to_owned());
        async move { memory?.search_memory(&key.app, &key.user, &query).await }
    }
}
