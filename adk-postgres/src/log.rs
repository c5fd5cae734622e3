//! [`Head`]: the rows of a session. They are locked, brought up to date with events of other
//! programs, and created; [`share`] changes the rows of its user and its app.

use crate::connection::PgConnection;
use crate::error::Doing;
use crate::exact::{self, Keys};
use crate::types::{Jsonb, Micros};
use adk_journal::StateDelta;
use adk_journal::session::{Scope, SessionKey, split};
use adk_model::Result;
use serde_json::Value;
use sqlx::Row as _;
use sqlx::postgres::PgRow;
use std::sync::Arc;

/// Maximum number of microseconds by which an event of another program is expected to be older than
/// events before it in the log.
const SKEW: u64 = 600_000_000;

/// The rows of a session, as the open transaction has locked them or as the last transaction has
/// left them.
#[derive(Clone, Debug)]
pub(crate) struct Head {
    /// Number in `adkw_sessions`.
    pub(crate) number: i64,
    /// Number of events in the log.
    pub(crate) len: u64,
    /// Latest time in the log.
    pub(crate) latest: u64,
    /// Update time of the session when this crate last read or wrote it. A later time shows a write
    /// of another program.
    pub(crate) seen: u64,
    /// Number of repeated claims and cancellations of the session's runs. A changed value shows
    /// that some claim may be outdated.
    pub(crate) takes: i64,
}

/// Locks the row of a session, as ADK does, and gives places in the log to events of other
/// programs. Returns `None` if the session does not exist.
pub(crate) async fn lock(connection: &mut PgConnection, key: &SessionKey) -> Result<Option<Head>> {
    let what = "lock a session";
    let sql = "SELECT s.update_time, n.number, n.len, n.seen, n.latest, n.takes FROM sessions s
        JOIN adkw_sessions n ON n.app_name = s.app_name AND n.user_id = s.user_id AND n.id = s.id
        WHERE s.app_name = $1 AND s.user_id = $2 AND s.id = $3 FOR NO KEY UPDATE";
    let mut found = None;
    for attempt in 0..2 {
        let query = sqlx::query(sql)
            .bind(&key.app)
            .bind(&key.user)
            .bind(&key.id);
        found = query.fetch_optional(&mut *connection).await.doing(what)?;
        if found.is_some() || attempt == 1 || !number(connection, key).await? {
            break;
        }
    }
    let Some(row) = found else { return Ok(None) };
    let read = |row: &PgRow| -> sqlx::Result<(Option<u64>, Head)> {
        let (updated, seen): (Micros, Option<Micros>) = (row.try_get(0)?, row.try_get(3)?);
        let latest: Micros = row.try_get(4)?;
        let len = u64::try_from(row.try_get::<i64, _>(2)?).unwrap_or(0);
        let (number, takes) = (row.try_get(1)?, row.try_get(5)?);
        let head = Head {
            number,
            len,
            latest: latest.0,
            seen: updated.0,
            takes,
        };
        Ok((seen.map(|seen| seen.0), head))
    };
    let (seen, mut head) = read(&row).doing(what)?;
    // Each program that appends an event also updates the time in the session's row.
    if seen != Some(head.seen) {
        adopt(connection, key, &mut head, seen.is_some()).await?;
    }
    Ok(Some(head))
}

/// Counts a claim or a cancellation in the row of its session, so that processes with an older
/// claim compare theirs.
pub(crate) async fn count_take(connection: &mut PgConnection, session: i64) -> sqlx::Result<()> {
    let sql = "UPDATE adkw_sessions SET takes = takes + 1 WHERE number = $1";
    let query = sqlx::query(sql).bind(session);
    query.execute(connection).await.map(drop)
}

/// Inserts the row in `adkw_sessions` for a session of another program. Returns `false` if the
/// session does not exist.
async fn number(connection: &mut PgConnection, key: &SessionKey) -> Result<bool> {
    let sql = "INSERT INTO adkw_sessions (app_name, user_id, id, latest)
        SELECT app_name, user_id, id, update_time FROM sessions
        WHERE app_name = $1 AND user_id = $2 AND id = $3
        ON CONFLICT DO NOTHING";
    let query = sqlx::query(sql)
        .bind(&key.app)
        .bind(&key.user)
        .bind(&key.id);
    query
        .execute(&mut *connection)
        .await
        .doing("number a session")?;
    let sql =
        "SELECT EXISTS (SELECT 1 FROM sessions WHERE app_name = $1 AND user_id = $2 AND id = $3)";
    let query = sqlx::query_scalar(sql)
        .bind(&key.app)
        .bind(&key.user)
        .bind(&key.id);
    query.fetch_one(connection).await.doing("number a session")
}

/// Gives places in the log to events that another program has appended.
async fn adopt(
    connection: &mut PgConnection,
    key: &SessionKey,
    head: &mut Head,
    is_near: bool,
) -> Result<()> {
    let what = "read events of another program";
    // The subquery looks up each event: for a join, a generic plan would read the whole log for
    // each event.
    let fresh = "WITH fresh AS (
            SELECT e.id, e.timestamp, row_number() OVER (ORDER BY e.timestamp, e.id) AS nth
            FROM events e WHERE e.app_name = $2 AND e.user_id = $3 AND e.session_id = $4
            AND e.timestamp >= $5
            AND (SELECT 1 FROM adkw_log l WHERE l.session = $1 AND l.event_id = e.id) IS NULL),
        added AS (INSERT INTO adkw_log (session, place, event_id, time)
            SELECT $1, $6 + nth - 1, id, timestamp FROM fresh)
        SELECT count(*), max(timestamp) FROM fresh";
    let all =
        "SELECT count(*) FROM events WHERE app_name = $1 AND user_id = $2 AND session_id = $3";
    // Most such events are near the end of the log, so the first round searches only there. The
    // second round searches all of it.
    let near = if is_near {
        head.latest.saturating_sub(SKEW)
    } else {
        0
    };
    for since in [near, 0] {
        let query = sqlx::query(fresh)
            .bind(head.number)
            .bind(&key.app)
            .bind(&key.user)
            .bind(&key.id);
        let query = query.bind(Micros(since)).bind(places(head.len));
        let row = query.fetch_one(&mut *connection).await.doing(what)?;
        head.len += u64::try_from(row.try_get::<i64, _>(0).doing(what)?).unwrap_or(0);
        let latest: Option<Micros> = row.try_get(1).doing(what)?;
        head.latest = head.latest.max(latest.map_or(0, |latest| latest.0));
        let query = sqlx::query_scalar::<_, i64>(all)
            .bind(&key.app)
            .bind(&key.user)
            .bind(&key.id);
        let count = query.fetch_one(&mut *connection).await.doing(what)?;
        if since == 0 || places(head.len) >= count {
            break;
        }
    }
    let sql = "UPDATE adkw_sessions SET len = $2, latest = $3, seen = $4 WHERE number = $1";
    let query = sqlx::query(sql).bind(head.number).bind(places(head.len));
    query
        .bind(Micros(head.latest))
        .bind(Micros(head.seen))
        .execute(connection)
        .await
        .doing(what)
        .map(drop)
}

/// Converts a number of events to the integer type of Postgres.
pub(crate) fn places(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// Changed keys of a session, of its user and of its app.
#[derive(Debug, Default)]
pub(crate) struct ChangedKeys {
    pub(crate) own: Keys,
    user: Keys,
    app: Keys,
}

impl ChangedKeys {
    /// Adds the changes of an event.
    pub(crate) fn add(&mut self, delta: &StateDelta) -> Result<()> {
        delta.iter().try_for_each(|(key, _)| exact::check(key))?;
        for (keys, part) in [&mut self.own, &mut self.user, &mut self.app]
            .into_iter()
            .zip(split(delta))
        {
            part.into_iter()
                .try_for_each(|(key, value): (&str, &Arc<Value>)| keys.insert(key, value))?;
        }
        Ok(())
    }

    /// Reports whether keys of the user or of the app change.
    pub(crate) fn is_shared(&self) -> bool {
        !self.app.is_empty() || !self.user.is_empty()
    }
}

pub(crate) fn object(keys: &serde_json::Map<String, Value>) -> Jsonb {
    Jsonb(Value::Object(keys.clone()).to_string())
}

/// Writes the changed keys of the app, then of the user, in the order that ADK uses.
pub(crate) async fn share(
    connection: &mut PgConnection,
    key: &SessionKey,
    ChangedKeys { app, user, .. }: &ChangedKeys,
    time: Micros,
) -> sqlx::Result<()> {
    if !app.is_empty() {
        let sql = "INSERT INTO app_states AS a (app_name, state, update_time) VALUES ($1, $2, $3)
            ON CONFLICT (app_name) DO UPDATE SET state = a.state || excluded.state,
                update_time = excluded.update_time";
        let row = sqlx::query(sql)
            .bind(&key.app)
            .bind(object(&app.shown))
            .bind(time);
        row.execute(&mut *connection).await?;
        share_exact(connection, key, "app", "", app).await?;
    }
    if !user.is_empty() {
        let sql = "INSERT INTO user_states AS u (app_name, user_id, state, update_time)
            VALUES ($1, $2, $3, $4)
            ON CONFLICT (app_name, user_id) DO UPDATE SET state = u.state || excluded.state,
                update_time = excluded.update_time";
        let row = sqlx::query(sql)
            .bind(&key.app)
            .bind(&key.user)
            .bind(object(&user.shown))
            .bind(time);
        row.execute(&mut *connection).await?;
        share_exact(connection, key, "user", &key.user, user).await?;
    }
    Ok(())
}

/// Locks the state of the app or of the user until the end of the transaction.
pub(crate) async fn hold(
    connection: &mut PgConnection,
    key: &SessionKey,
    scope: Scope,
) -> Result<()> {
    let what = "lock the state of a user or an app";
    // An existing row is locked without a change. A missing row is inserted, because otherwise
    // there is nothing to lock.
    let sql = match scope {
        Scope::App => {
            "INSERT INTO app_states (app_name, state, update_time)
            VALUES ($1, '{}', now() AT TIME ZONE 'UTC')
            ON CONFLICT (app_name) DO UPDATE SET state = excluded.state WHERE false"
        }
        _ => {
            "INSERT INTO user_states (app_name, user_id, state, update_time)
            VALUES ($1, $2, '{}', now() AT TIME ZONE 'UTC')
            ON CONFLICT (app_name, user_id) DO UPDATE SET state = excluded.state WHERE false"
        }
    };
    let query = sqlx::query(sql).bind(&key.app);
    let query = if scope == Scope::App {
        query
    } else {
        query.bind(&key.user)
    };
    query.execute(connection).await.doing(what).map(drop)
}

async fn share_exact(
    connection: &mut PgConnection,
    key: &SessionKey,
    scope: &str,
    user: &str,
    keys: &Keys,
) -> sqlx::Result<()> {
    if !keys.is_exact() {
        return Ok(());
    }
    let sql = "INSERT INTO adkw_shared AS x (app_name, scope, user_id, exact)
        VALUES ($1, $2, $3, $4)
        ON CONFLICT (app_name, scope, user_id) DO UPDATE
        SET exact = (x.exact - $5::text[]) || excluded.exact";
    let row = sqlx::query(sql)
        .bind(&key.app)
        .bind(scope)
        .bind(user)
        .bind(object(&keys.exact));
    row.bind(&keys.plain).execute(connection).await.map(drop)
}

/// Creates the rows of a session. Returns `false`, without a write, if the session already exists.
pub(crate) async fn create(
    connection: &mut PgConnection,
    key: &SessionKey,
    state: &StateDelta,
    now: u64,
) -> Result<bool> {
    let what = "make a session";
    let mut keys = ChangedKeys::default();
    keys.add(state)?;
    let sql = "INSERT INTO sessions (app_name, user_id, id, state, create_time, update_time)
        VALUES ($1, $2, $3, $4, $5, $5)
        ON CONFLICT DO NOTHING";
    let now = Micros(now);
    let query = sqlx::query(sql)
        .bind(&key.app)
        .bind(&key.user)
        .bind(&key.id);
    let made = query
        .bind(object(&keys.own.shown))
        .bind(now)
        .execute(&mut *connection)
        .await
        .doing(what)?;
    if made.rows_affected() == 0 {
        return Ok(false);
    }
    let sql = "INSERT INTO adkw_sessions (app_name, user_id, id, seen, latest, exact)
        VALUES ($1, $2, $3, $4, $4, $5)";
    let query = sqlx::query(sql)
        .bind(&key.app)
        .bind(&key.user)
        .bind(&key.id)
        .bind(now);
    query
        .bind(object(&keys.own.exact))
        .execute(&mut *connection)
        .await
        .doing(what)?;
    // ADK requires the rows of user and app before it appends, even if they are empty.
    let sql = "WITH app AS (INSERT INTO app_states (app_name, state, update_time)
            VALUES ($1, '{}', $3) ON CONFLICT DO NOTHING)
        INSERT INTO user_states (app_name, user_id, state, update_time) VALUES ($1, $2, '{}', $3)
        ON CONFLICT DO NOTHING";
    let query = sqlx::query(sql).bind(&key.app).bind(&key.user).bind(now);
    query.execute(&mut *connection).await.doing(what)?;
    share(connection, key, &keys, now).await.doing(what)?;
    Ok(true)
}

/// Deletes a session, and through foreign keys its rows in all tables.
pub(crate) async fn delete(connection: &mut PgConnection, key: &SessionKey) -> Result<bool> {
    let sql = "DELETE FROM sessions WHERE app_name = $1 AND user_id = $2 AND id = $3";
    let row = sqlx::query(sql)
        .bind(&key.app)
        .bind(&key.user)
        .bind(&key.id);
    let deleted = row.execute(connection).await.doing("delete a session")?;
    Ok(deleted.rows_affected() > 0)
}
