//! [`claim`]: gives a run to this process, and reads its journal.

use crate::Shared;
use crate::connection::PgConnection;
use crate::error::Doing;
use crate::lease::Drives;
use crate::runs::is_alive;
use crate::types::{epoch_of, micros};
use crate::{log, reader};
use adk_journal::engine::{
    Claim, ClaimCheck, ClaimId, ClaimedRun, Pairs, RunRecord, RunRows, RunStatus, from_text, refuse,
};
use adk_journal::session::{SessionKey, now_micros};
use adk_model::{Result, RunId};
use sqlx::Row as _;
use std::time::Duration;

/// The operation that errors name.
const DOING: &str = "claim a run";

/// Claims a run for this process, and reads its journal. Dropping the returned claim does not
/// release it.
pub(crate) async fn claim(
    connection: &mut PgConnection,
    run: RunId,
    shared: &Shared,
    check: &ClaimCheck,
) -> Result<ClaimedRun> {
    let wait = shared.connections.server.limits.claim;
    let (key, record) = read_record(connection, run, wait).await?;
    check(&record)?;
    // The current driver has either committed before this lock, or will find the new claim.
    let Some(head) = log::lock(connection, &key).await? else {
        return Err(refuse::unknown_run(run));
    };
    let epoch = check_free(connection, run, &shared.drives).await?;
    let claim = ClaimId {
        run_id: run,
        epoch: epoch + 1,
    };
    delete_expired_answers(connection, run).await?;
    write_claim(connection, claim, &shared.drives.owner, &record).await?;
    count_take(connection, head.number).await?;
    let claim = Claim::new(claim, drop);
    if record.is_queued {
        return Ok(ClaimedRun::new(claim, record));
    }
    let waits = mark_answers_seen(connection, run).await?;
    let end = run_end(connection, run).await?;
    let events = reader::events(connection, &key, head.number, record.begins..end).await?;
    let rows = read_rows(connection, run, waits).await?;
    ClaimedRun::from_rows(claim, record, events, rows)
}

/// Reads the session and the record of a run, and limits the wait for locks: if a stopped process
/// holds the lock of the session, the claim fails soon, so that the connection serves other claims.
async fn read_record(
    connection: &mut PgConnection,
    run: RunId,
    wait: Duration,
) -> Result<(SessionKey, RunRecord)> {
    let sql = "SELECT s.app_name, s.user_id, s.id, r.record, set_config('lock_timeout', $2, true)
        FROM adkw_runs r JOIN adkw_sessions s ON s.number = r.session WHERE r.id = $1";
    let row = sqlx::query(sql)
        .bind(run.to_string())
        .bind(wait.as_millis().to_string())
        .fetch_optional(connection)
        .await
        .doing(DOING)?;
    let Some(row) = row else {
        return Err(refuse::unknown_run(run));
    };
    let text = |column| row.try_get::<String, _>(column).doing(DOING);
    let key = SessionKey::new(text(0)?, text(1)?, text(2)?);
    let record = from_text(&text(3)?, &format!("the record of run `{run}`"))?;
    Ok((key, record))
}

/// Returns the number of the last claim of a run, or refuses if the run is cancelled or another
/// claim is current.
async fn check_free(connection: &mut PgConnection, run: RunId, drives: &Drives) -> Result<u64> {
    let sql = concat!(
        "SELECT r.owner, r.epoch, ",
        is_alive!(),
        ", r.status FROM adkw_runs r WHERE r.id = $1"
    );
    let row = sqlx::query(sql)
        .bind(run.to_string())
        .fetch_one(connection)
        .await
        .doing(DOING)?;
    if row.try_get::<String, _>(3).doing(DOING)? == "cancelled" {
        return Err(refuse::cancelled(run));
    }
    let owner: Option<String> = row.try_get(0).doing(DOING)?;
    let epoch = row.try_get::<i64, _>(1).doing(DOING)?.unsigned_abs();
    let is_held = match owner {
        // A run of an engine above is refused even after its end, because its recorded calls are
        // not in this store.
        _ if epoch == 0 => true,
        None => false,
        // A claim that this process has released is free, even if the release is not written yet.
        Some(owner) if owner == drives.owner => {
            drives.held(ClaimId { run_id: run, epoch }).is_some()
        }
        Some(_) => row.try_get(2).doing(DOING)?,
    };
    if is_held {
        return Err(refuse::run_busy(run));
    }
    Ok(epoch)
}

/// Deletes answers that report an expired wait to a failed run, so that the run asks again.
async fn delete_expired_answers(connection: &mut PgConnection, run: RunId) -> Result<()> {
    let sql = r#"DELETE FROM adkw_waits WHERE run = $1 AND answer LIKE '{"$failed":%'
        AND EXISTS (SELECT 1 FROM adkw_runs WHERE id = $1 AND status = 'failed')"#;
    let query = sqlx::query(sql).bind(run.to_string());
    query.execute(connection).await.doing(DOING).map(drop)
}

/// Writes a claim into the row of its run.
async fn write_claim(
    connection: &mut PgConnection,
    claim: ClaimId,
    owner: &str,
    record: &RunRecord,
) -> Result<()> {
    let sql = "UPDATE adkw_runs SET owner = $2, epoch = $3, status = $4, error = NULL, updated = $5
        WHERE id = $1";
    let status = if record.is_queued {
        RunStatus::Queued
    } else {
        RunStatus::Running
    };
    let query = sqlx::query(sql)
        .bind(claim.run_id.to_string())
        .bind(owner)
        .bind(epoch_of(claim))
        .bind(status.to_row().0)
        .bind(micros(now_micros()));
    query.execute(connection).await.doing(DOING).map(drop)
}

/// Counts a claim in the row of its session, so that processes with an older claim compare theirs.
async fn count_take(connection: &mut PgConnection, session: i64) -> Result<()> {
    let sql = "UPDATE adkw_sessions SET takes = takes + 1 WHERE number = $1";
    let query = sqlx::query(sql).bind(session);
    query.execute(connection).await.doing(DOING).map(drop)
}

/// Marks the answers of a run as seen, and returns the ids of all its waits.
async fn mark_answers_seen(connection: &mut PgConnection, run: RunId) -> Result<Vec<String>> {
    let sql =
        "WITH seen AS (UPDATE adkw_waits SET seen = TRUE WHERE run = $1 AND answer IS NOT NULL)
        SELECT id FROM adkw_waits WHERE run = $1";
    let query = sqlx::query_scalar(sql).bind(run.to_string());
    query.fetch_all(connection).await.doing(DOING)
}

/// Returns the place after the last event of a run; 0 before its first event.
async fn run_end(connection: &mut PgConnection, run: RunId) -> Result<u64> {
    let sql = "SELECT coalesce(max(place) + 1, 0) FROM adkw_log WHERE run = $1";
    let query = sqlx::query_scalar::<_, i64>(sql).bind(run.to_string());
    let end = query.fetch_one(connection).await.doing(DOING)?;
    Ok(end.unsigned_abs())
}

/// Reads the journal of a run except for its events.
async fn read_rows(
    connection: &mut PgConnection,
    run: RunId,
    waits: Vec<String>,
) -> Result<RunRows> {
    let temps = "SELECT slot, temp FROM adkw_log WHERE run = $1 AND temp IS NOT NULL";
    let steps = "SELECT key, value FROM adkw_steps WHERE run = $1";
    let done = "SELECT d ->> 'path', d::text FROM adkw_log l, json_array_elements(l.done::json) d
        WHERE l.run = $1 AND l.done IS NOT NULL
        UNION ALL SELECT path, done FROM adkw_done WHERE run = $1";
    let run = run.to_string();
    Ok(RunRows {
        temps: pairs(connection, temps, &run).await?,
        steps: pairs(connection, steps, &run).await?,
        done: pairs(connection, done, &run).await?,
        waits,
    })
}

/// Reads keys and JSON texts of a run.
async fn pairs(connection: &mut PgConnection, sql: &'static str, run: &str) -> Result<Pairs> {
    let query = sqlx::query_as::<_, (String, String)>(sql).bind(run);
    query
        .fetch_all(connection)
        .await
        .doing("read the journal of a run")
}
