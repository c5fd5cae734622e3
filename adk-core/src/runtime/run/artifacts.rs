//! [`ArtifactStore`] and [`Artifacts`]: versioned files of a session or a user.

mod folder;
mod folder_names;
mod stored;

pub use folder::FolderArtifacts;
pub use stored::StoredPart;

use super::{CallCounts, Overlay, Run, perform};
use crate::store::engine::{CallInputs, CallKind, StepKey};
use crate::store::session::{Location, SessionKey};
use crate::sync::lock;
use crate::{BoxFuture, Error, ErrorKind, Name, Part, Path, Result, StoreErrorKind, depth};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::collections::BTreeMap;
use std::fmt;
use std::future::ready;
use std::sync::{Arc, Mutex};

/// A store of artifacts: ADK's artifact service. A file whose name begins with `user:` belongs to
/// the user, any other to the session. Versions of a file count from 0. Two versions that are saved
/// at the same time get different numbers.
///
/// An artifact must last as long as the run that saved it. With an engine that [is
/// durable](crate::store::engine::Retention::Durable) give the runner a store that is as durable,
/// such as the same SQLite or Postgres store, or [`FolderArtifacts`].
pub trait ArtifactStore: Send + Sync + 'static {
    /// Returns the location of the sessions, if the store looks them up; it then keeps files only
    /// of existing sessions. Default `None`: the store keeps files of any session.
    fn session_location(&self) -> Option<Location> {
        None
    }

    /// Stores the next version of a file and returns its number.
    ///
    /// # Errors
    /// When the store fails.
    fn save<'a>(
        &'a self,
        session: &'a SessionKey,
        name: &'a str,
        part: Part,
    ) -> BoxFuture<'a, Result<u32>>;

    /// Returns a version of a file, the latest for `None`.
    ///
    /// # Errors
    /// When the store fails.
    fn load<'a>(
        &'a self,
        session: &'a SessionKey,
        name: &'a str,
        version: Option<u32>,
    ) -> BoxFuture<'a, Result<Option<Part>>>;

    /// Returns the names of all files of the session and its user, sorted.
    ///
    /// # Errors
    /// When the store fails.
    fn list<'a>(&'a self, session: &'a SessionKey) -> BoxFuture<'a, Result<Vec<String>>>;

    /// Returns the numbers of the versions of a file, in ascending order: ADK's `list_versions`.
    ///
    /// # Errors
    /// When the store fails.
    fn versions<'a>(
        &'a self,
        session: &'a SessionKey,
        name: &'a str,
    ) -> BoxFuture<'a, Result<Vec<u32>>>;

    /// Deletes all versions of a file.
    ///
    /// # Errors
    /// When the store fails.
    fn delete<'a>(&'a self, session: &'a SessionKey, name: &'a str) -> BoxFuture<'a, Result<()>>;
}

/// Returns whether a file belongs to the user, and therefore to all sessions of the user.
fn is_of_user(name: &str) -> bool {
    name.starts_with("user:")
}

/// Artifacts in memory, for as long as the process lives. This is the default of a runner whose
/// runs also end with the process.
#[derive(Debug, Default)]
pub struct MemoryArtifacts {
    files: Mutex<BTreeMap<(SessionKey, String), Vec<Part>>>,
}

impl MemoryArtifacts {
    /// Creates a store without files.
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
    fn save<'a>(
        &'a self,
        session: &'a SessionKey,
        name: &'a str,
        part: Part,
    ) -> BoxFuture<'a, Result<u32>> {
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
        let found = files
            .get(&Self::place(session, name))
            .and_then(|versions| match version {
                Some(version) => versions.get(version as usize),
                None => versions.last(),
            });
        Box::pin(ready(Ok(found.cloned())))
    }

    fn list<'a>(&'a self, session: &'a SessionKey) -> BoxFuture<'a, Result<Vec<String>>> {
        let files = lock(&self.files);
        let own = |key: &SessionKey, name: &str| *key == Self::place(session, name).0;
        let mut names: Vec<_> = files
            .keys()
            .filter(|(key, name)| own(key, name))
            .map(|(_, name)| name.clone())
            .collect();
        names.sort();
        Box::pin(ready(Ok(names)))
    }

    fn versions<'a>(
        &'a self,
        session: &'a SessionKey,
        name: &'a str,
    ) -> BoxFuture<'a, Result<Vec<u32>>> {
        let count = lock(&self.files)
            .get(&Self::place(session, name))
            .map_or(0, Vec::len);
        Box::pin(ready(Ok((0..).take(count).collect())))
    }

    fn delete<'a>(&'a self, session: &'a SessionKey, name: &'a str) -> BoxFuture<'a, Result<()>> {
        lock(&self.files).remove(&Self::place(session, name));
        Box::pin(ready(Ok(())))
    }
}

/// A store that keeps no artifacts, as ADK's runner without an artifact service. Every access to an
/// artifact is an error, also an optional read, because the store cannot know whether the artifact
/// exists.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoArtifacts;

impl NoArtifacts {
    fn error(_: &str, name: &str) -> Error {
        let message = format!("artifact `{name}` is requested, but this runner keeps no artifacts");
        Error::new(ErrorKind::NoArtifactStore, message).with_help(
            "give it a store: `Runner::builder().artifact_store(MemoryArtifacts::new())`",
        )
    }
}

/// The store of a durable runner without an artifact store. Artifacts in memory would be lost with
/// the process, and the resumed run would continue without them. Every access is an error, as in
/// [`NoArtifacts`], because the store cannot know whether an artifact exists.
pub(crate) struct MissingArtifactStore;

impl MissingArtifactStore {
    fn error(what: &str, name: &str) -> Error {
        let message = format!(
            "cannot {what} artifact `{name}`: runs of this runner are durable, and it has no store \
             for artifacts, which would be lost with the process"
        );
        Error::new(ErrorKind::NoArtifactStore, message).with_help(
            "give it one that lasts: `.store(store)` with the store of the runs, or \
            `.artifact_store(FolderArtifacts::open(path)?)`",
        )
    }
}

/// Implements a store that holds nothing and rejects every access to an artifact.
macro_rules! refuses {
    ($($store:ty),*) => {
        $(impl ArtifactStore for $store {
            fn save<'a>(
                &'a self,
                _: &'a SessionKey,
                name: &'a str,
                _: Part,
            ) -> BoxFuture<'a, Result<u32>> {
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

            fn versions<'a>(
                &'a self,
                _: &'a SessionKey,
                name: &'a str,
            ) -> BoxFuture<'a, Result<Vec<u32>>> {
                Box::pin(ready(Err(Self::error("list the versions of", name))))
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

in_arc!(
    MemoryArtifacts,
    NoArtifacts,
    MissingArtifactStore,
    FolderArtifacts
);

/// The artifacts of the session of an agent or a tool. The next event names the saved versions.
pub struct Artifacts<'a> {
    pub(crate) run: &'a Arc<Run>,
    pub(crate) overlay: &'a mut Overlay,
    /// The numbering and the path of recorded calls; `None` in a tool call, which is recorded as a
    /// whole.
    pub(crate) calls: Option<(&'a Path, &'a mut CallCounts)>,
}

impl Artifacts<'_> {
    /// Stores the next version of a file and returns its number. The save is a recorded step: a
    /// resumed run returns the recorded number, and saves no further version.
    ///
    /// # Errors
    /// [`StoreErrorKind::TooLarge`] when the part exceeds
    /// [`RunConfig::max_artifact_bytes`](crate::RunConfig::max_artifact_bytes), or when the store
    /// fails.
    pub async fn save(&mut self, name: impl Into<Name>, part: Part) -> Result<u32> {
        let name = name.into();
        if let Some(most) = self.run.config.max_artifact_bytes {
            check_size(&name, &part, most)?;
        }
        let (services, key) = (self.run.services.clone(), self.run.session().key().clone());
        let saved = name.clone();
        let work = async move { services.artifacts.save(&key, &saved, part).await };
        let version = self
            .record_step(
                CallKind::SaveArtifact,
                name.clone(),
                CallInputs::default(),
                work,
            )
            .await?;
        self.overlay
            .artifact_delta
            .retain(|(other, _)| *other != name);
        self.overlay.artifact_delta.push((name, version));
        Ok(version)
    }

    /// Returns the latest version of a file.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn load(&self, name: &str) -> Result<Option<Part>> {
        self.run
            .services
            .artifacts
            .load(self.run.session().key(), name, None)
            .await
    }

    /// Returns a version of a file.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn load_version(&self, name: &str, version: u32) -> Result<Option<Part>> {
        self.run
            .services
            .artifacts
            .load(self.run.session().key(), name, Some(version))
            .await
    }

    /// Returns the names of all files of the session and its user.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn list(&self) -> Result<Vec<String>> {
        self.run
            .services
            .artifacts
            .list(self.run.session().key())
            .await
    }

    /// Returns the names of all files, as a recorded step.
    pub(crate) async fn list_recorded(&mut self) -> Result<Vec<String>> {
        let (services, key) = (self.run.services.clone(), self.run.session().key().clone());
        let work = async move { services.artifacts.list(&key).await };
        self.record_step(
            CallKind::ListArtifacts,
            Name::literal("artifacts"),
            CallInputs::default(),
            work,
        )
        .await
    }

    /// Returns the numbers of the versions of a file, in ascending order.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn versions(&self, name: &str) -> Result<Vec<u32>> {
        self.run
            .services
            .artifacts
            .versions(self.run.session().key(), name)
            .await
    }

    async fn record_step<T, W>(
        &mut self,
        kind: CallKind,
        name: Name,
        inputs: CallInputs,
        work: W,
    ) -> Result<T>
    where
        T: Serialize + DeserializeOwned + Send + 'static,
        W: Future<Output = Result<T>> + Send + 'static,
    {
        let Some((path, calls)) = &mut self.calls else {
            return work.await;
        };
        let index = calls.take(kind, &name);
        let key = StepKey::new(self.run.id, (*path).clone(), kind, name, index);
        perform(self.run.clone(), key, inputs, depth::check, work).await
    }
}

/// Rejects a part with more than `most` bytes.
fn check_size(name: &str, part: &Part, most: u64) -> Result<()> {
    let bytes = match part {
        Part::InlineData(blob) => blob.data.len(),
        Part::Text(text) => text.len(),
        part => serde_json::to_string(part).map_or(0, |json| json.len()),
    };
    if bytes as u64 <= most {
        return Ok(());
    }
    let message = format!(
        "the artifact `{name}` has {bytes} bytes, more than the {most} bytes of \
         `max_artifact_bytes`"
    );
    Err(
        Error::new(ErrorKind::Store(StoreErrorKind::TooLarge), message)
            .with_help("save less, or keep it elsewhere and save its address as `Part::file_data`"),
    )
}

impl fmt::Debug for Artifacts<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Artifacts({})", self.run.session().key())
    }
}
