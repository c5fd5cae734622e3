//! Journals of runs as rows: recorded steps, finished agents and ends.

use crate::Shared;
use crate::batch::FilledSlot;
use crate::connection::PgConnection;
use crate::error::{Doing, corrupt_error};
use crate::lane::Job;
use crate::log::{self, Entry, Head};
use crate::reader::{self, Filled};
use crate::runs::key_of;
use adk_journal::StateDelta;
use adk_journal::engine::{
    ClaimId, Done, DrivenRun, RunRecord, RunStatus, Stored, from_text, refuse, to_text,
};
use adk_journal::session::{SessionKey, now_micros};
use adk_model::model::Usage;
use adk_model::{Error, Result, RunId};
use serde_json::Value;
use sqlx::Row as _;
use sqlx::postgres::PgRow;
use std::collections::HashMap;

/// Inserts runs that begin in this transaction into the registry.
pub(crate) async fn begin(
    shared: &Shared,
    connection: &mut PgConnection,
    session: i64,
    jobs: &[Job],
) -> Result<()> {
    for job in jobs {
        let Job::Commit { slot, .. } = job else {
            continue;
        };
        let Some(record) = &slot.begins else { continue };
        let sql = "INSERT INTO adkw_runs (id, session, status, owner, epoch, record, app, workflow,
            created, updated, tenant_of)
            VALUES ($1, $2, 'running', $3, $4, $5, $6, $7, $8, $8, $9) ON CONFLICT DO NOTHING";
        let query = sqlx::query(sql).bind(slot.run_id.to_string()).bind(session);
        let query = query
            .bind(shared.drives.owner_of(slot.claim()))
            .bind(epoch_of(slot.claim()))
            .bind(to_text(&**record)?);
        let query = query
            .bind(&record.session.app)
            .bind(&record.workflow)
            .bind(micros(record.time));
        let query = query.bind(&record.tenant_of);
        if query
            .execute(&mut *connection)
            .await
            .doing("enter a run")?
            .rows_affected()
            == 0
        {
            begin_queued(shared, connection, slot.claim(), record).await?;
        }
    }
    Ok(())
}

/// Begins a queued run under this claim.
async fn begin_queued(
    shared: &Shared,
    connection: &mut PgConnection,
    claim: ClaimId,
    record: &RunRecord,
) -> Result<()> {
    let sql = "UPDATE adkw_runs SET status = 'running', record = $4, updated = $5
        WHERE id = $1 AND owner = $2 AND epoch = $3 AND status = 'queued'";
    let query = sqlx::query(sql)
        .bind(claim.run_id.to_string())
        .bind(shared.drives.owner_of(claim));
    let query = query
        .bind(epoch_of(claim))
        .bind(to_text(record)?)
        .bind(micros(now_micros()));
    query
        .execute(connection)
        .await
        .doing("begin a queued run")
        .map(drop)
}

/// Inserts a queued run, which waits until earlier runs of its session have ended. Returns `false`
/// if another run has the same id.
pub(crate) async fn enqueue(
    connection: &mut PgConnection,
    session: i64,
    claim: ClaimId,
    owner: &str,
    record: &RunRecord,
) -> Result<bool> {
    let what = "queue a run";
    let sql =
        "INSERT INTO adkw_runs (id, session, status, owner, epoch, record, app, workflow, created,
        updated, tenant_of)
        VALUES ($1, $2, 'queued', $3, $4, $5, $6, $7, $8, $8, $9) ON CONFLICT DO NOTHING";
    let run = claim.run_id.to_string();
    let query = sqlx::query(sql)
        .bind(&run)
        .bind(session)
        .bind(owner)
        .bind(epoch_of(claim));
    let query = query
        .bind(to_text(record)?)
        .bind(&record.session.app)
        .bind(&record.workflow);
    let query = query.bind(micros(record.time)).bind(&record.tenant_of);
    if query
        .execute(&mut *connection)
        .await
        .doing(what)?
        .rows_affected()
        > 0
    {
        return Ok(true);
    }
    // An attempt that was interrupted in its commit, or an engine above that repeats the call, may
    // have inserted the run.
    let sql = "SELECT EXISTS (SELECT 1 FROM adkw_runs
        WHERE id = $1 AND epoch = $2 AND ($2 = 0 OR owner = $3))";
    let query = sqlx::query_scalar(sql)
        .bind(&run)
        .bind(epoch_of(claim))
        .bind(owner);
    query.fetch_one(connection).await.doing(what)
}

/// Converts the number of a claim to the integer type of Postgres.
pub(crate) fn epoch_of(claim: ClaimId) -> i64 {
    i64::try_from(claim.epoch).unwrap_or(i64::MAX)
}

/// Converts a time to the integer type of Postgres.
pub(crate) fn micros(time: u64) -> i64 {
    i64::try_from(time).unwrap_or(i64::MAX)
}

/// Constructor of the error for a refused claim.
pub(crate) type Refusal = fn(RunId) -> Error;

/// Returns the outdated claims of these jobs. The row of the session is locked, so no run of the
/// session is claimed at the moment. A claim that was found to be current stays current until the
/// next claim in the session.
pub(crate) async fn outdated_claims(
    shared: &Shared,
    connection: &mut PgConnection,
    head: &Head,
    jobs: &[Job],
) -> Result<HashMap<ClaimId, Refusal>> {
    let mut fenced = HashMap::<_, Refusal>::new();
    for (job, claim) in jobs.iter().filter_map(|job| Some((job, job.claim()?))) {
        if fenced.contains_key(&claim) || shared.drives.is_checked(claim, head.takes) {
            continue;
        }
        let sql = "SELECT owner, epoch FROM adkw_runs WHERE id = $1";
        let row = sqlx::query(sql)
            .bind(claim.run_id.to_string())
            .fetch_optional(&mut *connection)
            .await;
        let row = row.doing("look who drives a run")?;
        let read = |row: PgRow| -> sqlx::Result<(Option<String>, i64)> {
            Ok((row.try_get(0)?, row.try_get(1)?))
        };
        let expected = shared.drives.owner_of(claim);
        match row.map(read).transpose().doing("look who drives a run")? {
            Some((Some(owner), epoch)) if owner == expected && epoch == epoch_of(claim) => {
                shared.drives.check(claim, head.takes);
            }
            Some(_) if job.begins() && !claim.is_driven_above() => {
                fenced.insert(claim, refuse::run_exists);
            }
            Some(_) => {
                fenced.insert(claim, refuse::fenced);
            }
            // A run that an engine above the store drives is missing only if it was deleted. Its
            // driver may be in a process that does not know of the deletion.
            None if claim.is_driven_above() => {
                fenced.insert(claim, refuse::unknown_run);
            }
            // Writes of a run that is not in the registry are ignored.
            None => {}
        }
    }
    Ok(fenced)
}

/// Returns the event that fills a slot.
pub(crate) async fn filled_slot(
    connection: &mut PgConnection,
    key: &SessionKey,
    number: i64,
    entry: &Entry,
) -> Result<Option<FilledSlot>> {
    let what = "look for the event of an earlier attempt";
    let sql = "SELECT place, temp FROM adkw_log WHERE run = $1 AND slot = $2";
    let row = sqlx::query(sql)
        .bind(&entry.run)
        .bind(&entry.slot)
        .fetch_optional(&mut *connection)
        .await;
    let Some(row) = row.doing(what)? else {
        return Ok(None);
    };
    let place = u64::try_from(row.try_get::<i64, _>(0).doing(what)?).unwrap_or(0);
    let temp = temp_of(row.try_get(1).doing(what)?)?;
    let event = reader::events(connection, key, number, place..place + 1)
        .await?
        .pop();
    let event =
        event.ok_or_else(|| corrupt_error(format!("the event of {} is gone", entry.slot)))?;
    Ok(Some(FilledSlot { place, event, temp }))
}

fn temp_of(text: Option<String>) -> Result<StateDelta> {
    text.map_or(Ok(StateDelta::default()), |text| {
        from_text(&text, "the `temp:` keys of an event")
    })
}

/// Returns whether the journal of a run has an event in this slot.
pub(crate) async fn is_filled(
    connection: &mut PgConnection,
    run: RunId,
    slot: &str,
) -> Result<bool> {
    let sql = "SELECT EXISTS (SELECT 1 FROM adkw_log WHERE run = $1 AND slot = $2)";
    let query = sqlx::query_scalar(sql).bind(run.to_string()).bind(slot);
    query
        .fetch_one(connection)
        .await
        .doing("look for the event of an earlier attempt")
}

/// Records the result of a step. Returns an earlier result instead if there is one.
pub(crate) async fn step(
    connection: &mut PgConnection,
    run: RunId,
    key: &str,
    value: &Value,
) -> Result<Option<Value>> {
    let what = "record a step";
    let run = run.to_string();
    // The record of a failed call is replaced.
    let sql = r#"INSERT INTO adkw_steps AS s (run, key, value)
        SELECT $1, $2, $3 WHERE EXISTS (SELECT 1 FROM adkw_runs WHERE id = $1)
        ON CONFLICT (run, key) DO UPDATE SET value = excluded.value
        WHERE s.value LIKE '{"$failed":%'"#;
    let query = sqlx::query(sql)
        .bind(&run)
        .bind(key)
        .bind(value.to_string());
    if query
        .execute(&mut *connection)
        .await
        .doing(what)?
        .rows_affected()
        > 0
    {
        return Ok(None);
    }
    let sql = "SELECT value FROM adkw_steps WHERE run = $1 AND key = $2";
    let query = sqlx::query_scalar::<_, String>(sql).bind(&run).bind(key);
    let earlier = query.fetch_optional(connection).await.doing(what)?;
    earlier
        .map(|text| from_text(&text, "the record of a step"))
        .transpose()
}

/// Records a step by a single statement, if no run of the session was claimed since `head` was
/// read. Returns `false`, without a write, after another claim or if the step has a record.
pub(crate) async fn first_step(
    connection: &mut PgConnection,
    session: &SessionKey,
    head: &Head,
    run: RunId,
    key: &str,
    value: &Value,
) -> Result<bool> {
    let sql = "WITH head AS (
            SELECT 1 FROM sessions s
            JOIN adkw_sessions n ON n.app_name = s.app_name
                AND n.user_id = s.user_id AND n.id = s.id
            WHERE s.app_name = $1 AND s.user_id = $2 AND s.id = $3
            AND n.number = $4 AND n.takes = $5
            FOR NO KEY UPDATE)
        INSERT INTO adkw_steps (run, key, value)
        SELECT $6, $7, $8 FROM head WHERE EXISTS (SELECT 1 FROM adkw_runs WHERE id = $6)
        ON CONFLICT DO NOTHING";
    let query = sqlx::query(sql)
        .bind(&session.app)
        .bind(&session.user)
        .bind(&session.id)
        .bind(head.number);
    let query = query
        .bind(head.takes)
        .bind(run.to_string())
        .bind(key)
        .bind(value.to_string());
    Ok(query
        .execute(connection)
        .await
        .doing("record a step")?
        .rows_affected()
        > 0)
}

/// Records finished agents. Ignores a run that is not in the registry.
pub(crate) async fn finished(
    connection: &mut PgConnection,
    run: RunId,
    done: &[Done],
) -> Result<()> {
    let sql = "INSERT INTO adkw_done (run, path, done)
        SELECT $1, d.path, d.done FROM unnest($2::text[], $3::text[]) d (path, done)
        WHERE EXISTS (SELECT 1 FROM adkw_runs WHERE id = $1) ON CONFLICT DO NOTHING";
    let paths: Vec<_> = done.iter().map(|done| done.path.to_string()).collect();
    let marks = done.iter().map(to_text).collect::<Result<Vec<_>>>()?;
    let query = sqlx::query(sql)
        .bind(run.to_string())
        .bind(paths)
        .bind(marks);
    query
        .execute(connection)
        .await
        .doing("write that an agent has finished")
        .map(drop)
}

/// Releases a claim, and writes the status and the usage of the run if they are known. Returns
/// `false` if the claim is not the current one, or if the run has ended otherwise. The claim of an
/// engine above the store lasts until the end of the run.
pub(crate) async fn close(
    connection: &mut PgConnection,
    claim: ClaimId,
    owner: &str,
    end: Option<&(RunStatus, Usage)>,
) -> Result<bool> {
    let what = "close a run";
    let (status, error) = end.map(|(status, _)| status.to_row()).unzip();
    let usage = end.map(|(_, usage)| to_text(usage)).transpose()?;
    let time = end.map(|_| micros(now_micros()));
    let run = claim.run_id.to_string();
    let sql =
        "UPDATE adkw_runs SET owner = CASE WHEN $8 THEN owner END, error = coalesce($5, error),
        updated = coalesce($6, updated), usage = coalesce($7, usage), status = CASE
            WHEN $4 = 'paused' AND EXISTS
                (SELECT 1 FROM adkw_waits WHERE run = $1 AND answer IS NOT NULL AND NOT seen)
                THEN 'answered'
            ELSE coalesce($4, status) END
        WHERE id = $1 AND owner = $2 AND epoch = $3";
    let query = sqlx::query(sql)
        .bind(&run)
        .bind(owner)
        .bind(epoch_of(claim))
        .bind(status);
    let goes_on = claim.is_driven_above() && end.is_some_and(|(status, _)| status.is_open());
    let query = query
        .bind(error.flatten())
        .bind(time)
        .bind(&usage)
        .bind(goes_on);
    if query
        .execute(&mut *connection)
        .await
        .doing(what)?
        .rows_affected()
        > 0
    {
        if matches!(status, Some("finished" | "failed")) {
            let sql = "DELETE FROM adkw_waits WHERE run = $1 AND answer IS NULL";
            sqlx::query(sql)
                .bind(&run)
                .execute(connection)
                .await
                .doing(what)?;
        }
        return Ok(true);
    }
    if let Some(usage) = usage {
        store_usage(connection, claim, &usage).await?;
    }
    // No row was updated. That is no error if the run is not in the registry, or if an earlier call
    // has already closed it: the connection was lost during its commit, or an engine above the
    // store repeats the call.
    let sql = "SELECT EXISTS (SELECT 1 FROM adkw_runs
        WHERE id = $1 AND (epoch <> $2 OR ($2 = 0 AND status IS DISTINCT FROM $3)))";
    let is_claimed = sqlx::query_scalar::<_, bool>(sql)
        .bind(&run)
        .bind(epoch_of(claim))
        .bind(status);
    Ok(!is_claimed.fetch_one(connection).await.doing(what)?)
}

/// Stores the usage of a cancelled run, if this claim was the last one before the cancellation.
pub(crate) async fn store_usage(
    connection: &mut PgConnection,
    claim: ClaimId,
    usage: &str,
) -> Result<()> {
    let sql =
        "UPDATE adkw_runs SET usage = $3 WHERE id = $1 AND status = 'cancelled' AND epoch = $2 + 1";
    let query = sqlx::query(sql)
        .bind(claim.run_id.to_string())
        .bind(epoch_of(claim))
        .bind(usage);
    query
        .execute(connection)
        .await
        .doing("close a run")
        .map(drop)
}

/// Writes releases of claims that could not be written before.
pub(crate) async fn release_claims(
    connection: &mut PgConnection,
    claims: &[ClaimId],
    owner: &str,
) -> Result<()> {
    let (runs, epochs): (Vec<_>, Vec<_>) = claims
        .iter()
        .map(|claim| (claim.run_id.to_string(), epoch_of(*claim)))
        .unzip();
    let sql =
        "UPDATE adkw_runs r SET owner = NULL FROM unnest($1::text[], $2::bigint[]) c (run, epoch)
        WHERE r.id = c.run AND r.epoch = c.epoch AND r.owner = $3";
    let query = sqlx::query(sql).bind(runs).bind(epochs).bind(owner);
    query
        .execute(connection)
        .await
        .doing("release runs")
        .map(drop)
}

/// Cancels a run that has not ended, and returns its status. Locks the row of the session like a
/// claim: the current driver has either committed before the lock, or will find that its claim is
/// outdated.
pub(crate) async fn cancel(
    connection: &mut PgConnection,
    app: &str,
    run: RunId,
) -> Result<RunStatus> {
    let what = "cancel a run";
    let id = run.to_string();
    let sql = "SELECT s.app_name, s.user_id, s.id FROM adkw_runs r
        JOIN adkw_sessions s ON s.number = r.session WHERE r.id = $1 AND r.app = $2";
    let row = sqlx::query(sql)
        .bind(&id)
        .bind(app)
        .fetch_optional(&mut *connection)
        .await
        .doing(what)?;
    let Some(row) = row else {
        return Err(refuse::unknown_run(run));
    };
    let text = |column| row.try_get::<String, _>(column).doing(what);
    let key = SessionKey::new(text(0)?, text(1)?, text(2)?);
    let Some(head) = log::lock(connection, &key).await? else {
        return Err(refuse::unknown_run(run));
    };
    let sql =
        "UPDATE adkw_runs SET status = 'cancelled', owner = NULL, epoch = epoch + 1, error = NULL,
        updated = $2 WHERE id = $1 AND status IN ('queued', 'running', 'paused', 'answered')";
    let query = sqlx::query(sql).bind(&id).bind(micros(now_micros()));
    if query
        .execute(&mut *connection)
        .await
        .doing(what)?
        .rows_affected()
        > 0
    {
        let sql = "UPDATE adkw_sessions SET takes = takes + 1 WHERE number = $1";
        sqlx::query(sql)
            .bind(head.number)
            .execute(&mut *connection)
            .await
            .doing(what)?;
        let sql = "DELETE FROM adkw_waits WHERE run = $1 AND answer IS NULL";
        sqlx::query(sql)
            .bind(&id)
            .execute(&mut *connection)
            .await
            .doing(what)?;
    }
    let sql = "SELECT status, error FROM adkw_runs WHERE id = $1";
    let row = sqlx::query(sql)
        .bind(&id)
        .fetch_one(connection)
        .await
        .doing(what)?;
    let status: String = row.try_get(0).doing(what)?;
    Ok(RunStatus::from_row(&status, row.try_get(1).doing(what)?))
}

/// Returns the session of a run.
pub(crate) async fn session_of(
    connection: &mut PgConnection,
    run: RunId,
) -> Result<Option<SessionKey>> {
    let what = "look for a run";
    let sql = "SELECT s.app_name, s.user_id, s.id FROM adkw_runs r
        JOIN adkw_sessions s ON s.number = r.session WHERE r.id = $1";
    let row = sqlx::query(sql)
        .bind(run.to_string())
        .fetch_optional(connection)
        .await
        .doing(what)?;
    row.map(|row| key_of(&row, 0).doing(what)).transpose()
}

/// Reads a run that an engine above the store drives, with its events from a place of the log on.
pub(crate) async fn driven(
    connection: &mut PgConnection,
    run: RunId,
    from: u64,
) -> Result<Option<DrivenRun>> {
    let what = "read a run";
    let id = run.to_string();
    let sql = "SELECT r.epoch, r.status, r.error, r.usage, r.record, r.session FROM adkw_runs r
        WHERE r.id = $1";
    let row = sqlx::query(sql)
        .bind(&id)
        .fetch_optional(&mut *connection)
        .await
        .doing(what)?;
    let Some(row) = row else { return Ok(None) };
    let text = |column| row.try_get::<Option<String>, _>(column).doing(what);
    let status = RunStatus::from_row(&text(1)?.unwrap_or_default(), text(2)?);
    if !is_driven_above(row.try_get(0).doing(what)?, &status) {
        return Err(refuse::run_busy(run));
    }
    let usage = text(3)?
        .map(|usage| from_text(&usage, "the usage of a run"))
        .transpose()?;
    let record: RunRecord = from_text(
        &text(4)?.unwrap_or_default(),
        &format!("the record of run `{run}`"),
    )?;
    // All events of a run are found by its id. The events from a place on are found faster in the
    // log of the session.
    let after = if from > record.begins {
        Some((row.try_get(5).doing(what)?, from))
    } else {
        None
    };
    let filled = reader::run_events(connection, &record.session, &id, after).await?;
    let filled = filled.into_iter().map(
        |Filled {
             place,
             event,
             slot,
             temp,
         }| Ok((slot, Stored::earlier(place, event, temp_of(temp)?))),
    );
    Ok(Some(DrivenRun::new(
        record,
        status,
        usage,
        filled.collect::<Result<_>>()?,
    )))
}

/// Reports whether an engine above the store drives or has driven a run. Such a run has epoch 0,
/// and a cancellation adds 1. The first claim of a process has epoch 1.
fn is_driven_above(epoch: i64, status: &RunStatus) -> bool {
    epoch == 0 || (epoch == 1 && *status == RunStatus::Cancelled)
}
