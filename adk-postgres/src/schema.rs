//! [`prepare`]: creates and upgrades the tables of ADK's schema version 1, and the `adkw_` tables.

use crate::connection::PgConnection;
use crate::error::{Doing, corrupt_error, postgres_error};
use adk_model::{Error, ErrorKind, Result, StoreErrorKind};
use adk_store::sessions::adk_tables;
use sqlx::{AssertSqlSafe, Row as _};

/// Tables of runs and of the log, in version 1. Deleting a session in ADK's table deletes its rows
/// here.
///
/// * `adkw_sessions`: the length of a session's log, and the update time of the session when this
///   crate last read or wrote it (`seen`). If its `update_time` differs, another program has
///   written to the session. `takes` counts repeated claims and cancellations of its runs.
/// * `adkw_log`: the order of a session's events, with the run and the slot that each event fills,
///   and the agents that had finished by then.
/// * `adkw_owners`: processes, with the time until which they count as alive.
/// * `adkw_runs`, `adkw_steps`, `adkw_waits`: the registry of runs and their journals. `epoch` is
///   the number of the latest claim of a run. `status` is `queued` for a run that waits for its
///   session, and `answered` for a paused run with an unread answer. `updated` is the time of the
///   last write. A run that an engine above the store drives has the epoch 0, and the owner `@`
///   until it ends.
/// * `adkw_done`: agents that have finished after the last event of their run.
/// * `tenant_of`: the app that has the app of the run or wait as a tenant; null for an app that is
///   not a tenant.
/// * `exact`, `adkw_shared`: exact texts of values that `jsonb` changes.
const OURS: &str = "
CREATE TABLE adkw_meta (key TEXT PRIMARY KEY, value TEXT NOT NULL);
INSERT INTO adkw_meta VALUES ('version', '1');
CREATE TABLE adkw_sessions (
    number BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY, app_name VARCHAR(128) NOT NULL,
    user_id VARCHAR(128) NOT NULL, id VARCHAR(128) NOT NULL, len BIGINT NOT NULL DEFAULT 0,
    seen TIMESTAMP WITHOUT TIME ZONE, latest TIMESTAMP WITHOUT TIME ZONE NOT NULL,
    takes BIGINT NOT NULL DEFAULT 0, exact JSONB NOT NULL DEFAULT '{}',
    UNIQUE (app_name, user_id, id),
    FOREIGN KEY (app_name, user_id, id)
        REFERENCES sessions (app_name, user_id, id) ON DELETE CASCADE);
CREATE TABLE adkw_shared (
    app_name VARCHAR(128) NOT NULL, scope TEXT NOT NULL, user_id VARCHAR(128) NOT NULL,
    exact JSONB NOT NULL, PRIMARY KEY (app_name, scope, user_id));
CREATE TABLE adkw_log (
    session BIGINT NOT NULL REFERENCES adkw_sessions (number) ON DELETE CASCADE,
    place BIGINT NOT NULL, event_id VARCHAR(128) NOT NULL,
    time TIMESTAMP WITHOUT TIME ZONE NOT NULL, run TEXT, slot TEXT, temp TEXT, exact TEXT,
    PRIMARY KEY (session, place), CONSTRAINT adkw_log_event UNIQUE (session, event_id));
CREATE UNIQUE INDEX adkw_log_slot ON adkw_log (run, slot) WHERE run IS NOT NULL;
CREATE TABLE adkw_owners (id TEXT PRIMARY KEY, expires TIMESTAMP WITH TIME ZONE NOT NULL);
CREATE TABLE adkw_runs (
    id TEXT PRIMARY KEY,
    session BIGINT NOT NULL REFERENCES adkw_sessions (number) ON DELETE CASCADE,
    status TEXT NOT NULL, error TEXT, owner TEXT, epoch BIGINT NOT NULL, record TEXT NOT NULL);
CREATE INDEX adkw_runs_open ON adkw_runs (id) WHERE status IN ('running', 'paused');
CREATE INDEX adkw_runs_session ON adkw_runs (session);
CREATE TABLE adkw_steps (
    run TEXT NOT NULL REFERENCES adkw_runs (id) ON DELETE CASCADE, key TEXT NOT NULL,
    value TEXT NOT NULL, PRIMARY KEY (run, key));
CREATE TABLE adkw_done (
    run TEXT NOT NULL REFERENCES adkw_runs (id) ON DELETE CASCADE, path TEXT NOT NULL,
    done TEXT NOT NULL, PRIMARY KEY (run, path));
CREATE TABLE adkw_waits (
    number BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY, id TEXT NOT NULL UNIQUE,
    run TEXT NOT NULL REFERENCES adkw_runs (id) ON DELETE CASCADE, key TEXT NOT NULL,
    waiting TEXT NOT NULL, answer TEXT, seen BOOLEAN NOT NULL DEFAULT FALSE);
CREATE INDEX adkw_waits_run ON adkw_waits (run);
";

/// Upgrades version 1 to version 2: adds columns to search runs and waits by, and artifacts. A
/// user's artifacts have no session; deleting a session in ADK's table deletes its artifacts.
const FROM_1: &str = "
ALTER TABLE adkw_runs ADD COLUMN app TEXT NOT NULL DEFAULT '',
    ADD COLUMN workflow TEXT NOT NULL DEFAULT '';
ALTER TABLE adkw_waits ADD COLUMN app TEXT NOT NULL DEFAULT '', ADD COLUMN deadline BIGINT;
UPDATE adkw_runs r SET app = s.app_name, workflow = coalesce(r.record::json ->> 'workflow', '')
    FROM adkw_sessions s WHERE s.number = r.session;
UPDATE adkw_waits w SET app = r.app, deadline = (w.waiting::json ->> 'deadline')::bigint
    FROM adkw_runs r WHERE r.id = w.run;
DELETE FROM adkw_waits w USING adkw_runs r
    WHERE r.id = w.run AND w.answer IS NULL AND r.status NOT IN ('running', 'paused');
UPDATE adkw_runs r SET status = 'answered' WHERE status = 'paused' AND EXISTS
    (SELECT 1 FROM adkw_waits w WHERE w.run = r.id AND w.answer IS NOT NULL AND NOT w.seen);
DROP INDEX IF EXISTS adkw_runs_open;
CREATE INDEX adkw_runs_unfinished ON adkw_runs (app, id)
    WHERE status IN ('running', 'paused', 'answered');
CREATE INDEX adkw_runs_free ON adkw_runs (app, id)
    WHERE owner IS NULL AND status IN ('running', 'answered');
CREATE INDEX adkw_runs_driven ON adkw_runs (owner) WHERE owner IS NOT NULL;
CREATE INDEX adkw_runs_failed ON adkw_runs (app, id) WHERE status = 'failed';
CREATE INDEX adkw_waits_due ON adkw_waits (app, deadline)
    WHERE answer IS NULL AND deadline IS NOT NULL;
CREATE TABLE adkw_artifacts (
    app_name VARCHAR(128) NOT NULL, user_id VARCHAR(128) NOT NULL, session_id VARCHAR(128),
    name TEXT NOT NULL, version BIGINT NOT NULL, part TEXT NOT NULL, data BYTEA,
    CONSTRAINT adkw_artifacts_session FOREIGN KEY (app_name, user_id, session_id)
        REFERENCES sessions (app_name, user_id, id) ON DELETE CASCADE);
CREATE UNIQUE INDEX adkw_artifacts_version
    ON adkw_artifacts (app_name, user_id, COALESCE(session_id, ''), name, version);
UPDATE adkw_meta SET value = '2' WHERE key = 'version';
";

/// Upgrades version 2 to version 3: adds times in microseconds and the usage of runs. Ended runs
/// get the time of their last event.
const FROM_2: &str = "
ALTER TABLE adkw_runs ADD COLUMN created BIGINT NOT NULL DEFAULT 0,
    ADD COLUMN updated BIGINT NOT NULL DEFAULT 0, ADD COLUMN usage TEXT;
UPDATE adkw_runs SET created = coalesce((record::json ->> 'time')::bigint, 0);
UPDATE adkw_runs r SET updated = greatest(r.created,
    (SELECT (extract(epoch FROM max(l.time)) * 1000000)::bigint FROM adkw_log l
        WHERE l.run = r.id));
UPDATE adkw_meta SET value = '3' WHERE key = 'version';
";

/// Upgrades version 3 to version 4: adds memory, which stays when its session is deleted.
const FROM_3: &str = "
CREATE TABLE adkw_memory (
    app_name VARCHAR(128) NOT NULL, user_id VARCHAR(128) NOT NULL, session_id VARCHAR(128) NOT NULL,
    id TEXT NOT NULL, author TEXT NOT NULL, time TEXT NOT NULL, content TEXT NOT NULL,
    words TSVECTOR NOT NULL,
    PRIMARY KEY (app_name, user_id, session_id, id));
CREATE INDEX adkw_memory_words ON adkw_memory USING gin (words);
CREATE TABLE adkw_memory_marks (
    app_name VARCHAR(128) NOT NULL, user_id VARCHAR(128) NOT NULL, session_id VARCHAR(128) NOT NULL,
    events BIGINT NOT NULL, last TEXT NOT NULL, PRIMARY KEY (app_name, user_id, session_id));
UPDATE adkw_meta SET value = '4' WHERE key = 'version';
";

/// Upgrades version 4 to version 5: adds indexes that end limited searches for waits, and for runs
/// of an owner or a session. Finished agents move to the row of the event.
const FROM_4: &str = "
ALTER TABLE adkw_log ADD COLUMN done TEXT;
ALTER TABLE adkw_waits ADD COLUMN session BIGINT NOT NULL DEFAULT 0;
UPDATE adkw_waits w SET session = r.session FROM adkw_runs r WHERE r.id = w.run;
DROP INDEX IF EXISTS adkw_runs_driven;
DROP INDEX IF EXISTS adkw_runs_session;
CREATE INDEX adkw_runs_driven ON adkw_runs (owner, app, id) WHERE owner IS NOT NULL;
CREATE INDEX adkw_runs_session ON adkw_runs (session, id);
CREATE INDEX adkw_runs_cancelled ON adkw_runs (app, id) WHERE status = 'cancelled';
CREATE INDEX adkw_waits_open ON adkw_waits (app, number) WHERE answer IS NULL;
CREATE INDEX adkw_waits_session ON adkw_waits (session) WHERE answer IS NULL;
UPDATE adkw_meta SET value = '5' WHERE key = 'version';
";

/// Upgrades version 5 to version 6: adds tenants of an app, queued runs, and idempotency keys of
/// requests with the run or wait that each key is bound to.
const FROM_5: &str = "
ALTER TABLE adkw_runs ADD COLUMN tenant_of TEXT;
ALTER TABLE adkw_waits ADD COLUMN tenant_of TEXT;
CREATE INDEX adkw_runs_tenants ON adkw_runs (owner, tenant_of, id)
    WHERE tenant_of IS NOT NULL AND owner IS NOT NULL
    AND status IN ('queued', 'running', 'answered');
CREATE INDEX adkw_runs_tenants_free ON adkw_runs (tenant_of, id)
    WHERE tenant_of IS NOT NULL AND owner IS NULL AND status IN ('queued', 'running', 'answered');
CREATE INDEX adkw_waits_app ON adkw_waits (app, number) WHERE answer IS NULL;
CREATE INDEX adkw_waits_tenants ON adkw_waits (tenant_of, deadline)
    WHERE tenant_of IS NOT NULL AND answer IS NULL AND deadline IS NOT NULL;
DROP INDEX IF EXISTS adkw_runs_unfinished;
DROP INDEX IF EXISTS adkw_runs_free;
CREATE INDEX adkw_runs_unfinished ON adkw_runs (app, id)
    WHERE status IN ('queued', 'running', 'paused', 'answered');
CREATE INDEX adkw_runs_free ON adkw_runs (app, id)
    WHERE owner IS NULL AND status IN ('queued', 'running', 'answered');
CREATE TABLE adkw_keys (
    app TEXT NOT NULL, scope TEXT NOT NULL, key TEXT NOT NULL, target TEXT NOT NULL,
    digest TEXT NOT NULL, expires TIMESTAMP WITH TIME ZONE NOT NULL, PRIMARY KEY (app, scope, key));
CREATE INDEX adkw_keys_expires ON adkw_keys (expires);
UPDATE adkw_meta SET value = '6' WHERE key = 'version';
";

/// The version of the `adkw_` tables.
const VERSION: &str = "6";

/// Earlier versions, oldest first, with the statements that upgrade to the next one. New tables
/// start at the first version.
const UPGRADES: &[(&str, &str)] = &[
    ("1", FROM_1),
    ("2", FROM_2),
    ("3", FROM_3),
    ("4", FROM_4),
    ("5", FROM_5),
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
        sqlx::raw_sql(OURS)
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
