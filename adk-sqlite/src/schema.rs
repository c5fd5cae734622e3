//! The tables: those of ADK's schema version 1, and ours beside them.

use crate::error::{Doing, corrupt};
use adk_core::Result;
use rusqlite::{Connection, OptionalExtension};

/// As google-adk 2.13 makes them (`sessions/schemas/v1.py`).
const ADK: &str = "
CREATE TABLE IF NOT EXISTS adk_internal_metadata (
    key VARCHAR(128) NOT NULL, value VARCHAR(256) NOT NULL, PRIMARY KEY (key));
CREATE TABLE IF NOT EXISTS sessions (
    app_name VARCHAR(128) NOT NULL, user_id VARCHAR(128) NOT NULL, id VARCHAR(128) NOT NULL,
    state TEXT NOT NULL, create_time DATETIME NOT NULL, update_time DATETIME NOT NULL,
    PRIMARY KEY (app_name, user_id, id));
CREATE TABLE IF NOT EXISTS app_states (
    app_name VARCHAR(128) NOT NULL, state TEXT NOT NULL, update_time DATETIME NOT NULL, PRIMARY KEY (app_name));
CREATE TABLE IF NOT EXISTS user_states (
    app_name VARCHAR(128) NOT NULL, user_id VARCHAR(128) NOT NULL, state TEXT NOT NULL, update_time DATETIME NOT NULL,
    PRIMARY KEY (app_name, user_id));
CREATE TABLE IF NOT EXISTS events (
    id VARCHAR(128) NOT NULL, app_name VARCHAR(128) NOT NULL, user_id VARCHAR(128) NOT NULL,
    session_id VARCHAR(128) NOT NULL, invocation_id VARCHAR(256) NOT NULL, timestamp DATETIME NOT NULL, event_data TEXT,
    PRIMARY KEY (id, app_name, user_id, session_id),
    FOREIGN KEY(app_name, user_id, session_id) REFERENCES sessions (app_name, user_id, id) ON DELETE CASCADE);
CREATE INDEX IF NOT EXISTS idx_events_app_user_session_ts_id
    ON events (app_name, user_id, session_id, timestamp DESC, id DESC);
INSERT OR IGNORE INTO adk_internal_metadata VALUES ('schema_version', '1');
";

/// The version of our tables.
const VERSION: &str = "5";

/// Earlier versions, oldest first, each with what makes the next of it.
///
/// * 3 had no `adkw_tail`: all of its log is in `adkw_log`.
/// * 4 had no `adkw_artifacts`.
const UPGRADES: &[(&str, &str)] = &[("3", OURS), ("4", ARTIFACTS)];

/// Ours. A session that ADK deletes takes its rows here along.
///
/// * `adkw_log`: the order of the events of a session, which slot of which run (by its number) an event fills, and which
///   agents had finished by then. `adkw_tail`: its newest rows, of all sessions together (see `tail.rs`).
/// * `adkw_runs`, `adkw_steps`, `adkw_waits`: the book of runs and their journals. `adkw_done`: agents that have finished
///   after the last event of their run.
///
/// All that an event writes beside ADK's rows is its row in the log, since each page that is touched is written whole.
const OURS: &str = "
CREATE TABLE IF NOT EXISTS adkw_meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS adkw_sessions (
    number INTEGER PRIMARY KEY AUTOINCREMENT, app_name TEXT NOT NULL, user_id TEXT NOT NULL, id TEXT NOT NULL,
    UNIQUE (app_name, user_id, id),
    FOREIGN KEY (app_name, user_id, id) REFERENCES sessions (app_name, user_id, id) ON DELETE CASCADE);
CREATE TABLE IF NOT EXISTS adkw_log (
    session INTEGER NOT NULL REFERENCES adkw_sessions (number) ON DELETE CASCADE, place INTEGER NOT NULL,
    event_id TEXT NOT NULL, micros INTEGER NOT NULL, run INTEGER, slot TEXT, temp TEXT, done TEXT,
    PRIMARY KEY (session, place)) WITHOUT ROWID;
CREATE UNIQUE INDEX IF NOT EXISTS adkw_log_slot ON adkw_log (run, slot) WHERE run IS NOT NULL;
CREATE TABLE IF NOT EXISTS adkw_tail (
    number INTEGER PRIMARY KEY,
    session INTEGER NOT NULL REFERENCES adkw_sessions (number) ON DELETE CASCADE, place INTEGER NOT NULL,
    event_id TEXT NOT NULL, micros INTEGER NOT NULL, run INTEGER, slot TEXT, temp TEXT, done TEXT,
    UNIQUE (session, place));
CREATE UNIQUE INDEX IF NOT EXISTS adkw_tail_slot ON adkw_tail (run, slot) WHERE run IS NOT NULL;
CREATE TABLE IF NOT EXISTS adkw_runs (
    number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE,
    session INTEGER NOT NULL REFERENCES adkw_sessions (number) ON DELETE CASCADE,
    status TEXT NOT NULL, error TEXT, owner TEXT, record TEXT NOT NULL);
CREATE INDEX IF NOT EXISTS adkw_runs_open ON adkw_runs (id) WHERE status IN ('running', 'paused');
CREATE INDEX IF NOT EXISTS adkw_runs_session ON adkw_runs (session);
CREATE TABLE IF NOT EXISTS adkw_steps (
    run TEXT NOT NULL REFERENCES adkw_runs (id) ON DELETE CASCADE, key TEXT NOT NULL, value TEXT NOT NULL,
    PRIMARY KEY (run, key)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS adkw_done (
    run TEXT NOT NULL REFERENCES adkw_runs (id) ON DELETE CASCADE, path TEXT NOT NULL, done TEXT NOT NULL,
    PRIMARY KEY (run, path)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS adkw_waits (
    number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE,
    run TEXT NOT NULL REFERENCES adkw_runs (id) ON DELETE CASCADE, key TEXT NOT NULL, waiting TEXT NOT NULL, answer TEXT,
    seen INTEGER NOT NULL DEFAULT 0);
CREATE INDEX IF NOT EXISTS adkw_waits_run ON adkw_waits (run);
";

/// Versions of artifacts. Those of a user have no session; those of a session go with it, also when ADK deletes it.
const ARTIFACTS: &str = "
CREATE TABLE IF NOT EXISTS adkw_artifacts (
    app_name TEXT NOT NULL, user_id TEXT NOT NULL, session_id TEXT, name TEXT NOT NULL, version INTEGER NOT NULL,
    part TEXT NOT NULL, data BLOB,
    FOREIGN KEY (app_name, user_id, session_id) REFERENCES sessions (app_name, user_id, id) ON DELETE CASCADE);
CREATE UNIQUE INDEX IF NOT EXISTS adkw_artifacts_version
    ON adkw_artifacts (app_name, user_id, ifnull(session_id, ''), name, version);
";

/// Makes the tables that are not there.
pub(crate) fn prepare(connection: &Connection) -> Result<()> {
    let has = |table: &str| {
        let sql = "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?1";
        connection.query_row(sql, [table], |_| Ok(())).optional().doing("look for its tables")
    };
    let version = match has("adk_internal_metadata")? {
        None => None,
        Some(()) => {
            let sql = "SELECT value FROM adk_internal_metadata WHERE key = 'schema_version'";
            connection
                .query_row(sql, [], |row| row.get::<_, String>(0))
                .optional()
                .doing("read its version")?
        }
    };
    if version.as_deref() != Some("1") && has("sessions")?.is_some() {
        let found =
            version.map_or("an older schema".to_owned(), |version| format!("schema version {version}"));
        return Err(corrupt(format!("the file has ADK's tables of {found}, and this crate knows version 1")));
    }
    if has("adkw_meta")?.is_some() {
        let own = own_version(connection)?;
        if UPGRADES.iter().any(|(version, _)| *version == own) {
            return whole(connection, || {
                // Another process may have done it meanwhile.
                let own = own_version(connection)?;
                let first =
                    UPGRADES.iter().position(|(version, _)| *version == own).unwrap_or(UPGRADES.len());
                let changes: String = UPGRADES[first..].iter().map(|(_, change)| *change).collect();
                Ok(format!("{changes}UPDATE adkw_meta SET value = '{VERSION}' WHERE key = 'version';"))
            });
        }
        if own != VERSION {
            let message = format!(
                "the file has the tables of version {own} of this crate's format, and this program knows version {VERSION}"
            );
            return Err(corrupt(message).with_help(
                "export its sessions with the program that wrote it, and import them into a new file",
            ));
        }
        return Ok(());
    }
    let version = format!("INSERT OR IGNORE INTO adkw_meta VALUES ('version', '{VERSION}');");
    whole(connection, || Ok(format!("{ADK}{OURS}{ARTIFACTS}{version}")))
}

fn own_version(connection: &Connection) -> Result<String> {
    let sql = "SELECT value FROM adkw_meta WHERE key = 'version'";
    connection.query_row(sql, [], |row| row.get(0)).doing("read its version")
}

/// Makes tables all together or not at all. Which, is asked when no other process can change them any more.
fn whole(connection: &Connection, tables: impl FnOnce() -> Result<String>) -> Result<()> {
    let what = "make its tables";
    connection.execute_batch("BEGIN IMMEDIATE").doing(what)?;
    let made = tables().and_then(|tables| connection.execute_batch(&format!("{tables}COMMIT;")).doing(what));
    if made.is_err() && !connection.is_autocommit() {
        let _ = connection.execute_batch("ROLLBACK");
    }
    made
}
