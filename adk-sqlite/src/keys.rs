//! [`bind`]: idempotency keys of requests, as rows of `adkw_keys`.

use crate::error::Doing;
use adk_journal::engine::{KeyBinding, RequestKey};
use adk_journal::session::now_micros;
use adk_model::Result;
use rusqlite::{Connection, OptionalExtension, params};
use std::time::Duration;

/// Maximum number of expired rows that one call removes.
const BATCH: u32 = 64;

/// Binds a key to a run or wait if the key is free or bound to `replaces`. Returns the binding that
/// the key has afterwards. Also removes some expired rows.
pub(crate) fn bind(
    connection: &Connection,
    key: &RequestKey,
    binding: &KeyBinding,
    replaces: Option<&str>,
    lifetime: Duration,
) -> Result<KeyBinding> {
    let what = "bind the key of a request";
    let now = now_micros();
    let RequestKey {
        app, scope, key, ..
    } = key;
    let sql = "SELECT target, digest FROM adkw_keys
        WHERE app = ?1 AND scope = ?2 AND key = ?3 AND expires > ?4";
    let bound = connection.prepare_cached(sql).and_then(|mut statement| {
        let row = |row: &rusqlite::Row<'_>| {
            Ok(KeyBinding::new(
                row.get::<_, String>(0)?,
                row.get::<_, String>(1)?,
            ))
        };
        statement
            .query_row(params![app, scope, key, now], row)
            .optional()
    });
    if let Some(bound) = bound
        .doing(what)?
        .filter(|bound| replaces != Some(&bound.target))
    {
        return Ok(bound);
    }
    let lifetime = u64::try_from(lifetime.as_micros()).unwrap_or(u64::MAX);
    let expires = i64::try_from(now.saturating_add(lifetime)).unwrap_or(i64::MAX);
    let sql = "INSERT OR REPLACE INTO adkw_keys (app, scope, key, target, digest, expires)
        VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
    let row = params![app, scope, key, binding.target, binding.digest, expires];
    connection
        .prepare_cached(sql)
        .and_then(|mut statement| statement.execute(row))
        .doing(what)?;
    purge(connection)?;
    Ok(binding.clone())
}

/// Removes some expired rows.
pub(crate) fn purge(connection: &Connection) -> Result<()> {
    let sql = "DELETE FROM adkw_keys WHERE (app, scope, key) IN
        (SELECT app, scope, key FROM adkw_keys WHERE expires <= ?1 ORDER BY expires LIMIT ?2)";
    let purged = connection
        .prepare_cached(sql)
        .and_then(|mut statement| statement.execute(params![now_micros(), BATCH]));
    purged.doing("remove expired keys of requests").map(drop)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by a panic")]

    use super::*;

    #[test]
    fn expired_rows_are_removed_in_batches_by_an_index() {
        let connection = Connection::open_in_memory().unwrap();
        crate::schema::prepare(&connection).unwrap();
        let count = || {
            connection
                .query_row("SELECT count(*) FROM adkw_keys", [], |row| {
                    row.get::<_, u32>(0)
                })
                .unwrap()
        };
        let many = 3 * BATCH;
        for nth in 0..many {
            let sql = "INSERT INTO adkw_keys VALUES ('app', 'scope', ?1, 'run', 'digest', 1)";
            connection.execute(sql, [nth.to_string()]).unwrap();
        }
        let binding = KeyBinding::new("run", "digest");
        for nth in 1..=4 {
            let key = RequestKey::new("app", "scope", format!("new {nth}"));
            bind(&connection, &key, &binding, None, Duration::from_secs(60)).unwrap();
            assert_eq!(count(), many.saturating_sub(nth * BATCH) + nth);
        }
        let sql = "EXPLAIN QUERY PLAN SELECT app, scope, key FROM adkw_keys WHERE expires <= 1
            ORDER BY expires LIMIT 1";
        let plan: String = connection.query_row(sql, [], |row| row.get(3)).unwrap();
        assert!(
            plan.contains("INDEX adkw_keys_expires (expires<?)"),
            "{plan}"
        );
    }
}
