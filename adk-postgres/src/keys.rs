//! [`bind`]: idempotency keys of requests, as rows of `adkw_keys`.

use crate::connection::PgConnection;
use crate::error::{Doing, corrupt_error};
use adk_journal::engine::{KeyBinding, RequestKey};
use adk_model::Result;
use sqlx::Row as _;
use std::time::Duration;

/// Maximum number of expired rows that one call removes.
const BATCH: i64 = 64;

/// Maximum lifetime: 1,000 years in microseconds, because the times of Postgres end not much later.
const LONGEST: i64 = 1_000 * 365 * 86_400 * 1_000_000;

/// Number of attempts. An attempt fails if the key expires or is removed between its two
/// statements.
const ATTEMPTS: u32 = 8;

/// Binds a key to a run or wait if the key is free or bound to `replaces`. Returns the binding that
/// the key has afterwards. Each statement is a transaction of its own. The function may run twice:
/// a second attempt finds the binding of the first.
pub(crate) async fn bind(
    connection: &mut PgConnection,
    key: &RequestKey,
    binding: &KeyBinding,
    replaces: Option<&str>,
    lifetime: Duration,
) -> Result<KeyBinding> {
    let what = "bind the key of a request";
    let RequestKey {
        app, scope, key, ..
    } = key;
    let lifetime = i64::try_from(lifetime.as_micros())
        .unwrap_or(LONGEST)
        .min(LONGEST);
    for _ in 0..ATTEMPTS {
        let sql = "INSERT INTO adkw_keys AS k (app, scope, key, target, digest, expires)
            VALUES ($1, $2, $3, $4, $5, clock_timestamp() + $6 * interval '1 microsecond')
            ON CONFLICT (app, scope, key) DO UPDATE
            SET target = excluded.target, digest = excluded.digest, expires = excluded.expires
            WHERE k.expires <= clock_timestamp() OR k.target = $7";
        let query = sqlx::query(sql)
            .bind(app)
            .bind(scope)
            .bind(key)
            .bind(&binding.target)
            .bind(&binding.digest);
        let query = query.bind(lifetime).bind(replaces);
        if query
            .execute(&mut *connection)
            .await
            .doing(what)?
            .rows_affected()
            > 0
        {
            purge(connection).await?;
            return Ok(binding.clone());
        }
        let sql = "SELECT target, digest FROM adkw_keys WHERE app = $1 AND scope = $2 AND key = $3
            AND expires > clock_timestamp()";
        let query = sqlx::query(sql).bind(app).bind(scope).bind(key);
        if let Some(row) = query.fetch_optional(&mut *connection).await.doing(what)? {
            let text = |column| row.try_get::<String, _>(column).doing(what);
            return Ok(KeyBinding::new(text(0)?, text(1)?));
        }
    }
    Err(corrupt_error(format!(
        "the idempotency key `{key}` is neither free nor bound"
    )))
}

/// Removes some expired rows, except rows that other transactions remove or bind at this moment.
pub(crate) async fn purge(connection: &mut PgConnection) -> Result<()> {
    let sql = "DELETE FROM adkw_keys k USING
        (SELECT app, scope, key FROM adkw_keys WHERE expires <= clock_timestamp()
            ORDER BY expires LIMIT $1 FOR UPDATE SKIP LOCKED) o
        WHERE k.app = o.app AND k.scope = o.scope AND k.key = o.key";
    let purged = sqlx::query(sql).bind(BATCH).execute(connection).await;
    purged.doing("remove expired keys of requests").map(drop)
}
