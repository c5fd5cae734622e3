//! Transactions that are retried while the server is briefly unreachable.

use crate::Shared;
use crate::connection::PgConnection;
use crate::error::{Doing, closed_error, is_transient, outcome_unknown_error, postgres_error};
use adk_model::{BoxFuture, Error, Result};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

/// A transaction that failed, or whose outcome is unknown.
pub(crate) struct Lost {
    pub(crate) error: Error,
    /// Whether the commit was sent. If so, the transaction may have been committed.
    pub(crate) is_sent: bool,
}

impl Lost {
    /// Returns the error of a commit that was sent.
    pub(crate) fn sent(error: Error) -> Self {
        Self {
            error,
            is_sent: true,
        }
    }
}

impl From<Error> for Lost {
    fn from(error: Error) -> Self {
        Self {
            error,
            is_sent: false,
        }
    }
}

/// Work of a transaction, which may be executed again.
pub(crate) type Work<'w, T> =
    dyn for<'c> FnMut(&'c mut PgConnection) -> BoxFuture<'c, Result<T>> + Send + 'w;

/// Work of a transaction that owns its data.
pub(crate) type OwnWork<T> =
    Box<dyn for<'c> FnMut(&'c mut PgConnection) -> BoxFuture<'c, Result<T>> + Send>;

/// Work of a transaction on shared arguments.
pub(crate) type WorkOn<A, T> = for<'c> fn(&'c mut PgConnection, &'c A) -> BoxFuture<'c, Result<T>>;

/// Returns work that owns its arguments.
fn owning<A: Send + Sync + 'static, T: 'static>(arguments: A, work: WorkOn<A, T>) -> OwnWork<T> {
    let arguments = Arc::new(arguments);
    Box::new(move |connection| {
        let arguments = arguments.clone();
        Box::pin(async move { work(connection, &arguments).await })
    })
}

/// Reads in one transaction, so that all statements read the same state of the database.
pub(crate) async fn read_at_once<T>(
    connection: &mut PgConnection,
    what: &str,
    read: impl AsyncFnOnce(&mut PgConnection) -> Result<T>,
) -> Result<T> {
    let begin = "BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY";
    connection.begin_with(begin).await.doing(what)?;
    let value = read(connection).await?;
    connection.commit().await.doing(what)?;
    Ok(value)
}

/// A timer for retries, which ends when the patience of the store is over.
pub(crate) struct Patience {
    until: Instant,
    pause: Duration,
}

impl Patience {
    pub(crate) fn new(patience: Duration) -> Self {
        Self::since(Instant::now(), patience)
    }

    /// Starts the patience at an earlier time.
    pub(crate) fn since(begun: Instant, patience: Duration) -> Self {
        // A patience that overflows the clock counts as one day.
        let until = begun
            .checked_add(patience)
            .unwrap_or(begun + Duration::from_secs(24 * 60 * 60));
        Self {
            until,
            pause: Duration::from_millis(10),
        }
    }

    /// Waits before the next attempt. Returns `false` when the patience is over.
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
    /// Executes work in one transaction, and rolls back on failure.
    pub(crate) async fn attempt<T>(
        &self,
        work: impl AsyncFnOnce(&mut PgConnection) -> Result<T>,
    ) -> Result<T, Lost> {
        let what = "begin a transaction";
        let mut connection = self.connections.get(what).await?;
        let done = async {
            connection.begin().await.doing(what)?;
            let value = work(&mut connection).await?;
            let commit = connection.commit().await;
            commit.map_err(|error| Lost {
                error: postgres_error("commit", error),
                is_sent: true,
            })?;
            Ok(value)
        };
        let done = done.await;
        self.connections.put_back(connection).await;
        done
    }

    /// Executes work once, without a transaction.
    pub(crate) async fn execute_once<T>(&self, work: &mut Work<'_, T>) -> Result<T> {
        let mut connection = self.connections.get("reach the server").await?;
        let done = work(&mut connection).await;
        self.connections.put_back(connection).await;
        done
    }

    /// Executes a read or a single repeatable statement, with retries until the patience is over.
    ///
    /// The work runs in a task of its own, so that a connection is never held by a future that its
    /// caller does not poll.
    pub(crate) async fn call<T: Send + 'static>(
        self: &Arc<Self>,
        mut work: OwnWork<T>,
    ) -> Result<T> {
        let this = self.clone();
        let task = self.runtime.spawn(async move {
            let mut patience = Patience::new(this.options.patience);
            loop {
                let done = this.execute_once(&mut work).await;
                match done {
                    Err(error)
                        if is_transient(&error)
                            && !this.connections.is_closed()
                            && patience.wait().await => {}
                    done => return done,
                }
            }
        });
        task.await.map_err(|_| closed_error())?
    }

    /// Executes work like [`call`](Self::call), on arguments.
    pub(crate) async fn call_with<A: Send + Sync + 'static, T: Send + 'static>(
        self: &Arc<Self>,
        arguments: A,
        work: WorkOn<A, T>,
    ) -> Result<T> {
        self.call(owning(arguments, work)).await
    }

    /// Executes work like [`call_with`](Self::call_with), in a transaction.
    pub(crate) async fn transact_with<A: Send + Sync + 'static, T: Send + 'static>(
        self: &Arc<Self>,
        arguments: A,
        work: WorkOn<A, T>,
    ) -> Result<T> {
        let (this, mut work) = (self.clone(), owning(arguments, work));
        let task = self
            .runtime
            .spawn(async move { this.transact(&mut work).await });
        task.await.map_err(|_| closed_error())?
    }

    /// Executes a repeatable transaction, with retries until the patience is over.
    pub(crate) async fn transact<T: Send>(&self, work: &mut Work<'_, T>) -> Result<T> {
        self.retry(true, work).await
    }

    /// Executes a transaction that must not run twice: it is not retried after its commit was sent.
    pub(crate) async fn transact_once<T: Send>(&self, work: &mut Work<'_, T>) -> Result<T> {
        self.retry(false, work).await
    }

    async fn retry<T: Send>(&self, is_repeatable: bool, work: &mut Work<'_, T>) -> Result<T> {
        let mut patience = Patience::new(self.options.patience);
        let mut is_unknown = false;
        loop {
            let Lost { error, is_sent } = match self
                .attempt(async |connection| work(connection).await)
                .await
            {
                Ok(value) => return Ok(value),
                Err(lost) => lost,
            };
            if !is_transient(&error) {
                return Err(error);
            }
            is_unknown |= is_sent;
            let may_repeat = !self.connections.is_closed() && (is_repeatable || !is_sent);
            if !(may_repeat && patience.wait().await) {
                return Err(if is_unknown {
                    outcome_unknown_error(&error)
                } else {
                    error
                });
            }
        }
    }
}
