//! Durable sessions, runs and artifacts in one SQLite file.
//!
//! [`SqliteStore`] keeps sessions with their artifacts and is the engine of their runs: an event, the state that it changes and its entry in the
//! journal are one transaction, which is on the disk before the agent goes on and before anybody sees the event.
//!
//! ```no_run
//! # use adk_core as adk;
//! # async fn example() -> adk::Result<()> {
//! let store = adk_sqlite::SqliteStore::open("agents.db").await?;
//! let runner: adk::Runner = adk::Runner::builder().store(store).build()?;
//! # let _ = runner;
//! # Ok(())
//! # }
//! ```
//!
//! The tables are those of ADK's `DatabaseSessionService` (schema version 1): Python's google-adk opens the same file,
//! reads what was written here, and the reverse. Data without a table in ADK has its own tables, whose names
//! begin with `adkw_`.
//!
//! All writes go through one thread that owns the connection. What arrives while it waits for the disk goes together in
//! the next transaction.

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
#[cfg(test)]
mod plans;
mod reader;
mod runs;
mod schema;
mod sessions;
mod tail;
mod time;
#[cfg(test)]
mod turns;
mod waits;
mod writer;

use adk_core::engine::Engine;
use adk_core::memory::MemoryService;
use adk_core::session::{Location, OpenSessions, SessionStore};
use adk_core::{ArtifactStore, Result, Store};
use reader::Reader;
use std::fmt;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use writer::Writer;

/// What a transaction is safe from once it is acknowledged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Durability {
    /// The loss of power: SQLite's `synchronous=FULL`.
    #[default]
    Power,
    /// The death of the process, but not that of the machine: `synchronous=NORMAL`. About five times as fast for a
    /// single run.
    Process,
}

/// How a file is opened.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Options {
    /// What a transaction is safe from. Default [`Durability::Power`].
    pub durability: Durability,
    /// How long a lock that another program holds is waited for. Default five seconds.
    pub busy_timeout: Duration,
    /// The most bytes that the file may grow to, for those who share a disk with others: when it is full, writes fail as
    /// on a full disk. Default `None`, no limit of its own.
    pub max_bytes: Option<u64>,
    /// Whether a file that is not there is made, and tables in one that has none of agents. Default `true`; otherwise both
    /// are an error of kind [`Missing`](adk_core::StoreErrorKind::Missing), and nothing has changed.
    pub create: bool,
}

impl Default for Options {
    fn default() -> Self {
        let (durability, busy_timeout) = (Durability::default(), Duration::from_secs(5));
        Self { durability, busy_timeout, max_bytes: None, create: true }
    }
}

impl Options {
    /// What a transaction is safe from.
    #[must_use]
    pub fn durability(mut self, durability: Durability) -> Self {
        self.durability = durability;
        self
    }

    /// The most bytes that the file may grow to.
    #[must_use]
    pub fn max_bytes(mut self, bytes: u64) -> Self {
        self.max_bytes = Some(bytes);
        self
    }

    /// Whether a file that is not there is made, and tables in one that has none of agents.
    #[must_use]
    pub fn create(mut self, create: bool) -> Self {
        self.create = create;
        self
    }

    /// How long a lock that another program holds is waited for.
    #[must_use]
    pub fn busy_timeout(mut self, time: Duration) -> Self {
        self.busy_timeout = time;
        self
    }
}

/// Sessions, runs and artifacts in a SQLite file. Clones share it; the last one that is dropped closes it.
///
/// The file is one database under any path that leads to it. When it is deleted, renamed or replaced while the store is open,
/// the store stops: from then on all that it is asked for is an error of kind
/// [`Misplaced`](adk_core::StoreErrorKind::Misplaced). That its `-wal` file was deleted is noticed by the next read, or within
/// 16 transactions; what is acknowledged until then is in the file once the store is closed, and lost when the process
/// is killed before.
///
/// It keeps all data of a runner: sessions, runs with their waits, artifacts and memory.
///
/// ```no_run
/// # use adk_core as adk;
/// # use adk_sqlite::SqliteStore;
/// # fn example(store: SqliteStore) -> adk::Result<()> {
/// let runner: adk::Runner = adk::Runner::builder().store(store).build()?;
/// # let _ = runner;
/// # Ok(())
/// # }
/// ```
///
/// **Artifacts** are rows, each version with its bytes as they are, up to SQLite's limit of 1,000,000,000 bytes. A save is on
/// the disk when it returns; meanwhile other writes wait, as there is one writer. The file of a session needs the session to
/// be in this store, and is deleted with it, by whatever program. Files whose names begin with `user:` need none, and stay
/// until they are deleted.
///
/// **Memory** is found by full text search (FTS5). It stays when its session is deleted; to forget a user, delete the user's rows
/// of `adkw_memory`.
#[derive(Clone)]
pub struct SqliteStore(Arc<Shared>);

struct Shared {
    /// Closed before the connection that writes, which tidies up as the last.
    reader: Arc<Reader>,
    writer: Writer,
    live: OpenSessions,
}

impl SqliteStore {
    /// Opens a file, which is made when it is not there, with its tables.
    ///
    /// # Errors
    /// Of kind [`ErrorKind::Store`](adk_core::ErrorKind::Store), with a kind of its own for a file that cannot be
    /// written, that is locked, that is damaged or no database, that has several names by hard links, and for a disk that is full;
    /// also when the file has tables of another version of ADK. SQLite's `:memory:` is refused: a store is a file.
    pub async fn open(path: impl AsRef<Path>) -> Result<Self> {
        Self::open_with(path, Options::default()).await
    }

    /// Opens a file with settings.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub async fn open_with(path: impl AsRef<Path>, options: Options) -> Result<Self> {
        let writer = Writer::open(path.as_ref().to_owned(), options).await?;
        let reader = Arc::new(Reader::new(writer.file.clone(), options));
        Ok(Self(Arc::new(Shared { writer, reader, live: OpenSessions::default() })))
    }

    /// The apps that have sessions in the file, sorted.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub async fn apps(&self) -> Result<Vec<String>> {
        self.0.reader.read(sessions::apps).await
    }

    /// The location of all parts.
    fn database(&self) -> Location {
        Location::database(self.path().to_string_lossy())
    }

    /// The file: an absolute path without symlinks, whatever path it was opened by.
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
