//! [`ArtifactStore`]: versioned files of a session or a user.

mod folder;
mod folder_names;
mod stored;

pub use folder::FolderArtifacts;
pub use stored::StoredPart;

use crate::session::{Location, SessionKey};
use crate::sync::lock;
use adk_model::{BoxFuture, Error, ErrorKind, Part, Result};
use std::collections::BTreeMap;
use std::future::ready;
use std::sync::{Arc, Mutex};

/// A store of artifacts: ADK's artifact service. A file whose name begins with `user:` belongs to
/// the user, any other to the session. Versions of a file count from 0. Two versions that are saved
/// at the same time get different numbers.
///
/// An artifact must last as long as the run that saved it. With an engine that [is
/// durable](crate::engine::Retention::Durable) give the runner a store that is as durable,
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
#[derive(Debug)]
pub struct MissingArtifactStore;

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
