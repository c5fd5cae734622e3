//! The connections of a store: a few, each for one caller at a time.

use crate::connection::{PgConnection, Server};
use crate::error::{Doing, closed, passes};
use crate::transact::Patience;
use adk_core::{Error, ErrorKind, Result, StoreErrorKind};
use std::ops::{Deref, DerefMut};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// A connection that nobody has used for so long may have been cut by a network, which says nothing.
const IDLE: Duration = Duration::from_secs(10 * 60);

/// After so long a connection is made anew, since the process of the server that serves it grows.
const OLD: Duration = Duration::from_secs(30 * 60);

/// Free connections, and how many there may be. sqlx's pool would ask the server whether a connection lives after each use,
/// which is as long as the use.
pub(crate) struct Connections {
    pub(crate) server: Arc<Server>,
    most: u32,
    turns: Arc<Semaphore>,
    /// The one that was used last is at the end.
    free: Mutex<Vec<Free>>,
}

struct Free {
    connection: PgConnection,
    made: Instant,
    used: Instant,
}

/// A connection that its caller has for himself. When it is dropped it is closed, and the server rolls back.
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
        Self { server: Arc::new(server), most, turns, free: Mutex::default() }
    }

    /// Opens the first connection. A server that starts is waited for, a shorter time than later: there is nothing yet that
    /// a failure would interrupt.
    pub(crate) async fn reach(&self, patience: Duration) -> Result<()> {
        let mut pauses = Patience::new(patience.min(Duration::from_secs(2)));
        loop {
            match self.get("connect").await {
                Err(error) if passes(&error) && pauses.wait().await => {}
                Err(error) => return Err(error),
                Ok(connected) => {
                    self.give_back(connected).await;
                    return Ok(());
                }
            }
        }
    }

    /// One that is free, as soon as there is one.
    pub(crate) async fn get(&self, what: &str) -> Result<Connected> {
        let until = tokio::time::Instant::now() + self.server.limits.connect;
        let turn = tokio::time::timeout_at(until, self.turns.clone().acquire_owned()).await;
        let turn = turn.map_err(|_| self.all_in_use(what))?.map_err(|_| closed())?;
        let free = self.free().pop().filter(|free| free.used.elapsed() < IDLE);
        let (connection, made) = match free {
            Some(free) => (free.connection, free.made),
            None => {
                let connected = tokio::time::timeout_at(until, self.server.connect()).await;
                (connected.unwrap_or(Err(sqlx::Error::PoolTimedOut)).doing(what)?, Instant::now())
            }
        };
        Ok(Connected { connection, made, taken: Instant::now(), _turn: turn })
    }

    fn all_in_use(&self, what: &str) -> Error {
        let message =
            format!("Postgres failed to {what}: all {} connections of the store are in use", self.most);
        Error::new(ErrorKind::Store(StoreErrorKind::Unavailable), message).with_help(
            "allow more with `connections`, or wait longer with `patience`; the run can be resumed",
        )
    }

    /// Keeps a connection for the next caller, without the transaction that is still open. A connection without an answer is
    /// closed, and so is each that was free all the time since: the same server or network has cut it as well.
    pub(crate) async fn give_back(&self, mut connected: Connected) {
        let is_ready = connected.reset().await;
        let Connected { connection, made, taken, _turn } = connected;
        if connection.is_lost() {
            self.free().retain(|free| free.used > taken);
        }
        if !is_ready || made.elapsed() >= OLD || self.is_closed() {
            return;
        }
        let mut free = self.free();
        free.retain(|free| free.used.elapsed() < IDLE);
        free.push(Free { connection, made, used: Instant::now() });
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.turns.is_closed()
    }

    /// Closes them all, after what they are used for at the moment.
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
