//! [`prepare`]: creates and upgrades the tables of ADK's schema version 1, and the `adkw_` tables.

use crate::connection::PgConnection;
use crate::error::{Doing, corrupt_error, postgres_error};
use adk_model::{Error, ErrorKind, Result, StoreErrorKind};
use adk_store::sessions::adk_tables;
use sqlx::{AssertSqlSafe, Row as _};

/// The tables of version 1.
const TABLES: &str = include_str!("schema/1.sql");

/// The version of the `adkw_` tables.
const VERSION: &str = "7";

/// Earlier versions, oldest first, with the statements that upgrade to the next one. New tables
/// start at the first version.
const UPGRADES: &[(&str, &str)] = &[
    ("1", include_str!("schema/2.sql")),
    ("2", include_str!("schema/3.sql")),
    ("3", include_str!("schema/4.sql")),
    ("4", include_str!("schema/5.sql")),
    ("5", include_str!("schema/6.sql")),
    ("6", include_str!("schema/7.sql")),
];

/// Number of the advisory lock that is held while tables are created. The number is arbitrary, but
/// other programs must not use it.
const LOCK: i64 = 0x61_64_6b_77;

/// Creates missing tables if `create` is set, upgrades older ones, and checks that all are
/// writable.
pub(crate) async fn prepare(connection: &mut PgConnection, create: bool) -> Result<()> {
    let own = check(connection).await?;
    if own.is_none()
        && !create
        && !has_table(connection, "sessions")
            .await
            .doing("look for its tables")?
    {
        let name = sqlx::query_scalar("SELECT current_database()::text")
            .fetch_one(connection)
            .await;
        let name: String = name.doing("read its name")?;
        let message = format!("the database `{name}` has no tables of agents");
        return Err(Error::new(ErrorKind::Store(StoreErrorKind::Missing), message).with_help(
            "check the name and the `search_path`; a program creates the tables when it opens the \
             store",
        ));
    }
    if own.as_deref() != Some(VERSION) {
        make(connection).await?;
    }
    check_writable(connection).await
}

/// Reports whether a table exists. Reads the catalog, because `to_regclass` may answer from a cache
/// that is older than the wait for a lock.
async fn has_table(connection: &mut PgConnection, table: &str) -> sqlx::Result<bool> {
    let sql = "SELECT EXISTS (SELECT 1 FROM pg_catalog.pg_class c
        WHERE c.relname = $1::name AND pg_catalog.pg_table_is_visible(c.oid))";
    sqlx::query_scalar(sql)
        .bind(table)
        .fetch_one(connection)
        .await
}

/// Checks ADK's version and the types of its columns. Returns the version of the `adkw_` tables if
/// they exist.
async fn check(connection: &mut PgConnection) -> Result<Option<String>> {
    let what = "read the version of its tables";
    if has_table(connection, "sessions").await.doing(what)? {
        let version: Option<String> = if !has_table(connection, "adk_internal_metadata")
            .await
            .doing(what)?
        {
            None
        } else {
            let sql = "SELECT value FROM adk_internal_metadata WHERE key = 'schema_version'";
            sqlx::query_scalar(sql)
                .fetch_optional(&mut *connection)
                .await
                .doing(what)?
        };
        if version.as_deref() != Some("1") {
            let found = version.map_or("no version, or an older one".to_owned(), |version| {
                format!("version {version}")
            });
            return Err(other_tables(&format!(
                "has a table `sessions` of {found}; this crate reads ADK's version 1"
            )));
        }
        let sql = "SELECT a.attrelid::regclass::text || '.' || a.attname
            FROM (VALUES ('sessions', 'state', 'jsonb'), ('events', 'event_data', 'jsonb'),
                ('sessions', 'update_time', 'timestamp'),
                ('events', 'timestamp', 'timestamp')) w (t, c, ty)
            JOIN pg_attribute a ON a.attrelid = to_regclass(w.t) AND a.attname = w.c
            WHERE a.atttypid <> w.ty::regtype LIMIT 1";
        let wrong: Option<String> = sqlx::query_scalar(sql)
            .fetch_optional(&mut *connection)
            .await
            .doing(what)?;
        if let Some(column) = wrong {
            return Err(other_tables(&format!(
                "has a column `{column}` whose type differs from ADK's"
            )));
        }
    }
    if !has_table(connection, "adkw_meta").await.doing(what)? {
        return Ok(None);
    }
    let sql = "SELECT value FROM adkw_meta WHERE key = 'version'";
    let own: Option<String> = sqlx::query_scalar(sql)
        .fetch_optional(connection)
        .await
        .doing(what)?;
    let own = own.unwrap_or_default();
    if own != VERSION && UPGRADES.iter().all(|(version, _)| *version != own) {
        return Err(other_tables(&format!(
            "was written by another version of this crate ({own})"
        )));
    }
    Ok(Some(own))
}

fn other_tables(what: &str) -> Error {
    corrupt_error(format!("the database {what}")).with_help(
        "use another database, or another schema with `?options[search_path]=NAME` in the URL",
    )
}

/// Creates or upgrades the tables.
async fn make(connection: &mut PgConnection) -> Result<()> {
    let what = "make its tables";
    // After the wait for the lock, each statement must see what other processes have committed.
    connection
        .begin_with("BEGIN ISOLATION LEVEL READ COMMITTED")
        .await
        .doing(what)?;
    // Several processes may start at the same moment. The lock ends with the transaction, even
    // through a pooler.
    sqlx::query("SELECT pg_advisory_xact_lock($1)")
        .bind(LOCK)
        .execute(&mut *connection)
        .await
        .doing(what)?;
    connection.allow_upgrade().await.doing(what)?;
    let own = check(connection).await?;
    if own.is_none() {
        let adk = adk_tables("JSONB", "TIMESTAMP WITHOUT TIME ZONE");
        sqlx::raw_sql(AssertSqlSafe(adk))
            .execute(&mut *connection)
            .await
            .doing(what)?;
        sqlx::raw_sql(TABLES)
            .execute(&mut *connection)
            .await
            .doing(what)?;
    }
    let own = own.as_deref().unwrap_or(UPGRADES[0].0);
    for (_, change) in UPGRADES.iter().skip_while(|(version, _)| *version != own) {
        sqlx::raw_sql(*change)
            .execute(&mut *connection)
            .await
            .doing(what)?;
    }
    connection.commit().await.doing(what)
}

/// Checks that the user may write, so that a missing right is reported before the first paid model
/// call.
async fn check_writable(connection: &mut PgConnection) -> Result<()> {
    let what = "check its rights";
    let sql = "SELECT current_setting('transaction_read_only') = 'on', current_user::text,
        (SELECT string_agg(t, ', ') FROM unnest(ARRAY['sessions', 'events', 'app_states',
            'user_states', 'adkw_sessions', 'adkw_shared', 'adkw_log', 'adkw_owners', 'adkw_runs',
            'adkw_steps', 'adkw_done', 'adkw_waits', 'adkw_artifacts', 'adkw_memory',
            'adkw_memory_marks', 'adkw_keys']) t
         WHERE NOT (has_table_privilege(t, 'SELECT') AND has_table_privilege(t, 'INSERT')
            AND has_table_privilege(t, 'UPDATE') AND has_table_privilege(t, 'DELETE')))";
    let row = sqlx::query(sql)
        .fetch_one(connection)
        .await
        .map_err(|error| postgres_error(what, error))?;
    let (read_only, user) = (
        row.try_get::<bool, _>(0).doing(what)?,
        row.try_get::<String, _>(1).doing(what)?,
    );
    let refused = |message: String, help: &str| {
        Err(Error::new(ErrorKind::Store(StoreErrorKind::ReadOnly), message).with_help(help))
    };
    if read_only {
        let help = "connect to the primary, or set `default_transaction_read_only` to `off`";
        return refused(format!("the database is read-only for `{user}`"), help);
    }
    match row.try_get::<Option<String>, _>(2).doing(what)? {
        Some(tables) => refused(
            format!("the user `{user}` may not write to {tables}"),
            "grant the user `SELECT, INSERT, UPDATE, DELETE` on all tables of the schema",
        ),
        None => Ok(()),
    }
}
