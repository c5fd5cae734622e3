//! [`StoreParts`]: the stores that the calls of a builder set, and the rules that combine them.

use crate::Store;
use crate::memory::MemoryService;
use crate::store::artifacts::MissingArtifactStore;
use crate::store::engine::{Engine, MemoryEngine, Retention};
use crate::store::session::{Location, MemoryStore, SessionStore};
use crate::{ArtifactStore, MemoryArtifacts};
use crate::{Error, ErrorKind, Result};
use std::sync::Arc;

/// Stores that the calls of a builder set.
#[derive(Default)]
pub(super) struct StoreParts {
    pub(super) sessions: Option<Arc<dyn SessionStore>>,
    pub(super) engine: Option<Arc<dyn Engine>>,
    pub(super) artifacts: Option<Arc<dyn ArtifactStore>>,
    pub(super) memory: Option<Arc<dyn MemoryService>>,
}

/// Stores of a runner.
pub(super) struct Stores {
    pub(super) sessions: Arc<dyn SessionStore>,
    pub(super) engine: Arc<dyn Engine>,
    pub(super) artifacts: Arc<dyn ArtifactStore>,
    pub(super) memory: Option<Arc<dyn MemoryService>>,
}

impl<S: Store + ?Sized> From<&S> for StoreParts {
    fn from(store: &S) -> Self {
        Self {
            sessions: Some(store.session_store()),
            engine: Some(store.engine()),
            artifacts: store.artifact_store(),
            memory: store.memory_service(),
        }
    }
}

/// The origin of a part of a store, such as its engine. A later variant replaces an earlier one.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Origin {
    Default,
    Store,
    Setter,
}

/// Part of a store, such as its sessions or its engine, with the data that the rules compare.
struct StorePart {
    name: &'static str,
    /// Builder call that sets the part.
    setter: &'static str,
    origin: Origin,
    /// `None` if the part fits sessions of any location.
    location: Option<Location>,
}

impl StoreParts {
    /// Returns the stores of a runner: these parts, else the parts of `store`, else the defaults.
    ///
    /// # Errors
    /// Fails with [`ErrorKind::Config`] when two parts do not [fit](StorePart::check_fit).
    pub(super) fn with_defaults(self, store: Self) -> Result<Stores> {
        let store_location = store.engine.as_ref().map(|engine| engine.location());
        let (sessions, sessions_by) = choose(self.sessions, store.sessions, || {
            Arc::new(MemoryStore::new())
        });
        let (engine, engine_by) = choose(self.engine, store.engine, || Arc::new(MemoryEngine));
        let (artifacts, artifacts_by) = choose(self.artifacts, store.artifacts, || {
            // Artifacts in memory would be lost before the runs that saved them.
            if engine.retention() == Retention::Durable {
                Arc::new(MissingArtifactStore)
            } else {
                Arc::new(MemoryArtifacts::new())
            }
        });
        let memory_by = if self.memory.is_some() {
            Origin::Setter
        } else {
            Origin::Store
        };
        let memory = self.memory.or(store.memory);

        // Artifacts and memory may be kept in any location, unless they are part of a store or look
        // up their sessions.
        let location_of = |by| {
            if by == Origin::Store {
                store_location.clone()
            } else {
                None
            }
        };
        let artifacts_at = artifacts
            .session_location()
            .or_else(|| location_of(artifacts_by));
        let memory_at = memory.as_ref().and_then(|_| location_of(memory_by));
        let part = |name, setter, origin, location| StorePart {
            name,
            setter,
            origin,
            location,
        };
        let held = part(
            "sessions",
            ".session_store(...)",
            sessions_by,
            Some(sessions.location()),
        );
        let rules = [
            (
                part("runs", ".engine(...)", engine_by, Some(engine.location())),
                "a session would lack the events of its runs",
            ),
            (
                part(
                    "artifacts",
                    ".artifact_store(...)",
                    artifacts_by,
                    artifacts_at,
                ),
                "a session could not keep its artifacts",
            ),
            (
                part("memory", ".memory_service(...)", memory_by, memory_at),
                "sessions and what they add to memory would not last equally long",
            ),
        ];
        rules
            .iter()
            .try_for_each(|(part, loss)| held.check_fit(part, loss))?;
        Ok(Stores {
            sessions,
            engine,
            artifacts,
            memory,
        })
    }
}

/// Returns the part that a setter set, else the part of the store, else the default.
fn choose<T: ?Sized>(
    own: Option<Arc<T>>,
    from_store: Option<Arc<T>>,
    default: impl FnOnce() -> Arc<T>,
) -> (Arc<T>, Origin) {
    match (own, from_store) {
        (Some(part), _) => (part, Origin::Setter),
        (None, Some(part)) => (part, Origin::Store),
        (None, None) => (default(), Origin::Default),
    }
}

impl StorePart {
    /// Refuses parts in two locations. `loss` describes the consequence.
    fn check_fit(&self, other: &Self, loss: &str) -> Result<()> {
        let (Some(own), Some(others)) = (&self.location, &other.location) else {
            return Ok(());
        };
        if own == others {
            return Ok(());
        }
        let message = format!(
            "{} are kept in {own}, but {} in {others}: {loss}",
            self.name, other.name
        );
        let (missing, set) = if self.origin < other.origin {
            (self, other)
        } else {
            (other, self)
        };
        let other_way = if missing.origin == set.origin {
            format!(
                "pass the same store to `{}` and `{}`",
                self.setter, other.setter
            )
        } else {
            format!(
                "add the missing `{}` with the store of the {}",
                missing.setter, set.name
            )
        };
        let help = format!("pass one store for all with `.store(...)`, or {other_way}");
        Err(Error::new(ErrorKind::Config, message).with_help(help))
    }
}
