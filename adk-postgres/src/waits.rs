//! Waits of runs as rows.

use crate::connection::PgConnection;
use crate::error::Doing;
use adk_model::Result;
pub(crate) use adk_store::waits::{due, open_wait, wait, waiting, withdraw};
use serde_json::Value;

/// Answers an open wait. Locks the row of its session, so that its run is neither claimed nor
/// closed at the same time.
pub(crate) async fn resolve(
    connection: &mut PgConnection,
    app: &str,
    id: &str,
    answer: &Value,
) -> Result<()> {
    let sql = "SELECT 1 FROM sessions s JOIN adkw_sessions n
            ON n.app_name = s.app_name AND n.user_id = s.user_id AND n.id = s.id
        JOIN adkw_runs r ON r.session = n.number JOIN adkw_waits w ON w.run = r.id
        WHERE w.id = $2 AND w.app = $1 FOR NO KEY UPDATE OF s";
    let query = sqlx::query(sql).bind(app).bind(id);
    query
        .execute(&mut *connection)
        .await
        .doing("answer a wait")?;
    adk_store::waits::resolve(connection, app, id, answer).await
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
