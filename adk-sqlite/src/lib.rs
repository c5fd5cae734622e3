//! Durable sessions, runs and artifacts in one SQLite file.
//!
//! [`SqliteStore`] keeps sessions with their artifacts and is the engine of their runs. An event,
//! its state changes and its journal entry form one transaction. The transaction is on the disk
//! before the agent continues and before any reader sees the event.
//!
//! ```no_run
//! # use adk_build as adk;
//! # async fn example() -> adk::Result<()> {
//! let store = adk_sqlite::SqliteStore::open("agents.db").await?;
//! let runner: adk::Runner = adk::Runner::builder().store(store).build()?;
//! # let _ = runner;
//! # Ok(())
//! # }
//! ```
//!
//! The tables are those of ADK's `DatabaseSessionService` (schema version 1): Python's google-adk
//! opens the same file and reads the sessions that this crate wrote, and the reverse. Data without
//! a table in ADK is in further tables, whose names begin with `adkw_`.
//!
//! All writes go through one thread that owns the connection. Writes that arrive while the thread
//! waits for the disk share the next transaction.
//!
//! A program can link SQLite only once. This crate accepts the versions 0.39 to 0.43 of `rusqlite`,
//! so that Cargo finds a version of `libsqlite3-sys` beside `sqlx` 0.9, `diesel` 2, `sea-orm` 2,
//! `deadpool-sqlite` 0.14 and `tokio-rusqlite` 0.8.

mod append;
mod artifacts;
mod cache;
mod commit;
mod drive;
mod engine;
mod error;
mod file;
mod journal;
mod keys;
mod memory;
mod owner;
mod reader;
mod runs;
mod schema;
mod sessions;
mod statements;
mod tail;
#[cfg(test)]
mod tests;
mod time;
mod writer;

use adk_journal::ArtifactStore;
use adk_journal::Store;
use adk_journal::engine::Engine;
use adk_journal::memory::MemoryService;
use adk_journal::session::{Location, OpenSessions, SessionStore};
use adk_model::Result;
use adk_store::complete;
use adk_store::sessions::apps;
use reader::Reader;
use rusqlite::Connection;
use statements::Statements;
use std::fmt;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use writer::Writer;

/// Failure that an acknowledged transaction survives.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Durability {
    /// Loss of power: SQLite's `synchronous=FULL`.
    #[default]
    Power,
    /// Death of the process, but not of the machine: `synchronous=NORMAL`. About five times as fast
    /// for a single run.
    Process,
}

/// Settings for opening a file.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Options {
    /// Failure that an acknowledged transaction survives. Default [`Durability::Power`].
    pub durability: Durability,
    /// Maximum time to wait for a lock that another program holds. Default five seconds.
    pub busy_timeout: Duration,
    /// Maximum size of the file in bytes, for programs that share a disk: writes beyond it fail as
    /// on a full disk. Default `None`, no limit.
    pub max_bytes: Option<u64>,
    /// Whether to create a missing file, and missing tables in an existing database. Default
    /// `true`. With `false`, a missing file or table is an error of kind
    /// [`Missing`](adk_model::StoreErrorKind::Missing), and nothing is changed.
    pub create: bool,
}

impl Default for Options {
    fn default() -> Self {
        let (durability, busy_timeout) = (Durability::default(), Duration::from_secs(5));
        Self {
            durability,
            busy_timeout,
            max_bytes: None,
            create: true,
        }
    }
}

impl Options {
    /// Sets the failure that an acknowledged transaction survives.
    #[must_use]
    pub fn durability(mut self, durability: Durability) -> Self {
        self.durability = durability;
        self
    }

    /// Sets the maximum size of the file in bytes.
    #[must_use]
    pub fn max_bytes(mut self, bytes: u64) -> Self {
        self.max_bytes = Some(bytes);
        self
    }

    /// Sets whether to create a missing file, and missing tables in an existing database.
    #[must_use]
    pub fn create(mut self, create: bool) -> Self {
        self.create = create;
        self
    }

    /// Sets the maximum time to wait for a lock that another program holds.
    #[must_use]
    pub fn busy_timeout(mut self, time: Duration) -> Self {
        self.busy_timeout = time;
        self
    }
}

/// Sessions, runs, artifacts and memory in a SQLite file. Clones share the connections; dropping
/// the last clone closes them.
///
/// All paths that lead to the file open the same database. When the file is deleted, renamed or
/// replaced while the store is open, the store stops: each later operation fails with an error of
/// kind [`Misplaced`](adk_model::StoreErrorKind::Misplaced). The store detects a deleted `-wal`
/// file at the next read, or within 16 transactions. Transactions acknowledged before that reach
/// the file when the store is closed, and are lost if the process is killed first.
///
/// A `SqliteStore` keeps all data of a runner: sessions, runs with their waits, artifacts and
/// memory.
///
/// ```no_run
/// # use adk_build as adk;
/// # use adk_sqlite::SqliteStore;
/// # fn example(store: SqliteStore) -> adk::Result<()> {
/// let runner: adk::Runner = adk::Runner::builder().store(store).build()?;
/// # let _ = runner;
/// # Ok(())
/// # }
/// ```
///
/// **Artifacts** are rows. Each version stores its bytes unchanged, up to SQLite's limit of
/// 1,000,000,000 bytes. A save is on the disk when it returns; other writes wait for it, because
/// the store has one writer. An artifact of a session requires the session in this store, and is
/// deleted with it, even if another program deletes the session. Artifacts whose names begin with
/// `user:` require no session, and stay until they are deleted.
///
/// **Memory** uses full text search (FTS5). Entries stay when their session is deleted; to forget a
/// user, delete the user's rows of `adkw_memory`.
#[derive(Clone)]
pub struct SqliteStore(Arc<Shared>);

struct Shared {
    /// Declared before the writer, so that it is dropped first: the writing connection must close
    /// last, to complete the write-ahead log.
    reader: Arc<Reader>,
    writer: Writer,
    live: OpenSessions,
}

impl SqliteStore {
    /// Opens a file. Creates the file and its tables if they do not exist.
    ///
    /// # Errors
    /// Fails with [`ErrorKind::Store`](adk_model::ErrorKind::Store) if the file is not writable, is
    /// locked, is damaged, is not a database, has several hard links or has tables of another
    /// version of ADK, or if the disk is full. Each case has a
    /// [`StoreErrorKind`](adk_model::StoreErrorKind) of its own. SQLite's `:memory:` is rejected,
    /// because a store is a file.
    pub async fn open(path: impl AsRef<Path>) -> Result<Self> {
        Self::open_with(path, Options::default()).await
    }

    /// Opens a file with the given settings.
    ///
    /// # Errors
    /// Fails like [`open`](Self::open).
    pub async fn open_with(path: impl AsRef<Path>, options: Options) -> Result<Self> {
        let writer = Writer::open(path.as_ref().to_owned(), options).await?;
        let reader = Arc::new(Reader::new(writer.file.clone(), options));
        Ok(Self(Arc::new(Shared {
            writer,
            reader,
            live: OpenSessions::default(),
        })))
    }

    /// Returns the sorted names of the apps that have sessions in the file.
    ///
    /// # Errors
    /// Fails when the file cannot be read.
    pub async fn apps(&self) -> Result<Vec<String>> {
        let apps = |connection: &Connection| complete(apps(&mut Statements(connection)));
        self.0.reader.read(apps).await
    }

    /// Returns the location that the stores of one file share, so that `build()` recognizes them.
    fn database(&self) -> Location {
        Location::database(self.path().to_string_lossy())
    }

    /// Returns the absolute path of the file, without symlinks.
    pub fn path(&self) -> &Path {
        self.0.writer.file.path()
    }
}

impl Store for SqliteStore {
    fn session_store(&self) -> Arc<dyn SessionStore> {
        Arc::new(self.clone())
    }

    fn engine(&self) -> Arc<dyn Engine> {
        Arc::new(self.clone())
    }

    fn artifact_store(&self) -> Option<Arc<dyn ArtifactStore>> {
        Some(Arc::new(self.clone()))
    }

    fn memory_service(&self) -> Option<Arc<dyn MemoryService>> {
        Some(Arc::new(self.clone()))
    }
}

impl From<SqliteStore> for Arc<dyn SessionStore> {
    fn from(store: SqliteStore) -> Self {
        Arc::new(store)
    }
}

impl From<SqliteStore> for Arc<dyn ArtifactStore> {
    fn from(store: SqliteStore) -> Self {
        Arc::new(store)
    }
}

impl From<SqliteStore> for Arc<dyn MemoryService> {
    fn from(store: SqliteStore) -> Self {
        Arc::new(store)
    }
}

impl fmt::Debug for SqliteStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SqliteStore({})", self.path().display())
    }
}
