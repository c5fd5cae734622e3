//! [`PgConnection`]: a connection to a server or a pooler, with a limit for each wait.

use crate::error::{is_closing, refuses_settings};
use crate::limits::{Limits, until_silent};
use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use sqlx::postgres::{
    PgArguments, PgConnectOptions, PgQueryResult, PgRow, PgStatement, PgTypeInfo,
};
use sqlx::{
    AssertSqlSafe, ConnectOptions as _, Connection as _, Either, Execute, Executor, Postgres,
    SqlStr,
};
use std::fmt;
use std::hash::{BuildHasher, RandomState};
use std::io;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::Duration;

/// A setting that is set and read back. Only a direct connection to the server keeps it; a pooler
/// loses it.
const PROBE: &str = "adkw.connection";

/// Address of the server, and the way in which this process connects to it.
pub(crate) struct Server {
    /// Options from the URL.
    to: PgConnectOptions,
    /// Options from the URL, plus the limits and the probe as settings of the connection.
    direct: PgConnectOptions,
    probe: String,
    is_pooled: AtomicBool,
    pub(crate) limits: Limits,
}

impl Server {
    pub(crate) fn new(to: PgConnectOptions, patience: Duration) -> Self {
        let limits = Limits::new(patience);
        // The store binds no floats, and poolers reject the setting.
        let to = to.extra_float_digits(None);
        // Settings in the URL take precedence.
        let given = to.get_options().unwrap_or_default().to_owned();
        let ours = limits
            .of_connection()
            .filter(|(name, _)| !sets(&given, name));
        let probe = format!("{:016x}", RandomState::new().hash_one(std::process::id()));
        let direct = to.clone().options(ours).options([(PROBE, &probe)]);
        Self {
            to,
            direct,
            probe,
            is_pooled: AtomicBool::new(false),
            limits,
        }
    }

    pub(crate) fn options(&self) -> &PgConnectOptions {
        &self.to
    }

    /// Opens a connection. Statements get names, so that the server parses them once, only on a
    /// connection that is proved to be direct. A pooler may send each transaction to another server
    /// connection, where the name is missing or belongs to another statement.
    pub(crate) async fn connect(&self) -> sqlx::Result<PgConnection> {
        if !self.is_pooled.load(Relaxed) {
            match self.direct.connect().await {
                Ok(mut connection) => {
                    let is_pooled = !self.is_direct(&mut connection).await?;
                    self.is_pooled.store(is_pooled, Relaxed);
                    return Ok(PgConnection::new(connection, self.limits, is_pooled));
                }
                Err(error) if refuses_settings(&error) => {}
                Err(error) => return Err(error),
            }
        }
        let connection = self.to.connect().await?;
        self.is_pooled.store(true, Relaxed);
        Ok(PgConnection::new(connection, self.limits, true))
    }

    async fn is_direct(&self, connection: &mut sqlx::PgConnection) -> sqlx::Result<bool> {
        let probe = AssertSqlSafe(format!("SELECT current_setting('{PROBE}', true)"));
        let row = sqlx::raw_sql(probe).fetch_one(connection).await?;
        let found: Option<String> = sqlx::Row::try_get(&row, 0)?;
        Ok(found.as_deref() == Some(&*self.probe))
    }
}

/// Reports whether options such as `-c name=value` set a name.
fn sets(options: &str, name: &str) -> bool {
    options.split_whitespace().any(|option| {
        let option = option.trim_start_matches("-c").trim_start_matches("--");
        option
            .split_once('=')
            .is_some_and(|(given, _)| given.eq_ignore_ascii_case(name))
    })
}

/// A connection that replaces sqlx's for the same statements. Each wait for an answer is limited.
///
/// Through a pooler, statements have no names and each statement is inside a transaction, because a
/// pooler assigns a server connection only for a transaction.
pub(crate) struct PgConnection {
    inner: sqlx::PgConnection,
    limits: Limits,
    is_pooled: bool,
    is_in_transaction: bool,
    /// Whether the open transaction changes tables.
    is_upgrade: bool,
    /// Whether a statement has no answer yet, or has failed with an error that makes the
    /// connection unusable.
    is_lost: bool,
}

impl PgConnection {
    fn new(inner: sqlx::PgConnection, limits: Limits, is_pooled: bool) -> Self {
        Self {
            inner,
            limits,
            is_pooled,
            is_in_transaction: false,
            is_upgrade: false,
            is_lost: false,
        }
    }

    /// Begins a transaction.
    pub(crate) async fn begin(&mut self) -> sqlx::Result<()> {
        self.begin_with("BEGIN").await
    }

    /// Begins a transaction with the given statement.
    pub(crate) async fn begin_with(&mut self, begin: &str) -> sqlx::Result<()> {
        let begin = if self.is_pooled {
            self.limits.begin(begin)
        } else {
            begin.to_owned()
        };
        (self.is_in_transaction, self.is_upgrade) = (true, false);
        self.command(begin).await
    }

    /// Commits the transaction.
    pub(crate) async fn commit(&mut self) -> sqlx::Result<()> {
        self.command("COMMIT".to_owned()).await?;
        (self.is_in_transaction, self.is_upgrade) = (false, false);
        Ok(())
    }

    /// Prepares the connection for another caller, and rolls back an open transaction. Returns
    /// `false` if the connection must be closed.
    pub(crate) async fn reset(&mut self) -> bool {
        if !self.is_lost && self.is_in_transaction {
            self.is_upgrade = false;
            self.is_in_transaction = self.command("ROLLBACK".to_owned()).await.is_err();
        }
        !self.is_lost && !self.is_in_transaction
    }

    /// Reports whether the connection got no answer, or an answer that ends it.
    pub(crate) fn is_lost(&self) -> bool {
        self.is_lost
    }

    /// Extends the statement timeout of the open transaction to the limit of an upgrade of the
    /// tables.
    pub(crate) async fn allow_upgrade(&mut self) -> sqlx::Result<()> {
        let millis = self.limits.upgrade.as_millis();
        self.command(format!("SET LOCAL statement_timeout = {millis}"))
            .await?;
        self.is_upgrade = true;
        Ok(())
    }

    /// Closes the connection in an orderly way.
    pub(crate) async fn close(self) {
        // The server needs no message from a dead connection.
        let _ = until_silent(self.limits.connect, self.inner.close()).await;
    }

    async fn command(&mut self, sql: String) -> sqlx::Result<()> {
        let sql = sqlx::raw_sql(AssertSqlSafe(sql));
        self.execute_limited(async |inner| inner.execute(sql).await)
            .await
            .map(drop)
    }

    /// Executes work within the limit, and records whether the connection is usable afterwards.
    async fn execute_limited<T>(
        &mut self,
        work: impl AsyncFnOnce(&mut sqlx::PgConnection) -> sqlx::Result<T>,
    ) -> sqlx::Result<T> {
        // The flag stays set if the future is dropped before its end.
        self.is_lost = true;
        let limit = if self.is_upgrade {
            self.limits.upgrade
        } else {
            self.limits.answer
        };
        let done = match until_silent(limit, work(&mut self.inner)).await {
            Some(done) => done,
            None => {
                let message = format!("the server did not answer for {limit:?}");
                Err(sqlx::Error::Io(io::Error::new(
                    io::ErrorKind::TimedOut,
                    message,
                )))
            }
        };
        self.is_lost = done.as_ref().is_err_and(is_closing);
        done
    }

    async fn steps<'q>(
        &mut self,
        mut query: impl Execute<'q, Postgres>,
    ) -> sqlx::Result<Vec<Step>> {
        let arguments = query.take_arguments().map_err(sqlx::Error::Encode)?;
        let persistent = query.persistent() && !self.is_pooled;
        let statement = Statement {
            sql: query.sql(),
            arguments,
            persistent,
        };
        if !self.is_pooled || self.is_in_transaction {
            return self.execute_statement(statement).await;
        }
        self.begin().await?;
        let steps = self.execute_statement(statement).await;
        match steps {
            Ok(steps) => self.commit().await.map(|()| steps),
            Err(error) => {
                self.reset().await;
                Err(error)
            }
        }
    }

    async fn execute_statement(&mut self, statement: Statement) -> sqlx::Result<Vec<Step>> {
        self.execute_limited(async |inner| inner.fetch_many(statement).try_collect().await)
            .await
    }
}

impl fmt::Debug for PgConnection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PgConnection")
            .field("is_pooled", &self.is_pooled)
            .finish_non_exhaustive()
    }
}

/// A row, or the end of a statement.
type Step = Either<PgQueryResult, PgRow>;

type Steps<'e> = Pin<Box<dyn stream::Stream<Item = sqlx::Result<Step>> + Send + 'e>>;

impl<'c> Executor<'c> for &'c mut PgConnection {
    type Database = Postgres;

    fn fetch_many<'e, 'q: 'e, E>(self, query: E) -> Steps<'e>
    where
        'c: 'e,
        E: 'q + Execute<'q, Postgres>,
    {
        let steps = async move {
            self.steps(query)
                .await
                .map(|steps| stream::iter(steps).map(Ok))
        };
        Box::pin(stream::once(steps).try_flatten())
    }

    fn fetch_optional<'e, 'q: 'e, E>(
        self,
        query: E,
    ) -> adk_model::BoxFuture<'e, sqlx::Result<Option<PgRow>>>
    where
        'c: 'e,
        E: 'q + Execute<'q, Postgres>,
    {
        Box::pin(async move { Ok(self.steps(query).await?.into_iter().find_map(Either::right)) })
    }

    fn prepare_with<'e>(
        self,
        sql: SqlStr,
        parameters: &'e [PgTypeInfo],
    ) -> adk_model::BoxFuture<'e, sqlx::Result<PgStatement>>
    where
        'c: 'e,
    {
        self.inner.prepare_with(sql, parameters)
    }
}

/// A statement with its parameters. A `persistent` statement has a name on the server, so that it
/// is parsed once.
struct Statement {
    sql: SqlStr,
    arguments: Option<PgArguments>,
    persistent: bool,
}

impl Execute<'_, Postgres> for Statement {
    fn sql(self) -> SqlStr {
        self.sql
    }

    fn statement(&self) -> Option<&PgStatement> {
        None
    }

    fn take_arguments(&mut self) -> Result<Option<PgArguments>, sqlx::error::BoxDynError> {
        Ok(self.arguments.take())
    }

    fn persistent(&self) -> bool {
        self.persistent
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::str::FromStr as _;

    #[test]
    fn a_connection_asks_for_limits_that_the_url_does_not_set() {
        let url = "postgres://u@h/d?options[deadlock_timeout]=7&options[statement_timeout]=8";
        let to = PgConnectOptions::from_str(url).expect("it is a URL");
        let server = Server::new(to, Duration::from_secs(10));
        // A pooler gets no additional settings.
        let given = "-c deadlock_timeout=7 -c statement_timeout=8";
        assert_eq!(server.to.get_options(), Some(given));
        let ours = format!(
            "{given} -c lock_timeout=1000 -c idle_in_transaction_session_timeout=5000 \
             -c tcp_keepalives_idle=2 -c tcp_keepalives_interval=2 -c tcp_keepalives_count=3 \
             -c tcp_user_timeout=10000 -c {PROBE}={}",
            server.probe
        );
        assert_eq!(server.direct.get_options(), Some(&*ours));
        assert!(
            sets("-clock_timeout=1", "lock_timeout") && sets("--Lock_Timeout=1", "lock_timeout")
        );
    }
}
