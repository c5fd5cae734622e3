//! Waits of runs as rows.

use crate::connection::PgConnection;
use crate::error::Doing;
use crate::runs::{Whose, key_of, select};
use adk_journal::engine::{
    ClaimId, DueWaits, RunFilter, Wait, Waiting, from_text, refuse, to_text,
};
use adk_model::Result;
use serde_json::Value;
use sqlx::postgres::PgRow;
use sqlx::{QueryBuilder, Row as _};

/// Returns the answer to a wait. Opens the wait if it does not exist.
pub(crate) async fn wait(
    connection: &mut PgConnection,
    claim: ClaimId,
    wait: &Wait,
) -> Result<Option<Value>> {
    let what = "open a wait";
    let id = wait.key.id();
    let sql = "INSERT INTO adkw_waits (id, run, key, waiting, app, deadline, session, tenant_of)
        SELECT $1, $2, $3, $4, $5, $6, session, tenant_of FROM adkw_runs WHERE id = $2
        ON CONFLICT DO NOTHING";
    // An engine above the store keeps the deadlines of its runs.
    let deadline = wait.waiting.deadline.filter(|_| !claim.is_driven_above());
    let deadline = deadline.map(|deadline| i64::try_from(deadline).unwrap_or(i64::MAX));
    let query = sqlx::query(sql)
        .bind(&id)
        .bind(wait.key.run_id.to_string())
        .bind(wait.key.to_string());
    let query = query
        .bind(to_text(&wait.waiting)?)
        .bind(&wait.session.app)
        .bind(deadline);
    query.execute(&mut *connection).await.doing(what)?;
    let sql = "SELECT answer FROM adkw_waits WHERE id = $1";
    let query = sqlx::query_scalar::<_, Option<String>>(sql).bind(&id);
    let answer = query
        .fetch_optional(&mut *connection)
        .await
        .doing(what)?
        .flatten();
    if answer.is_some() {
        let sql = "UPDATE adkw_waits SET seen = TRUE WHERE id = $1";
        sqlx::query(sql)
            .bind(&id)
            .execute(connection)
            .await
            .doing(what)?;
    }
    answer.map(|text| from_text(&text, "an answer")).transpose()
}

/// Removes waits that no agent awaits any more, if they are open. Answered waits stay, and their
/// answers count as read.
pub(crate) async fn withdraw(connection: &mut PgConnection, waits: &[String]) -> Result<()> {
    let what = "withdraw a wait";
    let sql = "DELETE FROM adkw_waits WHERE id = ANY($1) AND answer IS NULL";
    sqlx::query(sql)
        .bind(waits)
        .execute(&mut *connection)
        .await
        .doing(what)?;
    let sql = "UPDATE adkw_waits SET seen = TRUE WHERE id = ANY($1)";
    sqlx::query(sql)
        .bind(waits)
        .execute(connection)
        .await
        .doing(what)
        .map(drop)
}

/// Answers an open wait. Locks the row of its session, so that its run is neither claimed nor
/// closed at the same time.
pub(crate) async fn resolve(
    connection: &mut PgConnection,
    app: &str,
    id: &str,
    answer: &Value,
) -> Result<()> {
    let what = "answer a wait";
    let sql = "SELECT 1 FROM sessions s JOIN adkw_sessions n
            ON n.app_name = s.app_name AND n.user_id = s.user_id AND n.id = s.id
        JOIN adkw_runs r ON r.session = n.number JOIN adkw_waits w ON w.run = r.id
        WHERE w.id = $2 AND w.app = $1 FOR NO KEY UPDATE OF s";
    sqlx::query(sql)
        .bind(app)
        .bind(id)
        .execute(&mut *connection)
        .await
        .doing(what)?;
    open_wait(&mut *connection, app, id).await?;
    let sql = "WITH answered AS (UPDATE adkw_waits SET answer = $2 WHERE id = $1 RETURNING run)
        UPDATE adkw_runs r SET status = 'answered' FROM answered a
            WHERE r.id = a.run AND r.status = 'paused'";
    let query = sqlx::query(sql).bind(id).bind(answer.to_string());
    query.execute(connection).await.doing(what).map(drop)
}

/// Reads an open wait of an app by its id.
pub(crate) async fn open_wait(
    connection: &mut PgConnection,
    app: &str,
    id: &str,
) -> Result<Waiting> {
    let what = "look for a wait";
    let sql =
        "SELECT w.waiting, s.app_name, s.user_id, s.id, w.answer IS NOT NULL FROM adkw_waits w
        JOIN adkw_runs r ON r.id = w.run JOIN adkw_sessions s ON s.number = r.session
        WHERE w.id = $2 AND w.app = $1
        AND (w.answer IS NOT NULL OR r.status IN ('running', 'paused', 'answered'))";
    let row = sqlx::query(sql)
        .bind(app)
        .bind(id)
        .fetch_optional(connection)
        .await
        .doing(what)?;
    let row = row.ok_or_else(|| refuse::unknown_wait(id))?;
    if row.try_get::<bool, _>(4).doing(what)? {
        Err(refuse::answered(id))
    } else {
        read_wait(&row)
    }
}

/// Lists the open waits in the order in which they were opened. Omits an unreadable wait, because
/// the next claim of its run reports it.
pub(crate) async fn waiting(
    connection: &mut PgConnection,
    app: &str,
    filter: &RunFilter,
) -> Result<Vec<Waiting>> {
    let mut query = QueryBuilder::new(
        "SELECT w.waiting, s.app_name, s.user_id, s.id FROM adkw_waits w
        JOIN adkw_runs r ON r.id = w.run JOIN adkw_sessions s ON s.number = w.session
        WHERE w.answer IS NULL AND w.app = ",
    );
    query.push_bind(app.to_owned()).push(" AND ");
    select(&mut query, "w", (Whose::App, app), filter);
    query.push(" ORDER BY w.number");
    if let Some(limit) = filter.limit {
        query
            .push(" LIMIT ")
            .push_bind(i64::try_from(limit).unwrap_or(i64::MAX));
    }
    let rows = query
        .build()
        .fetch_all(connection)
        .await
        .doing("list the waits")?;
    Ok(rows.iter().filter_map(|row| read_wait(row).ok()).collect())
}

/// Parses a wait with its session. Waits of earlier versions lack the session, so it is added.
fn read_wait(row: &PgRow) -> Result<Waiting> {
    let what = "read a wait";
    let waiting: Waiting = from_text(&row.try_get::<String, _>(0).doing(what)?, "a wait")?;
    Ok(waiting.of(key_of(row, 1).doing(what)?))
}

/// Returns the time of the server.
pub(crate) async fn now(connection: &mut PgConnection) -> Result<u64> {
    let sql = "SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint";
    let now: i64 = sqlx::query_scalar(sql)
        .fetch_one(connection)
        .await
        .doing("read the time of the server")?;
    Ok(now.unsigned_abs())
}

/// Returns the waits whose deadline has passed, and the next deadline.
pub(crate) async fn due(
    connection: &mut PgConnection,
    (whose, app): (Whose, &str),
    now: u64,
    most: usize,
) -> Result<DueWaits> {
    macro_rules! due {
        ($whose:literal) => {
            concat!(
                "SELECT w.waiting, s.app_name, s.user_id, s.id, w.deadline FROM adkw_waits w
                JOIN adkw_runs r ON r.id = w.run JOIN adkw_sessions s ON s.number = r.session
                WHERE ",
                $whose,
                " AND w.answer IS NULL AND w.deadline IS NOT NULL ORDER BY w.deadline LIMIT $2"
            )
        };
    }
    let what = "look for deadlines";
    let sql = match whose {
        Whose::App => due!("w.app = $1"),
        Whose::Tenants => due!("w.tenant_of = $1"),
    };
    let query = sqlx::query(sql)
        .bind(app)
        .bind(i64::try_from(most).unwrap_or(i64::MAX).saturating_add(1));
    let mut due = DueWaits::default();
    for row in query.fetch_all(connection).await.doing(what)? {
        let deadline = row.try_get::<i64, _>(4).doing(what)?.unsigned_abs();
        if deadline > now || due.waits.len() == most {
            due.next = Some(deadline);
            break;
        }
        due.waits.extend(read_wait(&row).ok());
    }
    Ok(due)
}
