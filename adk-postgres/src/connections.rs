//! [`Connections`]: the connection pool of a store.

use crate::connection::{PgConnection, Server};
use crate::error::{Doing, closed_error, is_transient};
use crate::transact::Patience;
use adk_model::{Error, ErrorKind, Result, StoreErrorKind};
use std::ops::{Deref, DerefMut};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Idle time after which a connection is not reused, because a network may have dropped it
/// silently.
const IDLE: Duration = Duration::from_secs(10 * 60);

/// Age after which a connection is replaced, because the server process of a connection grows.
const OLD: Duration = Duration::from_secs(30 * 60);

/// Free connections with their maximum number. sqlx's pool would ping the server after each use,
/// which takes as long as the use itself.
pub(crate) struct Connections {
    pub(crate) server: Arc<Server>,
    most: u32,
    turns: Arc<Semaphore>,
    /// Free connections, most recently used last.
    free: Mutex<Vec<Free>>,
}

struct Free {
    connection: PgConnection,
    made: Instant,
    used: Instant,
}

/// A connection for exclusive use. If it is dropped instead of put back, it is closed, and the
/// server rolls back.
pub(crate) struct Connected {
    connection: PgConnection,
    made: Instant,
    taken: Instant,
    _turn: OwnedSemaphorePermit,
}

impl Deref for Connected {
    type Target = PgConnection;

    fn deref(&self) -> &PgConnection {
        &self.connection
    }
}

impl DerefMut for Connected {
    fn deref_mut(&mut self) -> &mut PgConnection {
        &mut self.connection
    }
}

impl Connections {
    pub(crate) fn new(server: Server, most: u32) -> Self {
        let most = most.max(1);
        let turns = Arc::new(Semaphore::new(most as usize));
        Self {
            server: Arc::new(server),
            most,
            turns,
            free: Mutex::default(),
        }
    }

    /// Opens the first connection. Retries for at most two seconds, because a failure at the start
    /// of a program interrupts no run.
    pub(crate) async fn reach(&self, patience: Duration) -> Result<()> {
        let mut pauses = Patience::new(patience.min(Duration::from_secs(2)));
        loop {
            match self.get("connect").await {
                Err(error) if is_transient(&error) && pauses.wait().await => {}
                Err(error) => return Err(error),
                Ok(connected) => {
                    self.put_back(connected).await;
                    return Ok(());
                }
            }
        }
    }

    /// Waits for a free connection, or opens one.
    pub(crate) async fn get(&self, what: &str) -> Result<Connected> {
        let until = tokio::time::Instant::now() + self.server.limits.connect;
        let turn = tokio::time::timeout_at(until, self.turns.clone().acquire_owned()).await;
        let turn = turn
            .map_err(|_| self.all_in_use(what))?
            .map_err(|_| closed_error())?;
        let free = self.free().pop().filter(|free| free.used.elapsed() < IDLE);
        let (connection, made) = match free {
            Some(free) => (free.connection, free.made),
            None => {
                let connected = tokio::time::timeout_at(until, self.server.connect()).await;
                (
                    connected
                        .unwrap_or(Err(sqlx::Error::PoolTimedOut))
                        .doing(what)?,
                    Instant::now(),
                )
            }
        };
        Ok(Connected {
            connection,
            made,
            taken: Instant::now(),
            _turn: turn,
        })
    }

    fn all_in_use(&self, what: &str) -> Error {
        let message = format!(
            "Postgres failed to {what}: all {} connections of the store are in use",
            self.most
        );
        Error::new(ErrorKind::Store(StoreErrorKind::Unavailable), message)
            .with_help("raise `connections` or `patience`, then resume the run")
    }

    /// Returns a connection to the pool, and rolls back an open transaction. If the connection got
    /// no answer, closes it, and with it all connections that were idle in the meantime: the same
    /// failure of the server or network has hit them.
    pub(crate) async fn put_back(&self, mut connected: Connected) {
        let is_ready = connected.reset().await;
        let Connected {
            connection,
            made,
            taken,
            _turn,
        } = connected;
        if connection.is_lost() {
            self.free().retain(|free| free.used > taken);
        }
        if !is_ready || made.elapsed() >= OLD || self.is_closed() {
            return;
        }
        let mut free = self.free();
        free.retain(|free| free.used.elapsed() < IDLE);
        free.push(Free {
            connection,
            made,
            used: Instant::now(),
        });
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.turns.is_closed()
    }

    /// Waits until all connections are free, and closes them.
    pub(crate) async fn close(&self) {
        let all = self.turns.acquire_many(self.most).await;
        self.turns.close();
        drop(all);
        let free = std::mem::take(&mut *self.free());
        for free in free {
            free.connection.close().await;
        }
    }

    fn free(&self) -> MutexGuard<'_, Vec<Free>> {
        self.free.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
