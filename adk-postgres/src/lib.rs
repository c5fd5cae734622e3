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
//! let runner: adk::Runner = adk::Runner::builder().store(store).build()?;
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
//! ends with an error that is [retryable](adk_core::Error::is_retryable), and it can be resumed by any process. Every wait has a
//! limit: a process that was stopped inside a transaction loses the locks that it holds, and a network that goes silent
//! ends no run.
//!
//! **A pooler in transaction mode**, such as PgBouncer, may be in front of the server, of any version and without settings of its
//! own for this crate. A connection proves that it leads to the server itself by a setting that it makes at its start. Where
//! the setting is refused or lost, statements have no names there, each is in a transaction, and each transaction
//! brings its limits. That takes more round trips: 4 for an event, in place of 1. Nothing here needs more of a connection than
//! its transaction: no `LISTEN`, no lock of a connection.

mod artifacts;
mod batch;
mod connection;
mod connections;
mod engine;
mod error;
mod exact;
mod journal;
mod keys;
mod lane;
mod lease;
mod limits;
mod log;
mod memory;
mod reader;
mod runs;
mod schema;
mod sessions;
mod transact;
mod types;
mod waits;

use adk_core::engine::Engine;
use adk_core::memory::MemoryService;
use adk_core::session::{Location, OpenSessions, SessionStore};
use adk_core::{ArtifactStore, Result, Store};
use connection::Server;
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
    /// How long a process that says nothing counts as alive, by the clock of the server. Default 30 seconds. A shorter time
    /// finds dead processes earlier; it should be many times what a transaction takes, or processes that live lose their runs.
    pub lease: Duration,
    /// How long a call waits for the server, with all attempts. Default ten seconds. What fails for a passing reason is
    /// tried again until this time is over; then the error is [retryable](adk_core::Error::is_retryable), and the run stays as
    /// it is. An attempt that begins at the last moment ends within as much time again.
    ///
    /// Each single wait has a limit that is a part of it, so that there is time for another attempt. A patience under one
    /// second counts as one second here, and one over a day as a day:
    ///
    /// | wait | limit | default | set as |
    /// |---|---|---|---|
    /// | for a free connection, or a new one | a quarter, at most 2 s | 2 s | by this process |
    /// | for a lock | a tenth | 1 s | `lock_timeout` |
    /// | for the lock of a session whose run is claimed | a hundredth | 100 ms | `lock_timeout` |
    /// | for the execution of a statement | half | 5 s | `statement_timeout` |
    /// | of the server for the next statement of a transaction | half | 5 s | `idle_in_transaction_session_timeout` |
    /// | for a sign of life from the server | three quarters | 7.5 s | by this process |
    /// | of the server for a client that does not read, or whose host is gone | all of it | 10 s | `tcp_user_timeout`, `tcp_keepalives_*` |
    /// | for an upgrade of the tables | 60 times | 10 min | `statement_timeout`, and by this process |
    ///
    /// A large value whose bytes move is a sign of life. A connection without one is closed, and so are those that were
    /// free meanwhile. Settings in the `options` of the URL take the place of these, such as
    /// `?options[statement_timeout]=60s`.
    pub patience: Duration,
    /// The most connections that are open at a time, besides one that renews the lease. Default 10.
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
    /// How long a process that says nothing counts as [alive](Self::lease).
    #[must_use]
    pub fn lease(mut self, time: Duration) -> Self {
        self.lease = time;
        self
    }

    /// How long a call [waits](Self::patience) for the server.
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
/// It keeps all data of a runner: sessions, runs with their waits, artifacts and memory.
///
/// ```no_run
/// # use adk_core as adk;
/// # use adk_postgres::PostgresStore;
/// # fn example(store: PostgresStore) -> adk::Result<()> {
/// let runner: adk::Runner = adk::Runner::builder().store(store).build()?;
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
    location: Location,
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
        let to = PgConnectOptions::from_str(url).doing("connect")?.application_name("adk-workflow");
        let location = location(&to);
        let connections = Connections::new(Server::new(to, options.patience), options.connections);
        let (lanes, drives) = (lane::Lanes::default(), lease::Drives::new());
        let (runtime, live) = (Handle::current(), OpenSessions::default());
        let shared = Arc::new(Shared { connections, location, options, runtime, live, lanes, drives });
        shared.connections.reach(options.patience).await?;
        let create = options.create;
        shared.call(Box::new(move |connection| Box::pin(schema::prepare(connection, create)))).await?;
        Ok(Self(shared))
    }

    /// The apps that have sessions in the database, in the order of its collation.
    ///
    /// # Errors
    /// When the server cannot be reached.
    pub async fn apps(&self) -> Result<Vec<String>> {
        self.0.call(Box::new(|connection| Box::pin(reader::apps(connection)))).await
    }

    /// The location of all parts.
    fn database(&self) -> Location {
        self.0.location.clone()
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

/// The location of a database: all that a URL may say of which tables are meant, without the password.
fn location(to: &PgConnectOptions) -> Location {
    let host = to.get_socket().map_or_else(|| to.get_host().into(), |socket| socket.to_string_lossy());
    let (user, port) = (to.get_username(), to.get_port());
    let database = to.get_database().unwrap_or(user);
    let options = to.get_options().map_or_else(String::new, |options| format!("?options={options}"));
    Location::database(format!("postgres://{user}@{host}:{port}/{database}{options}"))
}

impl Store for PostgresStore {
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

impl From<PostgresStore> for Arc<dyn SessionStore> {
    fn from(store: PostgresStore) -> Self {
        Arc::new(store)
    }
}

impl From<PostgresStore> for Arc<dyn ArtifactStore> {
    fn from(store: PostgresStore) -> Self {
        Arc::new(store)
    }
}

impl From<PostgresStore> for Arc<dyn MemoryService> {
    fn from(store: PostgresStore) -> Self {
        Arc::new(store)
    }
}

impl fmt::Debug for PostgresStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Not the URL, which holds a password.
        let to = self.0.connections.server.options();
        write!(f, "PostgresStore({}/{})", to.get_host(), to.get_database().unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_location_says_which_tables_are_meant_and_no_password() {
        let at = |url: &str| location(&PgConnectOptions::from_str(url).unwrap());
        let one = at("postgres://ann:secret@db:5433/agents");
        assert_eq!(one.to_string(), "`postgres://ann@db:5433/agents`");
        assert_eq!(one, at("postgres://ann:changed@db:5433/agents?sslmode=disable"));
        for other in [
            "postgres://ann@db:5433/others",
            "postgres://ann@db:5432/agents",
            "postgres://ann@other:5433/agents",
            "postgres://bob@db:5433/agents",
            "postgres://ann@db:5433/agents?options=-csearch_path%3Dothers",
        ] {
            assert_ne!(one, at(other), "{other}");
        }
    }
}
