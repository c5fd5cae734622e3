//! The connections of a store: a few, each for one caller at a time.

use crate::error::{Doing, closed, failed, passes};
use crate::transact::Patience;
use adk_core::Result;
use sqlx::postgres::PgConnectOptions;
use sqlx::{ConnectOptions as _, Connection as _, PgConnection};
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
    pub(crate) to: PgConnectOptions,
    /// How long an attempt to get one may take.
    patience: Duration,
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
    /// With the first one open.
    pub(crate) async fn open(to: PgConnectOptions, patience: Duration, most: u32) -> Result<Self> {
        let (most, patience) = (most.max(1), patience.min(Duration::from_secs(2)));
        let turns = Arc::new(Semaphore::new(most as usize));
        let this = Self { to, patience, most, turns, free: Mutex::default() };
        let mut pauses = Patience::new(patience);
        loop {
            match this.get("connect").await {
                Err(error) if passes(&error) && pauses.wait().await => {}
                Err(error) => return Err(error),
                first => {
                    this.give_back(first?, false).await;
                    return Ok(this);
                }
            }
        }
    }

    /// One that is free, as soon as there is one.
    pub(crate) async fn get(&self, what: &str) -> Result<Connected> {
        let get = async {
            let turn = self.turns.clone().acquire_owned().await.map_err(|_| closed())?;
            let free = self.free().pop().filter(|free| free.used.elapsed() < IDLE);
            let (connection, made) = match free {
                Some(free) => (free.connection, free.made),
                None => (self.to.connect().await.doing(what)?, Instant::now()),
            };
            Ok(Connected { connection, made, _turn: turn })
        };
        let got = tokio::time::timeout(self.patience, get).await;
        got.unwrap_or_else(|_| Err(failed(what, sqlx::Error::PoolTimedOut)))
    }

    /// For the next caller. After a failure only if the connection is still there; the question rolls back what is open.
    pub(crate) async fn give_back(&self, connected: Connected, has_failed: bool) {
        let Connected { mut connection, made, _turn } = connected;
        if made.elapsed() >= OLD || self.is_closed() {
            return;
        }
        if has_failed && !matches!(tokio::time::timeout(self.patience, connection.ping()).await, Ok(Ok(()))) {
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
            // One that has died needs no goodbye.
            let _ = free.connection.close().await;
        }
    }

    fn free(&self) -> MutexGuard<'_, Vec<Free>> {
        self.free.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
