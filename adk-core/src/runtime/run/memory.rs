//! Access of a run to the memory service of its runner.

use super::{Run, Services};
use crate::memory::{MemoryEntry, MemoryService};
use crate::{Error, ErrorKind, Result};
use std::sync::Arc;

impl Services {
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
