//! The tables: those of ADK's schema version 1, and the further tables of this crate.

use crate::error::{Doing, corrupt_error};
use adk_model::{Error, ErrorKind, Result, StoreErrorKind};
use adk_store::sessions::adk_tables;
use rusqlite::{Connection, OptionalExtension};

/// The newest rows of the log, for all sessions together (see `tail.rs`).
const TAIL: &str = "
CREATE TABLE IF NOT EXISTS adkw_tail (
    number INTEGER PRIMARY KEY,
    session INTEGER NOT NULL REFERENCES adkw_sessions (number) ON DELETE CASCADE,
    place INTEGER NOT NULL, event_id TEXT NOT NULL, micros INTEGER NOT NULL, run INTEGER,
    slot TEXT, temp TEXT, done TEXT,
    UNIQUE (session, place));
CREATE UNIQUE INDEX IF NOT EXISTS adkw_tail_slot ON adkw_tail (run, slot) WHERE run IS NOT NULL;
";

/// The version of the `adkw_` tables.
const VERSION: &str = "9";

/// Statements that upgrade the tables from a version to the next one. Missing tables are created
/// afterwards.
const UPGRADES: &[(&str, &str)] = &[
    // Version 3 had no `adkw_tail`: its whole log is in `adkw_log`.
    ("3", TAIL),
    // Version 4 had no columns to search runs and waits by.
    (
        "4",
        "ALTER TABLE adkw_runs ADD COLUMN app TEXT NOT NULL DEFAULT '';
         ALTER TABLE adkw_runs ADD COLUMN workflow TEXT NOT NULL DEFAULT '';
         ALTER TABLE adkw_runs ADD COLUMN epoch INTEGER NOT NULL DEFAULT 1;
         ALTER TABLE adkw_waits ADD COLUMN app TEXT NOT NULL DEFAULT '';
         ALTER TABLE adkw_waits ADD COLUMN deadline INTEGER;
         UPDATE adkw_runs SET
            app = (SELECT s.app_name FROM adkw_sessions s WHERE s.number = session),
            workflow = iif(json_valid(record), record ->> 'workflow', '');
         UPDATE adkw_waits SET app = coalesce((SELECT r.app FROM adkw_runs r WHERE r.id = run), ''),
            deadline = iif(json_valid(waiting), waiting ->> 'deadline', NULL);
         DELETE FROM adkw_waits WHERE answer IS NULL
            AND run IN (SELECT id FROM adkw_runs WHERE status NOT IN ('running', 'paused'));
         UPDATE adkw_runs SET status = 'answered' WHERE status = 'paused' AND id IN
            (SELECT run FROM adkw_waits WHERE answer IS NOT NULL AND NOT seen);
         DROP INDEX IF EXISTS adkw_runs_open;",
    ),
    // Version 5 kept neither the times nor the usage of a run. Ended runs get the time of their
    // last event.
    (
        "5",
        "ALTER TABLE adkw_runs ADD COLUMN created INTEGER NOT NULL DEFAULT 0;
         ALTER TABLE adkw_runs ADD COLUMN updated INTEGER NOT NULL DEFAULT 0;
         ALTER TABLE adkw_runs ADD COLUMN usage TEXT;
         UPDATE adkw_runs SET created = iif(json_valid(record), coalesce(record ->> 'time', 0), 0);
         UPDATE adkw_runs SET updated = max(created,
            coalesce((SELECT max(micros) FROM adkw_log WHERE run = number), 0),
            coalesce((SELECT max(micros) FROM adkw_tail WHERE run = number), 0));",
    ),
    // Version 6 had no memory.
    ("6", ""),
    // Version 7 had no index that ends a limited search for waits, or for runs of an owner or a
    // session.
    (
        "7",
        "ALTER TABLE adkw_waits ADD COLUMN session INTEGER NOT NULL DEFAULT 0;
         UPDATE adkw_waits SET
            session = coalesce((SELECT r.session FROM adkw_runs r WHERE r.id = run), 0);
         DROP INDEX IF EXISTS adkw_runs_driven; DROP INDEX IF EXISTS adkw_runs_session;",
    ),
    // Version 8 knew no tenants, no queued runs and no keys of requests.
    (
        "8",
        "ALTER TABLE adkw_runs ADD COLUMN tenant_of TEXT;
         ALTER TABLE adkw_waits ADD COLUMN tenant_of TEXT;
         DROP INDEX IF EXISTS adkw_runs_unfinished; DROP INDEX IF EXISTS adkw_runs_free;",
    ),
];

/// Tables of runs and of the log. Deleting a session in ADK's table deletes its rows here.
///
/// * `adkw_log`: the order of a session's events, with the run (by number) and the slot that each
///   event fills, and the agents that had finished by then.
/// * `adkw_runs`, `adkw_steps`, `adkw_waits`: the registry of runs and their journals. `epoch` is
///   the number of the latest claim of a run. `status` is `queued` for a run that waits for its
///   session, and `answered` for a paused run with an unread answer. `updated` is the time of the
///   last write in microseconds. A run that an engine above the store drives has the epoch 0, and
///   the owner `@` until it ends.
/// * `adkw_done`: agents that have finished after the last event of their run.
///
/// `tenant_of` is the app that has the app of the run or wait as a tenant; null for an app that is
/// not a tenant.
///
/// Apart from ADK's rows, an event writes only its row in the log, because SQLite writes each
/// touched page as a whole.
const OURS: &str = "
CREATE TABLE IF NOT EXISTS adkw_meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS adkw_sessions (
    number INTEGER PRIMARY KEY AUTOINCREMENT, app_name TEXT NOT NULL, user_id TEXT NOT NULL,
    id TEXT NOT NULL, UNIQUE (app_name, user_id, id),
    FOREIGN KEY (app_name, user_id, id)
        REFERENCES sessions (app_name, user_id, id) ON DELETE CASCADE);
CREATE TABLE IF NOT EXISTS adkw_log (
    session INTEGER NOT NULL REFERENCES adkw_sessions (number) ON DELETE CASCADE,
    place INTEGER NOT NULL, event_id TEXT NOT NULL, micros INTEGER NOT NULL, run INTEGER,
    slot TEXT, temp TEXT, done TEXT,
    PRIMARY KEY (session, place)) WITHOUT ROWID;
CREATE UNIQUE INDEX IF NOT EXISTS adkw_log_slot ON adkw_log (run, slot) WHERE run IS NOT NULL;
CREATE TABLE IF NOT EXISTS adkw_runs (
    number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE,
    session INTEGER NOT NULL REFERENCES adkw_sessions (number) ON DELETE CASCADE,
    status TEXT NOT NULL, error TEXT, owner TEXT, record TEXT NOT NULL,
    app TEXT NOT NULL DEFAULT '', workflow TEXT NOT NULL DEFAULT '',
    epoch INTEGER NOT NULL DEFAULT 1, created INTEGER NOT NULL DEFAULT 0,
    updated INTEGER NOT NULL DEFAULT 0, usage TEXT, tenant_of TEXT);
CREATE INDEX IF NOT EXISTS adkw_runs_unfinished ON adkw_runs (app, id)
    WHERE status IN ('queued', 'running', 'paused', 'answered');
CREATE INDEX IF NOT EXISTS adkw_runs_free ON adkw_runs (app, id)
    WHERE owner IS NULL AND status IN ('queued', 'running', 'answered');
CREATE INDEX IF NOT EXISTS adkw_runs_driven ON adkw_runs (owner, app, id) WHERE owner IS NOT NULL;
CREATE INDEX IF NOT EXISTS adkw_runs_tenants ON adkw_runs (owner, tenant_of, id)
    WHERE tenant_of IS NOT NULL AND status IN ('queued', 'running', 'answered');
CREATE INDEX IF NOT EXISTS adkw_runs_failed ON adkw_runs (app, id) WHERE status = 'failed';
CREATE INDEX IF NOT EXISTS adkw_runs_cancelled ON adkw_runs (app, id) WHERE status = 'cancelled';
CREATE INDEX IF NOT EXISTS adkw_runs_session ON adkw_runs (session, id);
CREATE TABLE IF NOT EXISTS adkw_steps (
    run TEXT NOT NULL REFERENCES adkw_runs (id) ON DELETE CASCADE, key TEXT NOT NULL,
    value TEXT NOT NULL, PRIMARY KEY (run, key)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS adkw_done (
    run TEXT NOT NULL REFERENCES adkw_runs (id) ON DELETE CASCADE, path TEXT NOT NULL,
    done TEXT NOT NULL, PRIMARY KEY (run, path)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS adkw_waits (
    number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE,
    run TEXT NOT NULL REFERENCES adkw_runs (id) ON DELETE CASCADE, key TEXT NOT NULL,
    waiting TEXT NOT NULL, answer TEXT, seen INTEGER NOT NULL DEFAULT 0,
    app TEXT NOT NULL DEFAULT '', deadline INTEGER, session INTEGER NOT NULL DEFAULT 0,
    tenant_of TEXT);
CREATE INDEX IF NOT EXISTS adkw_waits_run ON adkw_waits (run);
CREATE INDEX IF NOT EXISTS adkw_waits_open ON adkw_waits (app) WHERE answer IS NULL;
CREATE INDEX IF NOT EXISTS adkw_waits_session ON adkw_waits (session) WHERE answer IS NULL;
CREATE INDEX IF NOT EXISTS adkw_waits_due ON adkw_waits (app, deadline)
    WHERE answer IS NULL AND deadline IS NOT NULL;
CREATE INDEX IF NOT EXISTS adkw_waits_tenants ON adkw_waits (tenant_of, deadline)
    WHERE tenant_of IS NOT NULL AND answer IS NULL AND deadline IS NOT NULL;
";

/// Versions of artifacts. A user's artifacts have no session; deleting a session in ADK's table
/// deletes its artifacts.
const ARTIFACTS: &str = "
CREATE TABLE IF NOT EXISTS adkw_artifacts (
    app_name TEXT NOT NULL, user_id TEXT NOT NULL, session_id TEXT, name TEXT NOT NULL,
    version INTEGER NOT NULL, part TEXT NOT NULL, data BLOB,
    FOREIGN KEY (app_name, user_id, session_id)
        REFERENCES sessions (app_name, user_id, id) ON DELETE CASCADE);
CREATE UNIQUE INDEX IF NOT EXISTS adkw_artifacts_version
    ON adkw_artifacts (app_name, user_id, ifnull(session_id, ''), name, version);
";

/// Memory entries, which stay when their session is deleted. The full text index contains only
/// words.
const MEMORY: &str = "
CREATE TABLE IF NOT EXISTS adkw_memory (
    number INTEGER PRIMARY KEY, app_name TEXT NOT NULL, user_id TEXT NOT NULL,
    session_id TEXT NOT NULL, id TEXT NOT NULL, author TEXT NOT NULL, time TEXT NOT NULL,
    content TEXT NOT NULL, UNIQUE (app_name, user_id, session_id, id));
CREATE VIRTUAL TABLE IF NOT EXISTS adkw_memory_words USING fts5 (
    owner, words, content = '', contentless_delete = 1, tokenize = 'unicode61 remove_diacritics 0');
CREATE TRIGGER IF NOT EXISTS adkw_memory_deleted AFTER DELETE ON adkw_memory BEGIN
    DELETE FROM adkw_memory_words WHERE rowid = old.number; END;
CREATE TABLE IF NOT EXISTS adkw_memory_marks (
    app_name TEXT NOT NULL, user_id TEXT NOT NULL, session_id TEXT NOT NULL,
    events INTEGER NOT NULL, last TEXT NOT NULL,
    PRIMARY KEY (app_name, user_id, session_id)) WITHOUT ROWID;
";

/// Idempotency keys of requests. Each is bound to a run or wait, and has an expiry in microseconds.
const KEYS: &str = "
CREATE TABLE IF NOT EXISTS adkw_keys (
    app TEXT NOT NULL, scope TEXT NOT NULL, key TEXT NOT NULL, target TEXT NOT NULL,
    digest TEXT NOT NULL, expires INTEGER NOT NULL, PRIMARY KEY (app, scope, key)) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS adkw_keys_expires ON adkw_keys (expires);
";

fn has_table(connection: &Connection, table: &str) -> Result<bool> {
    let sql = "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?1";
    connection
        .query_row(sql, [table], |_| Ok(()))
        .optional()
        .map(|row| row.is_some())
        .doing("look for its tables")
}

/// Rejects a database without ADK's tables, which are always created together with the `adkw_`
/// tables.
pub(crate) fn check_there(connection: &Connection) -> Result<()> {
    if has_table(connection, "adk_internal_metadata")? || has_table(connection, "sessions")? {
        return Ok(());
    }
    let message = format!(
        "the database `{}` has no tables of agents",
        connection.path().unwrap_or_default()
    );
    Err(
        Error::new(ErrorKind::Store(StoreErrorKind::Missing), message)
            .with_help("check the path; a program creates the tables when it opens the store"),
    )
}

/// Creates missing tables, and upgrades tables of earlier versions.
pub(crate) fn prepare(connection: &Connection) -> Result<()> {
    let version = if has_table(connection, "adk_internal_metadata")? {
        let sql = "SELECT value FROM adk_internal_metadata WHERE key = 'schema_version'";
        connection
            .query_row(sql, [], |row| row.get::<_, String>(0))
            .optional()
            .doing("read its version")?
    } else {
        None
    };
    if version.as_deref() != Some("1") && has_table(connection, "sessions")? {
        let found = version.map_or("an older schema".to_owned(), |version| {
            format!("schema version {version}")
        });
        return Err(corrupt_error(format!(
            "the file has ADK's tables of {found}; this crate reads version 1"
        )));
    }
    if has_table(connection, "adkw_meta")? {
        let own = own_version(connection)?;
        if UPGRADES.iter().any(|(version, _)| *version == own) {
            return create_in_transaction(connection, || {
                // Another process may have upgraded the tables before this transaction began.
                let own = own_version(connection)?;
                let first = UPGRADES
                    .iter()
                    .position(|(version, _)| *version == own)
                    .unwrap_or(UPGRADES.len());
                let changes: String = UPGRADES[first..]
                    .iter()
                    .map(|(_, change)| *change)
                    .collect();
                Ok(format!(
                    "{changes}{OURS}{ARTIFACTS}{MEMORY}{KEYS}
                    UPDATE adkw_meta SET value = '{VERSION}' WHERE key = 'version';"
                ))
            });
        }
        if own != VERSION {
            let message = format!(
                "the file has the tables of version {own} of this crate's format; this program \
                 reads version {VERSION}"
            );
            return Err(corrupt_error(message).with_help(
                "export its sessions with the program that wrote it, and import them into a new \
                 file",
            ));
        }
        return Ok(());
    }
    let version = format!("INSERT OR IGNORE INTO adkw_meta VALUES ('version', '{VERSION}');");
    create_in_transaction(connection, || {
        let adk = adk_tables("TEXT", "DATETIME");
        Ok(format!(
            "{adk}{TAIL}{OURS}{ARTIFACTS}{MEMORY}{KEYS}{version}"
        ))
    })
}

fn own_version(connection: &Connection) -> Result<String> {
    let sql = "SELECT value FROM adkw_meta WHERE key = 'version'";
    connection
        .query_row(sql, [], |row| row.get(0))
        .doing("read its version")
}

/// Creates tables in one transaction. Calls `tables` inside it, when no other process can change
/// the version.
fn create_in_transaction(
    connection: &Connection,
    tables: impl FnOnce() -> Result<String>,
) -> Result<()> {
    let what = "make its tables";
    connection.execute_batch("BEGIN IMMEDIATE").doing(what)?;
    let made = tables().and_then(|tables| {
        connection
            .execute_batch(&format!("{tables}COMMIT;"))
            .doing(what)
    });
    if made.is_err() && !connection.is_autocommit() {
        let _ = connection.execute_batch("ROLLBACK");
    }
    made
}
