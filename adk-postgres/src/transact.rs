//! Transactions, tried again while the server is away for a moment.

use crate::Shared;
use crate::error::{Doing, closed, failed, outcome_unknown, passes};
use adk_core::{BoxFuture, Error, Result};
use sqlx::{Connection as _, PgConnection, Postgres, Transaction};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

/// A transaction that did not come about, or perhaps did.
pub(crate) struct Lost {
    pub(crate) error: Error,
    /// Whether its commit was on the way: then nobody knows.
    pub(crate) is_sent: bool,
}

impl From<Error> for Lost {
    fn from(error: Error) -> Self {
        Self { error, is_sent: false }
    }
}

/// What is done in a transaction. It may be asked again.
pub(crate) type Work<'w, T> = dyn for<'c> FnMut(&'c mut PgConnection) -> BoxFuture<'c, Result<T>> + Send + 'w;

/// The same, that owns what it needs.
pub(crate) type OwnWork<T> = Box<dyn for<'c> FnMut(&'c mut PgConnection) -> BoxFuture<'c, Result<T>> + Send>;

/// Tells how long to wait before the next attempt, until the patience is over.
pub(crate) struct Patience {
    until: Instant,
    pause: Duration,
}

impl Patience {
    pub(crate) fn new(patience: Duration) -> Self {
        Self { until: Instant::now() + patience, pause: Duration::from_millis(10) }
    }

    /// Waits a little; `false` when it has waited long enough.
    pub(crate) async fn wait(&mut self) -> bool {
        if Instant::now() + self.pause >= self.until {
            return false;
        }
        tokio::time::sleep(self.pause).await;
        self.pause = (self.pause * 2).min(Duration::from_millis(500));
        true
    }
}

impl Shared {
    /// Commits what went well, and rolls back what did not.
    pub(crate) async fn end<T>(transaction: Transaction<'_, Postgres>, done: Result<T>) -> Result<T, Lost> {
        let value = done?;
        match transaction.commit().await {
            Ok(()) => Ok(value),
            Err(error) => Err(Lost { error: failed("commit", error), is_sent: true }),
        }
    }

    async fn attempt<T: Send>(&self, work: &mut Work<'_, T>) -> Result<T, Lost> {
        let mut connection = self.connections.get("begin a transaction").await?;
        let mut transaction = connection.begin().await.doing("begin a transaction")?;
        let done = work(&mut transaction).await;
        let done = Self::end(transaction, done).await;
        self.connections.give_back(connection, done.is_err()).await;
        done
    }

    /// Does this without a transaction around it.
    pub(crate) async fn once<T>(&self, work: &mut Work<'_, T>) -> Result<T> {
        let mut connection = self.connections.get("reach the server").await?;
        let done = work(&mut connection).await;
        self.connections.give_back(connection, done.is_err()).await;
        done
    }

    /// Reads something, or does one statement that may be done twice, tried until the patience is over.
    ///
    /// In a task of its own: a connection is never held by a future that its caller has to poll, and so never kept
    /// from those that wait for one.
    pub(crate) async fn call<T: Send + 'static>(self: &Arc<Self>, mut work: OwnWork<T>) -> Result<T> {
        let this = self.clone();
        let task = self.runtime.spawn(async move {
            let mut patience = Patience::new(this.options.patience);
            loop {
                let done = this.once(&mut work).await;
                match done {
                    Err(error)
                        if passes(&error) && !this.connections.is_closed() && patience.wait().await => {}
                    done => return done,
                }
            }
        });
        task.await.map_err(|_| closed())?
    }

    /// The same in a transaction.
    pub(crate) async fn call_in_transaction<T: Send + 'static>(
        self: &Arc<Self>,
        mut work: OwnWork<T>,
    ) -> Result<T> {
        let this = self.clone();
        let task = self.runtime.spawn(async move { this.transact(&mut work).await });
        task.await.map_err(|_| closed())?
    }

    /// A transaction that may be done twice, tried until the patience is over.
    pub(crate) async fn transact<T: Send>(&self, work: &mut Work<'_, T>) -> Result<T> {
        self.tried(true, work).await
    }

    /// One that must not be done twice: when its commit was on the way, nothing is tried again.
    pub(crate) async fn transact_once<T: Send>(&self, work: &mut Work<'_, T>) -> Result<T> {
        self.tried(false, work).await
    }

    async fn tried<T: Send>(&self, is_repeatable: bool, work: &mut Work<'_, T>) -> Result<T> {
        let mut patience = Patience::new(self.options.patience);
        let mut is_unknown = false;
        loop {
            let Lost { error, is_sent } = match self.attempt(work).await {
                Ok(value) => return Ok(value),
                Err(lost) => lost,
            };
            if !passes(&error) {
                return Err(error);
            }
            is_unknown |= is_sent;
            let may_repeat = !self.connections.is_closed() && (is_repeatable || !is_sent);
            if !(may_repeat && patience.wait().await) {
                return Err(if is_unknown { outcome_unknown(&error) } else { error });
            }
        }
    }
}
