//! [`Parts`]: the stores that a builder was given, and the rules that they have to fit.

use super::store::Store;
use crate::runtime::run::memory::MemoryService;
use crate::runtime::run::{ArtifactStore, MemoryArtifacts, MissingArtifactStore};
use crate::store::engine::{Engine, MemoryEngine, Retention};
use crate::store::session::{Location, MemoryStore, SessionStore};
use crate::{Error, ErrorKind, Result};
use std::sync::Arc;

/// The stores that the calls of a builder have set.
#[derive(Default)]
pub(super) struct Parts {
    pub(super) sessions: Option<Arc<dyn SessionStore>>,
    pub(super) engine: Option<Arc<dyn Engine>>,
    pub(super) artifacts: Option<Arc<dyn ArtifactStore>>,
    pub(super) memory: Option<Arc<dyn MemoryService>>,
}

/// The stores of a runner.
pub(super) struct Stores {
    pub(super) sessions: Arc<dyn SessionStore>,
    pub(super) engine: Arc<dyn Engine>,
    pub(super) artifacts: Arc<dyn ArtifactStore>,
    pub(super) memory: Option<Arc<dyn MemoryService>>,
}

impl<S: Store + ?Sized> From<&S> for Parts {
    fn from(store: &S) -> Self {
        Self {
            sessions: Some(store.session_store()),
            engine: Some(store.engine()),
            artifacts: store.artifact_store(),
            memory: store.memory_service(),
        }
    }
}

/// What has set a part. A later one replaces an earlier one.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Origin {
    Default,
    Store,
    Setter,
}

/// A part, as the rules see it.
struct Part {
    name: &'static str,
    /// The call that sets it.
    setter: &'static str,
    origin: Origin,
    location: Location,
}

impl Parts {
    /// The stores of a runner: these parts, else those of `store`, else the defaults.
    ///
    /// # Errors
    /// [`ErrorKind::Config`] when two parts do not [fit](Part::fits).
    pub(super) fn with_defaults(self, store: Self) -> Result<Stores> {
        let (sessions, sessions_by) = choose(self.sessions, store.sessions, || Arc::new(MemoryStore::new()));
        let (engine, engine_by) = choose(self.engine, store.engine, || Arc::new(MemoryEngine));
        let (artifacts, artifacts_by) = choose(self.artifacts, store.artifacts, || {
            // In memory they would be lost before the runs that saved them.
            if engine.retention() == Retention::Durable {
                Arc::new(MissingArtifactStore)
            } else {
                Arc::new(MemoryArtifacts::new())
            }
        });
        let part = |name, setter, origin, location| Part { name, setter, origin, location };
        let held = part("sessions", ".session_store(...)", sessions_by, sessions.location());
        let runs = part("runs", ".engine(...)", engine_by, engine.location());
        held.fits(&runs, "the events of a run would not be in its session")?;
        // Other artifact stores and all memory services keep data of sessions of any location.
        if let Some(location) = artifacts.session_location() {
            let files = part("artifacts", ".artifact_store(...)", artifacts_by, location);
            files.fits(&held, "no artifact of a session could be saved")?;
        }
        Ok(Stores { sessions, engine, artifacts, memory: self.memory.or(store.memory) })
    }
}

/// The part that a setter has set, else that of the store, else the default.
fn choose<T: ?Sized>(
    own: Option<Arc<T>>,
    of_store: Option<Arc<T>>,
    default: impl FnOnce() -> Arc<T>,
) -> (Arc<T>, Origin) {
    match (own, of_store) {
        (Some(part), _) => (part, Origin::Setter),
        (None, Some(part)) => (part, Origin::Store),
        (None, None) => (default(), Origin::Default),
    }
}

impl Part {
    /// Refuses parts of one whole in two locations. `loss` is what would happen.
    fn fits(&self, other: &Self, loss: &str) -> Result<()> {
        if self.location == other.location {
            return Ok(());
        }
        let message = format!(
            "{} are kept in {} and {} in {}: {loss}",
            self.name, self.location, other.name, other.location
        );
        let (missing, set) = if self.origin < other.origin { (self, other) } else { (other, self) };
        let other_way = if missing.origin == set.origin {
            format!("pass the same store to `{}` and `{}`", self.setter, other.setter)
        } else {
            format!("add the missing `{}` with the store of the {}", missing.setter, set.name)
        };
        let help = format!("pass one store for all with `.store(...)`, or {other_way}");
        Err(Error::new(ErrorKind::Config, message).with_help(help))
    }
}
