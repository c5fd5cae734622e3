//! Durable sessions, runs and artifacts in a Postgres database that many processes share.
//!
//! [`PostgresStore`] keeps sessions with their artifacts and is the engine of their runs: an event, the state that it changes and its entry in the
//! journal are one transaction, which is on the disk of the server before the agent goes on and before anybody sees the
//! event.
//!
//! ```no_run
//! # use adk_core as adk;
//! # async fn example() -> adk::Result<()> {
//! let store = adk_postgres::PostgresStore::connect("postgres://agents:secret@db/agents").await?;
//! let runner: adk::Runner = adk::Runner::builder()
//!     .session_store(store.clone())
//!     .artifact_store(store.clone())
//!     .engine(store)
//!     .build()?;
//! # let _ = runner;
//! # Ok(())
//! # }
//! ```
//!
//! The tables are those of ADK's `DatabaseSessionService` (schema version 1): Python's google-adk opens the same database,
//! reads what was written here, and the reverse. Data without a table in ADK has its own tables, whose names begin
//! with `adkw_`.
//!
//! **A run is driven by one process at a time.** Whoever drives runs holds a [lease](Options::lease), which it renews. When its
//! process has died, the lease expires and [`Runner::recover`](adk_core::Runner::recover) of any other process takes the
//! runs up. Should the first one live after all (it was stopped, or cut off), then what it writes is refused with an error
//! of kind [`StoreErrorKind::Fenced`](adk_core::StoreErrorKind::Fenced): each claim of a run has a number, and each
//! transaction compares it.
//!
//! The lease is renewed by a thread of its own, so a tool that blocks the runtime does not lose it.
//!
//! **A server that is away for a moment** is waited for ([`Options::patience`]); then the run stays as it is, its stream
//! ends with an error that is [retryable](adk_core::Error::is_retryable), and it can be resumed by any process.

mod artifacts;
mod batch;
mod connections;
mod engine;
mod error;
mod exact;
mod journal;
mod keys;
mod lane;
mod lease;
mod log;
mod memory;
mod reader;
mod schema;
mod sessions;
mod transact;
mod types;

use adk_core::Result;
use adk_core::session::OpenSessions;
use connections::Connections;
use error::Doing;
use sqlx::postgres::PgConnectOptions;
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;
use tokio::runtime::Handle;

/// How a database is used.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Options {
    /// How long a process that says nothing counts as alive. Default 30 seconds. A shorter time finds dead processes
    /// earlier; it should be many times what a transaction takes, or processes that live lose their runs.
    pub lease: Duration,
    /// How long to wait for an unreachable server or a held lock. Default ten seconds.
    pub patience: Duration,
    /// The most connections that are open at a time. Default 10.
    pub connections: u32,
    /// Whether tables are made in a database that has none of agents. Default `true`; otherwise that is an error of kind
    /// [`Missing`](adk_core::StoreErrorKind::Missing), and nothing has changed.
    pub create: bool,
}

impl Default for Options {
    fn default() -> Self {
        let (lease, patience) = (Duration::from_secs(30), Duration::from_secs(10));
        Self { lease, patience, connections: 10, create: true }
    }
}

impl Options {
    /// How long a process that says nothing counts as alive.
    #[must_use]
    pub fn lease(mut self, time: Duration) -> Self {
        self.lease = time;
        self
    }

    /// How long to wait for an unreachable server or a held lock.
    #[must_use]
    pub fn patience(mut self, time: Duration) -> Self {
        self.patience = time;
        self
    }

    /// The most connections that are open at a time; at least one.
    #[must_use]
    pub fn connections(mut self, most: u32) -> Self {
        self.connections = most.max(1);
        self
    }

    /// Whether tables are made in a database that has none of agents.
    #[must_use]
    pub fn create(mut self, create: bool) -> Self {
        self.create = create;
        self
    }
}

/// Sessions, runs and artifacts in a Postgres database. Clones share its connections; it works as long as the runtime lives
/// in which it was opened.
///
/// It is three things to a runner, and a run that is to survive the process needs all of them:
///
/// ```no_run
/// # use adk_core as adk;
/// # use adk_postgres::PostgresStore;
/// # fn example(store: PostgresStore) -> adk::Result<()> {
/// let runner: adk::Runner = adk::Runner::builder()
///     .session_store(store.clone())
///     .artifact_store(store.clone())
///     .engine(store)
///     .build()?;
/// # let _ = runner;
/// # Ok(())
/// # }
/// ```
///
/// **Artifacts** are rows, each version with its bytes as they are, up to 500,000,000 bytes. Their names are at most 1,024
/// bytes long and hold no NUL. The file of a session needs the session to be in this database, and is deleted with it, by
/// whatever program. Files whose names begin with `user:` need none, and stay until they are deleted. A save whose answer is
/// lost with the connection is tried again, and may leave a version more.
///
/// **Memory** is found by full text search (`tsvector`), by words as they are in any language. It stays when its session is
/// deleted; to forget a user, delete the user's rows of `adkw_memory`.
#[derive(Clone)]
pub struct PostgresStore(Arc<Shared>);

pub(crate) struct Shared {
    connections: Connections,
    options: Options,
    /// What has to be written although nobody waits for it is written here.
    runtime: Handle,
    live: OpenSessions,
    lanes: lane::Lanes,
    drives: lease::Drives,
}

impl PostgresStore {
    /// Opens a database by its URL, with its tables, which are made when they are not there. The URL is libpq's:
    /// `postgres://user:password@host:5432/database?sslmode=require`; what it leaves out is taken from `PGHOST`, `PGUSER`
    /// and so on. Tables are looked for and made along the `search_path`.
    ///
    /// TLS is a feature of this crate, `tls`. With it a server that offers TLS is spoken to by it; `sslmode=require` insists, and
    /// `sslmode=verify-full` also asks whether the server is the one that it is called, by the authorities of Mozilla or those of
    /// the file `sslrootcert`. Without the feature both are an error.
    ///
    /// # Errors
    /// Of kind [`ErrorKind::Store`](adk_core::ErrorKind::Store), with a kind of its own for a server that cannot be reached,
    /// a database that is not there, a user that may not write, and tables of another program or another version of ADK.
    pub async fn connect(url: &str) -> Result<Self> {
        Self::connect_with(url, Options::default()).await
    }

    /// Opens a database with settings.
    ///
    /// # Errors
    /// As [`connect`](Self::connect).
    pub async fn connect_with(url: &str, options: Options) -> Result<Self> {
        let what = "connect";
        let to = PgConnectOptions::from_str(url).doing(what)?.application_name("adk-workflow");
        let connections = Connections::open(to, options.patience, options.connections).await?;
        let mut connection = connections.get(what).await?;
        schema::prepare(&mut connection, options.create).await?;
        connections.give_back(connection, false).await;
        let (lanes, drives) = (lane::Lanes::default(), lease::Drives::new());
        let (runtime, live) = (Handle::current(), OpenSessions::default());
        Ok(Self(Arc::new(Shared { connections, options, runtime, live, lanes, drives })))
    }

    /// The apps that have sessions in the database, in the order of its collation.
    ///
    /// # Errors
    /// When the server cannot be reached.
    pub async fn apps(&self) -> Result<Vec<String>> {
        self.0.call(Box::new(|connection| Box::pin(reader::apps(connection)))).await
    }

    /// Gives up all that this process drives, so that others may take it up at once, and closes the connections. What is
    /// asked of the store after that fails.
    ///
    /// # Errors
    /// When the server cannot be reached: then others take it up when the lease has expired.
    pub async fn shut_down(&self) -> Result<()> {
        let ended = self.0.end_lease().await;
        self.0.connections.close().await;
        ended
    }
}

impl From<PostgresStore> for Arc<dyn adk_core::session::SessionStore> {
    fn from(store: PostgresStore) -> Self {
        Arc::new(store)
    }
}

impl From<PostgresStore> for Arc<dyn adk_core::ArtifactStore> {
    fn from(store: PostgresStore) -> Self {
        Arc::new(store)
    }
}

impl From<PostgresStore> for Arc<dyn adk_core::memory::MemoryService> {
    fn from(store: PostgresStore) -> Self {
        Arc::new(store)
    }
}

impl fmt::Debug for PostgresStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Not the URL, which holds a password.
        let to = &self.0.connections.to;
        write!(f, "PostgresStore({}/{})", to.get_host(), to.get_database().unwrap_or_default())
    }
}
