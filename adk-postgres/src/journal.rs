//! Journals of runs as rows: recorded steps, finished agents and ends.

use crate::Shared;
use crate::connection::PgConnection;
use crate::error::{Doing, corrupt_error};
use crate::keys;
use crate::lane::Job;
use crate::log::{self, Head};
use crate::reader;
use crate::rows::Entry;
use crate::statements::ReadRow;
use crate::types::epoch_of;
use adk_journal::engine::{ClaimId, Done, DrivenRun, RunRecord, RunStatus, refuse, to_text};
use adk_journal::session::SessionKey;
use adk_journal::{Event, StateDelta};
use adk_model::{Error, Result, RunId};
use adk_store::runs::{self, DrivenRow, RunColumn, temp_from_text};
pub(crate) use adk_store::runs::{close, step, store_usage};
use adk_store::session_key;
use sqlx::Row as _;
use sqlx::postgres::PgRow;
use std::collections::HashMap;
use std::sync::Arc;

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
        let claim = slot.claim();
        let owner = shared.drives.owner_of(claim);
        runs::begin(connection, session, claim, owner, record).await?;
    }
    Ok(())
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
    if runs::enqueue(connection, session, claim, owner, record).await? {
        return Ok(true);
    }
    // An attempt that was interrupted in its commit, or an engine above that repeats the call, may
    // have inserted the run.
    let sql = "SELECT EXISTS (SELECT 1 FROM adkw_runs
        WHERE id = $1 AND epoch = $2 AND ($2 = 0 OR owner = $3))";
    let query = sqlx::query_scalar(sql)
        .bind(claim.run_id.to_string())
        .bind(epoch_of(claim))
        .bind(owner);
    query.fetch_one(connection).await.doing("queue a run")
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

/// An event that already fills its slot.
pub(crate) struct FilledSlot {
    pub(crate) place: u64,
    pub(crate) event: Arc<Event>,
    pub(crate) temp: StateDelta,
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
    let temp = temp_from_text(row.try_get(1).doing(what)?)?;
    let event = reader::events(connection, key, number, place..place + 1)
        .await?
        .pop();
    let event =
        event.ok_or_else(|| corrupt_error(format!("the event of {} is gone", entry.slot)))?;
    Ok(Some(FilledSlot { place, event, temp }))
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

/// Cancels a run that has not ended, and returns its status. Locks the row of the session like a
/// claim: the current driver has either committed before the lock, or will find that its claim is
/// outdated.
pub(crate) async fn cancel(
    connection: &mut PgConnection,
    app: &str,
    run: RunId,
) -> Result<RunStatus> {
    let what = "cancel a run";
    let Some(key) = find_session(connection, what, run, Some(app)).await? else {
        return Err(refuse::unknown_run(run));
    };
    let Some(head) = log::lock(connection, &key).await? else {
        return Err(refuse::unknown_run(run));
    };
    let (status, is_cancelled) = runs::cancel(connection, app, run).await?;
    if is_cancelled {
        log::count_take(connection, head.number).await.doing(what)?;
    }
    Ok(status)
}

const RUN_COLUMN: RunColumn = RunColumn {
    name: "id",
    tables: &["adkw_log"],
};

/// Deletes those of these runs of an app that have ended before a time, and some expired keys.
/// Returns the number of deleted runs. The rows are locked in the order of their ids, and a failed
/// run that is resumed at this moment stays.
pub(crate) async fn delete_ended(
    connection: &mut PgConnection,
    app: &str,
    runs: &[RunId],
    before: u64,
) -> Result<u64> {
    let (wanted, lock) = ((app, runs, before), " ORDER BY id FOR UPDATE");
    let deleted = adk_store::runs::delete_ended(connection, wanted, RUN_COLUMN, lock).await?;
    keys::purge(connection).await?;
    Ok(deleted.len() as u64)
}

/// Returns the session of a run.
pub(crate) async fn session_of(
    connection: &mut PgConnection,
    run: RunId,
) -> Result<Option<SessionKey>> {
    find_session(connection, "look for a run", run, None).await
}

/// Returns the session of a run, if the run is of this app.
async fn find_session(
    connection: &mut PgConnection,
    what: &str,
    run: RunId,
    app: Option<&str>,
) -> Result<Option<SessionKey>> {
    let sql = "SELECT s.app_name, s.user_id, s.id FROM adkw_runs r
        JOIN adkw_sessions s ON s.number = r.session
        WHERE r.id = $1 AND ($2 IS NULL OR r.app = $2)";
    let query = sqlx::query(sql).bind(run.to_string()).bind(app);
    let row = query.fetch_optional(connection).await.doing(what)?;
    row.map(|row| session_key(&ReadRow(&row, what), 0))
        .transpose()
}

/// Reads a run that an engine above the store drives, with its events from a place of the log on.
pub(crate) async fn driven(
    connection: &mut PgConnection,
    run: RunId,
    from: u64,
) -> Result<Option<DrivenRun>> {
    let Some(row) = DrivenRow::read(connection, run, from).await? else {
        return Ok(None);
    };
    let (run, key) = (run.to_string(), &row.record.session);
    let after = row.session.map(|session| (session, from));
    let events = reader::run_events(connection, key, &run, after).await?;
    row.with_events(events).map(Some)
}
