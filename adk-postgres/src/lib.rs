//! Durable sessions, runs and artifacts in a Postgres database that many processes share.
//!
//! [`PostgresStore`] keeps sessions with their artifacts and is the engine of their runs. An event,
//! its state changes and its journal entry form one transaction. The transaction is on the disk of
//! the server before the agent continues and before any reader sees the event.
//!
//! ```no_run
//! # use adk_build as adk;
//! # async fn example() -> adk::Result<()> {
//! let store = adk_postgres::PostgresStore::connect("postgres://agents:secret@db/agents").await?;
//! let runner: adk::Runner = adk::Runner::builder().store(store).build()?;
//! # let _ = runner;
//! # Ok(())
//! # }
//! ```
//!
//! The tables are those of ADK's `DatabaseSessionService` (schema version 1): Python's google-adk
//! opens the same database and reads the sessions that this crate wrote, and the reverse. Data
//! without a table in ADK is in further tables, whose names begin with `adkw_`.
//!
//! **One process at a time drives a run.** A process that drives runs holds a
//! [lease](Options::lease) and renews it. When the process dies, the lease expires, and
//! `Runner::recover` in any other process resumes the runs. A process
//! that was only stopped or disconnected cannot interfere: each claim of a run has a number, each
//! transaction compares it, and a write of an outdated claim fails with an error of kind
//! [`StoreErrorKind::Fenced`](adk_model::StoreErrorKind::Fenced).
//!
//! A thread of its own renews the lease, so a tool that blocks the runtime does not lose it.
//!
//! **The store waits for a server that is briefly unreachable**, for up to [`Options::patience`].
//! After that the run keeps its state, its stream ends with a
//! [retryable](adk_model::Error::is_retryable) error, and any process can resume the run. Each wait
//! has a limit: a process that is stopped inside a transaction loses its locks, and a network that
//! goes silent fails no run.
//!
//! **A pooler in transaction mode**, such as PgBouncer, may be between the store and the server, in
//! any version and without special settings. The store sets a value when it connects, and reads it
//! back to prove that a connection is direct. If the pooler rejects or loses the value, statements
//! have no names, each statement is inside a transaction, and each transaction sets its limits.
//! That takes more round trips: 4 for an event instead of 1. The store needs nothing from a
//! connection beyond a transaction: no `LISTEN`, and no session-level lock.

mod artifacts;
mod batch;
mod claim;
mod connection;
mod connections;
mod deliver;
mod engine;
mod error;
mod exact;
mod group;
mod journal;
mod keys;
mod lane;
mod lease;
mod limits;
mod log;
mod memory;
mod perform;
mod reader;
mod rows;
mod runs;
mod schema;
mod sessions;
mod statements;
mod transact;
mod types;
mod waits;

use adk_journal::ArtifactStore;
use adk_journal::Store;
use adk_journal::engine::Engine;
use adk_journal::memory::MemoryService;
use adk_journal::session::{Location, OpenSessions, SessionStore};
use adk_model::Result;
use connection::Server;
use connections::Connections;
use error::Doing;
use sqlx::postgres::PgConnectOptions;
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;
use tokio::runtime::Handle;

/// Settings for using a database.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Options {
    /// Time for which a silent process counts as alive, by the clock of the server. Default 30
    /// seconds. A shorter time detects dead processes earlier. Choose a multiple of the time of a
    /// transaction, otherwise live processes lose their runs.
    pub lease: Duration,
    /// Maximum time that a call waits for the server, including all attempts. Default ten seconds.
    /// Transient failures are retried until this time is over; then the error is
    /// [retryable](adk_model::Error::is_retryable), and the run keeps its state. An attempt that
    /// begins at the last moment may take as long again.
    ///
    /// Each single wait has a limit that is a part of the patience, so that there is time for
    /// another attempt. Limits are computed with at least one second and at most one day:
    ///
    /// | wait | limit | default | set as |
    /// |---|---|---|---|
    /// | for a free connection, or a new one | a quarter, at most 2 s | 2 s | by this process |
    /// | for a lock | a tenth | 1 s | `lock_timeout` |
    /// | for the lock of a session whose run is claimed | a hundredth | 100 ms | `lock_timeout` |
    /// | for the execution of a statement | half | 5 s | `statement_timeout` |
    /// | of the server for a statement | half | 5 s | `idle_in_transaction_session_timeout` |
    /// | for a sign of life from the server | three quarters | 7.5 s | by this process |
    /// | of the server for a lost client | all | 10 s | `tcp_user_timeout`, `tcp_keepalives_*` |
    /// | for an upgrade of the tables | 60 times | 10 min | `statement_timeout`, by this process |
    ///
    /// A large value counts as a sign of life while its bytes move. After a wait without one, the
    /// store closes the connection and all connections that were free during the wait. Settings in
    /// the `options` of the URL override these limits, for example
    /// `?options[statement_timeout]=60s`.
    pub patience: Duration,
    /// Maximum number of open connections, in addition to the connection of the lease. Default 10.
    pub connections: u32,
    /// Whether to create missing tables. Default `true`. With `false`, a database without tables
    /// is an error of kind [`Missing`](adk_model::StoreErrorKind::Missing), and nothing is
    /// changed.
    pub create: bool,
}

impl Default for Options {
    fn default() -> Self {
        let (lease, patience) = (Duration::from_secs(30), Duration::from_secs(10));
        Self {
            lease,
            patience,
            connections: 10,
            create: true,
        }
    }
}

impl Options {
    /// Sets the time for which a silent process counts as [alive](Self::lease).
    #[must_use]
    pub fn lease(mut self, time: Duration) -> Self {
        self.lease = time;
        self
    }

    /// Sets the maximum time that a call [waits](Self::patience) for the server.
    #[must_use]
    pub fn patience(mut self, time: Duration) -> Self {
        self.patience = time;
        self
    }

    /// Sets the maximum number of open connections, at least one.
    #[must_use]
    pub fn connections(mut self, most: u32) -> Self {
        self.connections = most.max(1);
        self
    }

    /// Sets whether to create missing tables.
    #[must_use]
    pub fn create(mut self, create: bool) -> Self {
        self.create = create;
        self
    }
}

/// Sessions, runs, artifacts and memory in a Postgres database. Clones share the connections. The
/// store works while the runtime lives in which it was opened.
///
/// A `PostgresStore` keeps all data of a runner: sessions, runs with their waits, artifacts and
/// memory.
///
/// ```no_run
/// # use adk_build as adk;
/// # use adk_postgres::PostgresStore;
/// # fn example(store: PostgresStore) -> adk::Result<()> {
/// let runner: adk::Runner = adk::Runner::builder().store(store).build()?;
/// # let _ = runner;
/// # Ok(())
/// # }
/// ```
///
/// **Artifacts** are rows. Each version stores its bytes unchanged, up to 500,000,000 bytes. Names
/// have at most 1,024 bytes and no NUL. An artifact of a session requires the session in this
/// database, and is deleted with it, even if another program deletes the session. Artifacts whose
/// names begin with `user:` require no session, and stay until they are deleted. A save that loses
/// its answer with the connection is retried, and may store an additional version.
///
/// **Memory** uses full text search (`tsvector`) with the exact words of any language. Entries stay
/// when their session is deleted; to forget a user, delete the user's rows of `adkw_memory`.
#[derive(Clone)]
pub struct PostgresStore(Arc<Shared>);

pub(crate) struct Shared {
    connections: Connections,
    location: Location,
    options: Options,
    /// Runtime for writes that continue when their caller is dropped.
    runtime: Handle,
    live: OpenSessions,
    lanes: lane::Lanes,
    groups: group::Groups,
    drives: lease::Drives,
}

impl PostgresStore {
    /// Opens a database by its URL, and creates its tables if they do not exist. The URL has the
    /// form of libpq: `postgres://user:password@host:5432/database?sslmode=require`. `PGHOST`,
    /// `PGUSER` and so on supply missing parts. The `search_path` determines where tables are found
    /// and created.
    ///
    /// TLS requires the feature `tls` of this crate. With the feature, the store uses TLS if the
    /// server offers it; `sslmode=require` rejects servers without TLS, and `sslmode=verify-full`
    /// also verifies the host name, with the certificate authorities of Mozilla or of the file
    /// `sslrootcert`. Without the feature, both modes are an error.
    ///
    /// # Errors
    /// Fails with [`ErrorKind::Store`](adk_model::ErrorKind::Store) if the server cannot be
    /// reached, if the database does not exist, if the user may not write, or if tables belong to
    /// another program or another version of ADK. Each case has a
    /// [`StoreErrorKind`](adk_model::StoreErrorKind) of its own.
    pub async fn connect(url: &str) -> Result<Self> {
        Self::connect_with(url, Options::default()).await
    }

    /// Opens a database with the given settings.
    ///
    /// # Errors
    /// Fails like [`connect`](Self::connect).
    pub async fn connect_with(url: &str, options: Options) -> Result<Self> {
        let to = PgConnectOptions::from_str(url)
            .doing("connect")?
            .application_name("adk-workflow");
        let location = location(&to);
        let connections = Connections::new(Server::new(to, options.patience), options.connections);
        let (lanes, drives) = (lane::Lanes::default(), lease::Drives::new());
        let (runtime, live) = (Handle::current(), OpenSessions::default());
        let groups = group::Groups::default();
        let shared = Arc::new(Shared {
            connections,
            location,
            options,
            runtime,
            live,
            lanes,
            groups,
            drives,
        });
        shared.connections.reach(options.patience).await?;
        let create = options.create;
        shared
            .call(Box::new(move |connection| {
                Box::pin(schema::prepare(connection, create))
            }))
            .await?;
        Ok(Self(shared))
    }

    /// Returns the names of the apps that have sessions in the database, in the order of its
    /// collation.
    ///
    /// # Errors
    /// Fails when the server cannot be reached.
    pub async fn apps(&self) -> Result<Vec<String>> {
        self.0
            .call(Box::new(|connection| {
                Box::pin(adk_store::sessions::apps(connection))
            }))
            .await
    }

    /// Returns the location that the stores of one database share, so that `build()` recognizes
    /// them.
    fn database(&self) -> Location {
        self.0.location.clone()
    }

    /// Releases all runs that this process drives, so that other processes may resume them at once,
    /// and closes the connections. Later calls on the store fail.
    ///
    /// # Errors
    /// Fails when the server cannot be reached; then other processes can resume the runs when the
    /// lease has expired.
    pub async fn shut_down(&self) -> Result<()> {
        let ended = self.0.end_lease().await;
        self.0.connections.close().await;
        ended
    }
}

/// Returns the location of a database: all parts of the URL that select the tables, without the
/// password.
fn location(to: &PgConnectOptions) -> Location {
    let host = to
        .get_socket()
        .map_or_else(|| to.get_host().into(), |socket| socket.to_string_lossy());
    let (user, port) = (to.get_username(), to.get_port());
    let database = to.get_database().unwrap_or(user);
    let options = to
        .get_options()
        .map_or_else(String::new, |options| format!("?options={options}"));
    Location::database(format!(
        "postgres://{user}@{host}:{port}/{database}{options}"
    ))
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
        // The URL contains a password, so only host and database are shown.
        let to = self.0.connections.server.options();
        write!(
            f,
            "PostgresStore({}/{})",
            to.get_host(),
            to.get_database().unwrap_or_default()
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_location_identifies_the_tables_and_hides_the_password() {
        let at = |url: &str| location(&PgConnectOptions::from_str(url).unwrap());
        let one = at("postgres://ann:secret@db:5433/agents");
        assert_eq!(one.to_string(), "`postgres://ann@db:5433/agents`");
        assert_eq!(
            one,
            at("postgres://ann:changed@db:5433/agents?sslmode=disable")
        );
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
