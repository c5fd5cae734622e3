//! [`claim`]: gives a run to this process, and reads its journal.

use crate::Shared;
use crate::connection::PgConnection;
use crate::error::Doing;
use crate::lease::Drives;
use crate::runs::is_held;
use crate::statements::{ReadRow, is_alive};
use crate::{log, reader};
use adk_journal::engine::{
    Claim, ClaimCheck, ClaimId, ClaimedRun, RunRecord, RunRows, RunStatus, refuse,
};
use adk_journal::session::SessionKey;
use adk_model::{Result, RunId};
use adk_store::runs::{self, record_from_text};
use adk_store::{Columns as _, Parameter, session_key};
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
    let claim = check_free(connection, run, &shared.drives).await?;
    runs::write_claim(connection, claim, &shared.drives.owner, &record).await?;
    let counted = log::count_take(connection, head.number).await;
    counted.doing(DOING)?;
    let claim = Claim::new(claim, drop);
    if record.is_queued {
        return Ok(ClaimedRun::new(claim, record));
    }
    let waits = runs::mark_answers_seen(connection, run).await?;
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
    let row = &ReadRow(&row, DOING);
    let record = record_from_text(run, &row.text(3)?)?;
    Ok((session_key(row, 0)?, record))
}

/// Returns the next claim of a run, or refuses if the run is cancelled or its claim is current.
async fn check_free(connection: &mut PgConnection, run: RunId, drives: &Drives) -> Result<ClaimId> {
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
    let row = ReadRow(&row, DOING);
    let last = ClaimId {
        run_id: run,
        epoch: row.number(1)?,
    };
    let is_held = match row.text_or_null(0)? {
        Some(owner) => is_held(drives, last, &owner, row.flag(2)?),
        None => false,
    };
    last.next(&RunStatus::from_row(&row.text(3)?, None), is_held)
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
    let run = [Parameter::from(run.to_string())];
    Ok(RunRows {
        temps: runs::pairs(connection, temps, &run).await?,
        steps: runs::pairs(connection, steps, &run).await?,
        done: runs::pairs(connection, done, &run).await?,
        waits,
    })
}
