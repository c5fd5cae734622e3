//! The book of runs and their journals, as rows.

use crate::Shared;
use crate::batch::There;
use crate::error::{Doing, corrupt};
use crate::lane::Job;
use crate::log::{self, Entry, Head};
use crate::reader;
use adk_core::engine::{
    Done, Fits, Pairs, RunInfo, RunRecord, RunRows, RunStatus, Taken, Wait, Waiting, from_text, refuse,
    to_text,
};
use adk_core::session::SessionKey;
use adk_core::{Result, RunId, StateDelta};
use serde_json::Value;
use sqlx::postgres::PgRow;
use sqlx::{PgConnection, Row as _};
use std::collections::HashSet;

/// Whether the process that has a run lives.
macro_rules! is_alive {
    () => {
        "EXISTS (SELECT 1 FROM adkw_owners o WHERE o.id = r.owner AND o.expires > clock_timestamp())"
    };
}

/// Enters the runs that begin here in the book.
pub(crate) async fn begin(
    shared: &Shared,
    connection: &mut PgConnection,
    session: i64,
    jobs: &[Job],
) -> Result<()> {
    for job in jobs {
        let Job::Commit { slot, .. } = job else { continue };
        let Some(record) = &slot.begins else { continue };
        let sql = "INSERT INTO adkw_runs (id, session, status, owner, epoch, record) VALUES ($1, $2, 'running', $3, 1, $4)
            ON CONFLICT DO NOTHING";
        let of = sqlx::query(sql).bind(slot.run_id.to_string()).bind(session).bind(&shared.drives.owner);
        of.bind(to_text(&**record)?).execute(&mut *connection).await.doing("enter a run")?;
    }
    Ok(())
}

/// The runs among these that somebody else has taken. The row of their session is locked, so nobody takes one now; and as
/// long as nobody has taken any run of it since the last look, all are as they were.
pub(crate) async fn fenced(
    shared: &Shared,
    connection: &mut PgConnection,
    head: &Head,
    jobs: &[Job],
) -> Result<HashSet<RunId>> {
    let of = |job: &Job| match job {
        Job::Commit { slot, epoch, .. } => Some((slot.run_id, *epoch)),
        Job::Step { run, epoch, .. } => Some((*run, *epoch)),
        Job::Wait { wait, epoch, .. } => Some((wait.key.run_id, *epoch)),
        Job::Finished { run, epoch, .. } => Some((*run, *epoch)),
        Job::Close { .. } | Job::Append { .. } | Job::Look { .. } | Job::Open { .. } => None,
    };
    let mut fenced = HashSet::new();
    for (run, epoch) in jobs.iter().filter_map(of) {
        if fenced.contains(&run) || shared.drives.is_checked(run, epoch, head.takes) {
            continue;
        }
        let sql = "SELECT owner, epoch FROM adkw_runs WHERE id = $1";
        let row = sqlx::query(sql).bind(run.to_string()).fetch_optional(&mut *connection).await;
        let row = row.doing("look who drives a run")?;
        let read =
            |row: PgRow| -> sqlx::Result<(Option<String>, i64)> { Ok((row.try_get(0)?, row.try_get(1)?)) };
        match row.map(read).transpose().doing("look who drives a run")? {
            Some((owner, number)) if owner.as_ref() != Some(&shared.drives.owner) || number != epoch => {
                fenced.insert(run);
            }
            Some(_) => shared.drives.check(run, epoch, head.takes),
            // Of a run that is in no book nothing is kept.
            None => {}
        }
    }
    Ok(fenced)
}

/// The event that fills a slot.
pub(crate) async fn there(
    connection: &mut PgConnection,
    key: &SessionKey,
    number: i64,
    entry: &Entry,
) -> Result<Option<There>> {
    let what = "look for the event of an earlier attempt";
    let sql = "SELECT place, temp FROM adkw_log WHERE run = $1 AND slot = $2";
    let row = sqlx::query(sql).bind(&entry.run).bind(&entry.slot).fetch_optional(&mut *connection).await;
    let Some(row) = row.doing(what)? else { return Ok(None) };
    let place = u64::try_from(row.try_get::<i64, _>(0).doing(what)?).unwrap_or(0);
    let temp = row.try_get::<Option<String>, _>(1).doing(what)?;
    let temp: StateDelta =
        temp.map_or(Ok(StateDelta::default()), |temp| from_text(&temp, "the `temp:` keys of an event"))?;
    let event = reader::events(connection, key, number, place..place + 1).await?.pop();
    let event = event.ok_or_else(|| corrupt(format!("the event of {} is gone", entry.slot)))?;
    Ok(Some(There { place, event, temp }))
}

/// Records the result of a step; gives that of an earlier attempt when there is one.
pub(crate) async fn step(
    connection: &mut PgConnection,
    run: RunId,
    key: &str,
    value: &Value,
) -> Result<Option<Value>> {
    let what = "record a step";
    let run = run.to_string();
    let sql = "INSERT INTO adkw_steps (run, key, value)
        SELECT $1, $2, $3 WHERE EXISTS (SELECT 1 FROM adkw_runs WHERE id = $1) ON CONFLICT DO NOTHING";
    let of = sqlx::query(sql).bind(&run).bind(key).bind(value.to_string());
    if of.execute(&mut *connection).await.doing(what)?.rows_affected() > 0 {
        return Ok(None);
    }
    let sql = "SELECT value FROM adkw_steps WHERE run = $1 AND key = $2";
    let of = sqlx::query_scalar::<_, String>(sql).bind(&run).bind(key);
    let earlier = of.fetch_optional(connection).await.doing(what)?;
    earlier.map(|text| from_text(&text, "the record of a step")).transpose()
}

/// Agents that have finished. Of a run that is in no book nothing is kept.
pub(crate) async fn finished(connection: &mut PgConnection, run: RunId, done: &[Done]) -> Result<()> {
    let sql = "INSERT INTO adkw_done (run, path, done)
        SELECT $1, d.path, d.done FROM unnest($2::text[], $3::text[]) d (path, done)
        WHERE EXISTS (SELECT 1 FROM adkw_runs WHERE id = $1) ON CONFLICT DO NOTHING";
    let paths: Vec<_> = done.iter().map(|done| done.path.to_string()).collect();
    let marks = done.iter().map(to_text).collect::<Result<Vec<_>>>()?;
    let of = sqlx::query(sql).bind(run.to_string()).bind(paths).bind(marks);
    of.execute(connection).await.doing("write that an agent has finished").map(drop)
}

/// The answer to a wait, which is open from now on.
pub(crate) async fn wait(connection: &mut PgConnection, wait: &Wait) -> Result<Option<Value>> {
    let what = "open a wait";
    let id = wait.key.id();
    let sql = "INSERT INTO adkw_waits (id, run, key, waiting)
        SELECT $1, $2, $3, $4 WHERE EXISTS (SELECT 1 FROM adkw_runs WHERE id = $2) ON CONFLICT DO NOTHING";
    let of = sqlx::query(sql).bind(&id).bind(wait.key.run_id.to_string()).bind(wait.key.to_string());
    of.bind(to_text(&wait.waiting)?).execute(&mut *connection).await.doing(what)?;
    let sql = "SELECT answer FROM adkw_waits WHERE id = $1";
    let of = sqlx::query_scalar::<_, Option<String>>(sql).bind(&id);
    let answer = of.fetch_optional(&mut *connection).await.doing(what)?.flatten();
    if answer.is_some() {
        let sql = "UPDATE adkw_waits SET seen = TRUE WHERE id = $1";
        sqlx::query(sql).bind(&id).execute(connection).await.doing(what)?;
    }
    answer.map(|text| from_text(&text, "an answer")).transpose()
}

/// Gives up the right to drive, and says how far the run is when that is known. `false`: somebody else has it.
pub(crate) async fn close(
    connection: &mut PgConnection,
    run: RunId,
    owner: &str,
    epoch: i64,
    status: Option<&RunStatus>,
) -> Result<bool> {
    let what = "close a run";
    let (status, error) = status.map_or((None, None), |status| (Some(status.to_row().0), status.to_row().1));
    let sql = "UPDATE adkw_runs SET owner = NULL, status = coalesce($4, status), error = coalesce($5, error)
        WHERE id = $1 AND owner = $2 AND epoch = $3";
    let of = sqlx::query(sql).bind(run.to_string()).bind(owner).bind(epoch).bind(status).bind(error);
    if of.execute(&mut *connection).await.doing(what)?.rows_affected() > 0 {
        return Ok(true);
    }
    // It may be in no book, or closed by an attempt that was cut off in its commit.
    let sql = "SELECT EXISTS (SELECT 1 FROM adkw_runs WHERE id = $1 AND epoch <> $2)";
    let is_taken = sqlx::query_scalar::<_, bool>(sql).bind(run.to_string()).bind(epoch);
    Ok(!is_taken.fetch_one(connection).await.doing(what)?)
}

/// Makes this process the one that drives a run, and reads what was recorded of it.
pub(crate) async fn take(
    connection: &mut PgConnection,
    run: RunId,
    owner: &str,
    fits: &Fits,
) -> Result<(i64, Taken)> {
    let what = "take up a run";
    let id = run.to_string();
    let sql = "SELECT s.app_name, s.user_id, s.id, r.record FROM adkw_runs r
        JOIN adkw_sessions s ON s.number = r.session WHERE r.id = $1";
    let row = sqlx::query(sql).bind(&id).fetch_optional(&mut *connection).await.doing(what)?;
    let Some(row) = row else { return Err(refuse::unknown_run(run)) };
    let of = |column| row.try_get::<String, _>(column).doing(what);
    let (key, record) = (SessionKey::new(of(0)?, of(1)?, of(2)?), of(3)?);
    let record: RunRecord = from_text(&record, "the record of a run")?;
    fits(&record)?;
    // Whoever drives it so far has either committed by now, or will see that it was taken.
    let Some(head) = log::lock(connection, &key).await? else { return Err(refuse::unknown_run(run)) };
    let sql = concat!(
        "UPDATE adkw_runs r SET owner = $2, epoch = epoch + 1, status = 'running', error = NULL
        WHERE id = $1 AND (owner IS NULL OR owner = $2 OR NOT ",
        is_alive!(),
        ") RETURNING epoch"
    );
    let row = sqlx::query(sql).bind(&id).bind(owner).fetch_optional(&mut *connection).await.doing(what)?;
    let Some(row) = row else { return Err(refuse::run_busy(run)) };
    let epoch: i64 = row.try_get(0).doing(what)?;
    let sql = "UPDATE adkw_sessions SET takes = takes + 1 WHERE number = $1";
    sqlx::query(sql).bind(head.number).execute(&mut *connection).await.doing(what)?;
    let sql = "UPDATE adkw_waits SET seen = TRUE WHERE run = $1 AND answer IS NOT NULL";
    sqlx::query(sql).bind(&id).execute(&mut *connection).await.doing(what)?;
    let events = reader::events(connection, &key, head.number, record.begins..head.len).await?;
    let rows = RunRows {
        temps: pairs(connection, "SELECT slot, temp FROM adkw_log WHERE run = $1 AND temp IS NOT NULL", &id)
            .await?,
        steps: pairs(connection, "SELECT key, value FROM adkw_steps WHERE run = $1", &id).await?,
        done: pairs(connection, "SELECT path, done FROM adkw_done WHERE run = $1", &id).await?,
    };
    Ok((epoch, Taken::from_rows(record, events, &rows)?))
}

/// Keys and JSON of a run.
async fn pairs(connection: &mut PgConnection, sql: &'static str, run: &str) -> Result<Pairs> {
    let of = sqlx::query_as::<_, (String, String)>(sql).bind(run);
    of.fetch_all(connection).await.doing("read the journal of a run")
}

/// The runs of an app that have not ended, oldest first: their ids begin with the time.
pub(crate) async fn unfinished(
    shared: &Shared,
    connection: &mut PgConnection,
    app: &str,
) -> Result<Vec<RunInfo>> {
    let what = "list the runs";
    let sql = concat!(
        "SELECT r.status, r.owner, r.record, r.owner IS NULL OR NOT ",
        is_alive!(),
        ", EXISTS (SELECT 1 FROM adkw_waits w WHERE w.run = r.id AND w.answer IS NOT NULL AND NOT w.seen)
        FROM adkw_runs r JOIN adkw_sessions s ON s.number = r.session
        WHERE s.app_name = $1 AND r.status IN ('running', 'paused') ORDER BY r.id"
    );
    let rows = sqlx::query_as::<_, (String, Option<String>, String, bool, bool)>(sql).bind(app);
    let mut all = Vec::new();
    for (status, owner, record, is_free, is_answered) in rows.fetch_all(connection).await.doing(what)? {
        let record: RunRecord = from_text(&record, "the record of a run")?;
        // What this process has given up is free, also when that is not written yet.
        let is_given_up =
            owner.as_ref() == Some(&shared.drives.owner) && shared.drives.held(record.run_id).is_none();
        let status = RunStatus::from_row(&status, None);
        let is_ready = (is_free || is_given_up) && (status != RunStatus::Paused || is_answered);
        all.push(RunInfo::of(&record, status, is_ready));
    }
    Ok(all)
}

/// The waits that are open, in the order in which they began.
pub(crate) async fn waiting(
    connection: &mut PgConnection,
    app: &str,
    run: Option<RunId>,
) -> Result<Vec<Waiting>> {
    let what = "list the waits";
    // Those of one run are found by it: a condition for both cases may go through all sessions of the app at
    // each pause.
    let all = "SELECT w.waiting FROM adkw_waits w JOIN adkw_runs r ON r.id = w.run
        JOIN adkw_sessions s ON s.number = r.session
        WHERE s.app_name = $1 AND $2::text IS NULL AND w.answer IS NULL
        AND r.status IN ('running', 'paused') ORDER BY w.number";
    let of_one = "SELECT w.waiting FROM adkw_waits w JOIN adkw_runs r ON r.id = w.run
        JOIN adkw_sessions s ON s.number = r.session
        WHERE s.app_name = $1 AND w.run = $2 AND w.answer IS NULL
        AND r.status IN ('running', 'paused') ORDER BY w.number";
    let sql = if run.is_some() { of_one } else { all };
    let of = sqlx::query_scalar::<_, String>(sql).bind(app).bind(run.map(|run| run.to_string()));
    let rows = of.fetch_all(connection).await.doing(what)?;
    rows.iter().map(|text| from_text(text, "a wait")).collect()
}

/// Nobody waits for these any more.
pub(crate) async fn withdraw(connection: &mut PgConnection, waits: &[String]) -> Result<()> {
    let sql = "DELETE FROM adkw_waits WHERE id = ANY($1) AND answer IS NULL";
    sqlx::query(sql).bind(waits).execute(connection).await.doing("withdraw a wait").map(drop)
}

/// Answers a wait that is open.
pub(crate) async fn resolve(
    connection: &mut PgConnection,
    app: &str,
    id: &str,
    answer: &Value,
) -> Result<()> {
    let what = "answer a wait";
    let sql = "UPDATE adkw_waits SET answer = $3 WHERE id = $2 AND answer IS NULL
        AND run IN (SELECT r.id FROM adkw_runs r JOIN adkw_sessions s ON s.number = r.session
            WHERE s.app_name = $1 AND r.status IN ('running', 'paused'))";
    let of = sqlx::query(sql).bind(app).bind(id).bind(answer.to_string());
    if of.execute(&mut *connection).await.doing(what)?.rows_affected() > 0 {
        return Ok(());
    }
    let sql = "SELECT w.answer IS NOT NULL FROM adkw_waits w JOIN adkw_runs r ON r.id = w.run
        JOIN adkw_sessions s ON s.number = r.session WHERE s.app_name = $1 AND w.id = $2";
    let known = sqlx::query_scalar::<_, bool>(sql).bind(app).bind(id).fetch_optional(connection).await;
    match known.doing(what)? {
        Some(true) => Err(refuse::answered(id)),
        _ => Err(refuse::unknown_wait(id)),
    }
}
