//! Files that belong to a session or a user, in versions.

mod folder;
mod folder_names;
mod stored;

pub use folder::FolderArtifacts;
pub use stored::StoredPart;

use super::{Overlay, Run};
use crate::store::session::SessionKey;
use crate::sync::lock;
use crate::{BoxFuture, Error, ErrorKind, Name, Part, Result};
use std::collections::BTreeMap;
use std::fmt;
use std::future::ready;
use std::sync::{Arc, Mutex};

/// Keeps artifacts: ADK's artifact service. A file whose name begins with `user:` belongs to the user, any other to
/// the session; versions of a file count from 0. Two that are saved at the same time have different versions.
///
/// What a run has saved has to last as long as the run: with an engine that [is durable](crate::store::engine::Retention::Durable)
/// give the runner a store that is as durable, such as the same SQLite or Postgres store, or [`FolderArtifacts`].
pub trait ArtifactStore: Send + Sync + 'static {
    /// Stores the next version of a file and returns its number.
    ///
    /// # Errors
    /// When the store fails.
    fn save<'a>(&'a self, session: &'a SessionKey, name: &'a str, part: Part) -> BoxFuture<'a, Result<u32>>;

    /// A version of a file, the latest for `None`.
    ///
    /// # Errors
    /// When the store fails.
    fn load<'a>(
        &'a self,
        session: &'a SessionKey,
        name: &'a str,
        version: Option<u32>,
    ) -> BoxFuture<'a, Result<Option<Part>>>;

    /// The names of all files of the session and its user, sorted.
    ///
    /// # Errors
    /// When the store fails.
    fn list<'a>(&'a self, session: &'a SessionKey) -> BoxFuture<'a, Result<Vec<String>>>;

    /// Forgets all versions of a file.
    ///
    /// # Errors
    /// When the store fails.
    fn delete<'a>(&'a self, session: &'a SessionKey, name: &'a str) -> BoxFuture<'a, Result<()>>;
}

/// Whether a file belongs to the user, and so to all of the user's sessions.
fn is_of_user(name: &str) -> bool {
    name.starts_with("user:")
}

/// Artifacts in memory, for as long as the process lives. The default of a runner whose runs end with the process too.
#[derive(Debug, Default)]
pub struct MemoryArtifacts {
    files: Mutex<BTreeMap<(SessionKey, String), Vec<Part>>>,
}

impl MemoryArtifacts {
    /// A store without files.
    pub fn new() -> Self {
        Self::default()
    }

    fn place(session: &SessionKey, name: &str) -> (SessionKey, String) {
        let mut session = session.clone();
        if is_of_user(name) {
            session.id.clear();
        }
        (session, name.to_owned())
    }
}

impl ArtifactStore for MemoryArtifacts {
    fn save<'a>(&'a self, session: &'a SessionKey, name: &'a str, part: Part) -> BoxFuture<'a, Result<u32>> {
        let mut files = lock(&self.files);
        let versions = files.entry(Self::place(session, name)).or_default();
        versions.push(part);
        let version = u32::try_from(versions.len() - 1).unwrap_or(u32::MAX);
        Box::pin(ready(Ok(version)))
    }

    fn load<'a>(
        &'a self,
        session: &'a SessionKey,
        name: &'a str,
        version: Option<u32>,
    ) -> BoxFuture<'a, Result<Option<Part>>> {
        let files = lock(&self.files);
        let found = files.get(&Self::place(session, name)).and_then(|versions| match version {
            Some(version) => versions.get(version as usize),
            None => versions.last(),
        });
        Box::pin(ready(Ok(found.cloned())))
    }

    fn list<'a>(&'a self, session: &'a SessionKey) -> BoxFuture<'a, Result<Vec<String>>> {
        let files = lock(&self.files);
        let own = |key: &SessionKey, name: &str| *key == Self::place(session, name).0;
        let mut names: Vec<_> =
            files.keys().filter(|(key, name)| own(key, name)).map(|(_, name)| name.clone()).collect();
        names.sort();
        Box::pin(ready(Ok(names)))
    }

    fn delete<'a>(&'a self, session: &'a SessionKey, name: &'a str) -> BoxFuture<'a, Result<()>> {
        lock(&self.files).remove(&Self::place(session, name));
        Box::pin(ready(Ok(())))
    }
}

/// Keeps no artifacts: a runner that has none, as ADK's without an artifact service. Whoever asks for one gets an error,
/// also where it is read optionally, since nobody can tell whether it is there.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoArtifacts;

impl NoArtifacts {
    fn error(_: &str, name: &str) -> Error {
        let message = format!("artifact `{name}` is asked for, but this runner keeps no artifacts");
        Error::new(ErrorKind::NoArtifactStore, message)
            .with_help("give it a store: `Runner::builder().artifact_store(MemoryArtifacts::new())`")
    }
}

/// The artifacts of a runner with a durable engine that was given no store: in memory they would be lost with the process,
/// and their run would go on without them. It refuses what [`NoArtifacts`] refuses, for the same reason.
pub(crate) struct MissingArtifactStore;

impl MissingArtifactStore {
    fn error(what: &str, name: &str) -> Error {
        let message = format!(
            "cannot {what} artifact `{name}`: runs of this runner are durable, and it has no store for artifacts, which would \
            be lost with the process"
        );
        Error::new(ErrorKind::NoArtifactStore, message).with_help(
            "give it one that lasts: `.artifact_store(store.clone())` with the store of the runs, or \
            `.artifact_store(FolderArtifacts::open(path)?)`",
        )
    }
}

/// A store that holds nothing and refuses every access to an artifact.
macro_rules! refuses {
    ($($store:ty),*) => {
        $(impl ArtifactStore for $store {
            fn save<'a>(&'a self, _: &'a SessionKey, name: &'a str, _: Part) -> BoxFuture<'a, Result<u32>> {
                Box::pin(ready(Err(Self::error("save", name))))
            }

            fn load<'a>(
                &'a self,
                _: &'a SessionKey,
                name: &'a str,
                _: Option<u32>,
            ) -> BoxFuture<'a, Result<Option<Part>>> {
                Box::pin(ready(Err(Self::error("load", name))))
            }

            fn list<'a>(&'a self, _: &'a SessionKey) -> BoxFuture<'a, Result<Vec<String>>> {
                Box::pin(ready(Ok(Vec::new())))
            }

            fn delete<'a>(&'a self, _: &'a SessionKey, name: &'a str) -> BoxFuture<'a, Result<()>> {
                Box::pin(ready(Err(Self::error("delete", name))))
            }
        })*
    };
}

refuses!(NoArtifacts, MissingArtifactStore);

macro_rules! in_arc {
    ($($store:ty),*) => {
        $(impl From<$store> for Arc<dyn ArtifactStore> {
            fn from(store: $store) -> Self {
                Arc::new(store)
            }
        })*
    };
}

in_arc!(MemoryArtifacts, NoArtifacts, MissingArtifactStore, FolderArtifacts);

/// The artifacts of an agent's or a tool's session. The next event names what was saved.
pub struct Artifacts<'a> {
    pub(crate) run: &'a Run,
    pub(crate) overlay: &'a mut Overlay,
}

impl Artifacts<'_> {
    /// Stores the next version of a file and returns its number.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn save(&mut self, name: impl Into<Name>, part: Part) -> Result<u32> {
        let name = name.into();
        let version = self.run.services.artifacts.save(self.run.session().key(), &name, part).await?;
        self.overlay.artifact_delta.retain(|(other, _)| *other != name);
        self.overlay.artifact_delta.push((name, version));
        Ok(version)
    }

    /// The latest version of a file.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn load(&self, name: &str) -> Result<Option<Part>> {
        self.run.services.artifacts.load(self.run.session().key(), name, None).await
    }

    /// A version of a file.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn load_version(&self, name: &str, version: u32) -> Result<Option<Part>> {
        self.run.services.artifacts.load(self.run.session().key(), name, Some(version)).await
    }

    /// The names of all files of the session and its user.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn list(&self) -> Result<Vec<String>> {
        self.run.services.artifacts.list(self.run.session().key()).await
    }
}

impl fmt::Debug for Artifacts<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Artifacts({})", self.run.session().key())
    }
}
