//! The tables: those of ADK's schema version 1, and the further tables of this crate.

use crate::error::{Doing, corrupt_error};
use adk_model::{Error, ErrorKind, Result, StoreErrorKind};
use adk_store::sessions::adk_tables;
use rusqlite::{Connection, OptionalExtension};

// The tables of the newest version. The files say what each table is for.
const TAIL: &str = include_str!("schema/tail.sql");
const OURS: &str = include_str!("schema/runs.sql");
const ARTIFACTS: &str = include_str!("schema/artifacts.sql");
const MEMORY: &str = include_str!("schema/memory.sql");
const KEYS: &str = include_str!("schema/keys.sql");

/// The version of the `adkw_` tables.
const VERSION: &str = "10";

/// Statements that upgrade the tables from a version to the next one. Missing tables are created
/// afterwards.
const UPGRADES: &[(&str, &str)] = &[
    // Version 3 had no `adkw_tail`: its whole log is in `adkw_log`.
    ("3", TAIL),
    ("4", include_str!("schema/from_4.sql")),
    ("5", include_str!("schema/from_5.sql")),
    // Version 6 had no memory.
    ("6", ""),
    ("7", include_str!("schema/from_7.sql")),
    ("8", include_str!("schema/from_8.sql")),
    ("9", include_str!("schema/from_9.sql")),
];

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
