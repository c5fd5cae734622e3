//! The registry of runs and their journals, as rows.

use crate::append::{Entry, known};
use crate::error::{Doing, corrupt};
use crate::owner::Owner;
use crate::reader::{self, Filled};
use crate::writer::Db;
use adk_core::engine::{
    Claim, ClaimCheck, ClaimId, ClaimedRun, Done, DrivenRun, DueWaits, Pairs, RunFilter, RunInfo, RunRecord,
    RunRows, RunState, RunStatus, Stored, Wait, Waiting, from_text, refuse, to_text,
};
use adk_core::model::Usage;
use adk_core::session::{SessionKey, now_micros};
use adk_core::{Result, RunId, StateDelta};
use rusqlite::{Connection, OptionalExtension, Row, Rows, Statement, ToSql, params};
use serde_json::Value;
use std::collections::HashSet;

/// Makes sure that this is the current claim of the run, and enters the run in the registry when it begins; gives its
/// number there. `None` when it is not in the registry: it has not begun.
pub(crate) fn drives(
    db: &mut Db,
    claim: ClaimId,
    session: i64,
    begins: Option<&RunRecord>,
) -> Result<Option<i64>> {
    let what = "enter a run";
    let run = claim.run_id;
    if let Some(record) = begins {
        let sql = "INSERT OR IGNORE INTO adkw_runs
            (id, session, status, owner, record, app, workflow, epoch, created, updated, tenant_of)
            VALUES (?1, ?2, 'running', ?3, ?4, ?5, ?6, ?7, ?8, ?8, ?9)";
        let mut statement = db.connection.prepare_cached(sql).doing(what)?;
        let (record, of) = (to_text(record)?, record);
        let row = params![
            run.to_string(),
            session,
            db.owner.of(claim),
            record,
            of.session.app,
            of.workflow,
            claim.epoch,
            of.time,
            of.tenant_of
        ];
        if statement.execute(row).doing(what)? == 0 {
            begin_queued(db, claim, &record)?;
        }
    }
    if let Some((number, epoch)) = db.cache.runs.get(&run) {
        return if *epoch == claim.epoch { Ok(Some(*number)) } else { Err(refuse::fenced(run)) };
    }
    let sql = "SELECT number, owner, epoch FROM adkw_runs WHERE id = ?1";
    let found = db.connection.prepare_cached(sql).and_then(|mut statement| {
        let row = |row: &Row<'_>| {
            Ok((row.get::<_, i64>(0)?, row.get::<_, Option<String>>(1)?, row.get::<_, u64>(2)?))
        };
        statement.query_row([run.to_string()], row).optional()
    });
    match found.doing(what)? {
        // Such a run is nowhere else, and its writers share no memory with who has deleted it.
        None if claim.is_driven_above() => Err(refuse::unknown_run(run)),
        None => Ok(None),
        Some((number, owner, epoch)) => {
            if owner.as_deref() != Some(db.owner.of(claim)) || epoch != claim.epoch {
                return Err(refuse::fenced(run));
            }
            db.cache.runs.insert(run, (number, epoch));
            Ok(Some(number))
        }
    }
}

/// Begins a run that was queued with this claim.
fn begin_queued(db: &Db, claim: ClaimId, record: &str) -> Result<()> {
    let sql = "UPDATE adkw_runs SET status = 'running', record = ?4, updated = ?5
        WHERE id = ?1 AND owner = ?2 AND epoch = ?3 AND status = 'queued'";
    let row = params![claim.run_id.to_string(), db.owner.of(claim), claim.epoch, record, now_micros()];
    let begun = db.connection.prepare_cached(sql).and_then(|mut statement| statement.execute(row));
    begun.doing("begin a run that was queued").map(drop)
}

/// Enters a run that waits for the turn of its session.
pub(crate) fn enqueue(db: &mut Db, claim: ClaimId, record: &RunRecord) -> Result<()> {
    let what = "queue a run";
    let key = &record.session;
    let session = known(db, key)?.ok_or_else(|| key.missing())?.number;
    let sql = "INSERT OR IGNORE INTO adkw_runs
        (id, session, status, owner, record, app, workflow, epoch, created, updated, tenant_of)
        VALUES (?1, ?2, 'queued', ?3, ?4, ?5, ?6, ?7, ?8, ?8, ?9)";
    let mut statement = db.connection.prepare_cached(sql).doing(what)?;
    let (run, owner) = (claim.run_id.to_string(), db.owner.of(claim));
    let RunRecord { workflow, time, tenant_of, .. } = record;
    let row = params![run, session, owner, to_text(record)?, key.app, workflow, claim.epoch, time, tenant_of];
    // An engine above the store may enter it again.
    if statement.execute(row).doing(what)? == 0 && !claim.is_driven_above() {
        return Err(refuse::run_exists(claim.run_id));
    }
    Ok(())
}

/// Place and `temp:` keys of the event that fills a slot.
pub(crate) fn slot(connection: &Connection, run: i64, entry: &Entry) -> Result<Option<(u64, StateDelta)>> {
    let sql = "SELECT place, temp FROM adkw_tail WHERE run = ?1 AND slot = ?2
        UNION ALL SELECT place, temp FROM adkw_log WHERE run = ?1 AND slot = ?2";
    let row = connection.query_row(sql, params![run, entry.slot], |row| {
        Ok((row.get::<_, u64>(0)?, row.get::<_, Option<String>>(1)?))
    });
    let row = row.optional().doing("look for the event of an earlier attempt")?;
    row.map(|(place, temp)| Ok((place, temp_of(temp)?))).transpose()
}

/// Whether the slot of a run is filled.
pub(crate) fn is_filled(connection: &Connection, run: RunId, slot: &str) -> Result<bool> {
    let sql = "SELECT EXISTS (SELECT 1 FROM adkw_runs r JOIN adkw_tail l ON l.run = r.number AND l.slot = ?2
            WHERE r.id = ?1)
        OR EXISTS (SELECT 1 FROM adkw_runs r JOIN adkw_log l ON l.run = r.number AND l.slot = ?2 WHERE r.id = ?1)";
    let is_filled = connection
        .prepare_cached(sql)
        .and_then(|mut statement| statement.query_row(params![run.to_string(), slot], |row| row.get(0)));
    is_filled.doing("look for the event of an earlier attempt")
}

fn temp_of(text: Option<String>) -> Result<StateDelta> {
    text.map_or(Ok(StateDelta::default()), |text| from_text(&text, "the `temp:` keys of an event"))
}

/// Agents that have finished, and are not told of by the row of an event. Of a run that is in no book nothing is kept.
pub(crate) fn finished(connection: &Connection, run: &str, done: &[Done]) -> Result<()> {
    let what = "write that an agent has finished";
    for done in done {
        let sql = "INSERT OR IGNORE INTO adkw_done (run, path, done)
            SELECT ?1, ?2, ?3 WHERE EXISTS (SELECT 1 FROM adkw_runs WHERE id = ?1)";
        let mut statement = connection.prepare_cached(sql).doing(what)?;
        statement.execute(params![run, done.path.to_string(), to_text(done)?]).doing(what)?;
    }
    Ok(())
}

/// The same of a run that makes no more commits, as long as it is driven here.
pub(crate) fn last_finished(db: &mut Db, claim: ClaimId, done: &[Done]) -> Result<()> {
    drives(db, claim, 0, None)?;
    finished(&db.connection, &claim.run_id.to_string(), done)
}

/// Records the result of a step; gives that of an earlier attempt when there is one. The record of a failed call gives way.
pub(crate) fn step(db: &mut Db, claim: ClaimId, key: &str, value: &Value) -> Result<Option<Value>> {
    let what = "record a step";
    drives(db, claim, 0, None)?;
    let sql = r#"INSERT INTO adkw_steps (run, key, value)
        SELECT ?1, ?2, ?3 WHERE EXISTS (SELECT 1 FROM adkw_runs WHERE id = ?1)
        ON CONFLICT DO UPDATE SET value = excluded.value WHERE value LIKE '{"$failed":%'"#;
    let mut statement = db.connection.prepare_cached(sql).doing(what)?;
    let run = claim.run_id.to_string();
    if statement.execute(params![run, key, value.to_string()]).doing(what)? > 0 {
        return Ok(None);
    }
    let sql = "SELECT value FROM adkw_steps WHERE run = ?1 AND key = ?2";
    let earlier = db.connection.query_row(sql, [&*run, key], |row| row.get::<_, String>(0)).optional();
    earlier.doing(what)?.map(|text| from_text(&text, "the record of a step")).transpose()
}

/// The answer to a wait, which is open from now on.
pub(crate) fn answer(db: &mut Db, claim: ClaimId, wait: &Wait) -> Result<Option<Value>> {
    let what = "open a wait";
    drives(db, claim, 0, None)?;
    let id = wait.key.id();
    let sql = "SELECT answer FROM adkw_waits WHERE id = ?1";
    let answer = db.connection.query_row(sql, [&id], |row| row.get::<_, Option<String>>(0)).optional();
    if let Some(answer) = answer.doing(what)? {
        if answer.is_some() {
            let sql = "UPDATE adkw_waits SET seen = 1 WHERE id = ?1";
            db.connection.execute(sql, [&id]).doing(what)?;
        }
        return answer.map(|text| from_text(&text, "an answer")).transpose();
    }
    let sql = "INSERT INTO adkw_waits (id, run, key, waiting, app, deadline, session, tenant_of)
        SELECT ?1, ?2, ?3, ?4, ?5, ?6, session, tenant_of FROM adkw_runs WHERE id = ?2";
    let (run, waiting) = (wait.key.run_id.to_string(), to_text(&wait.waiting)?);
    // An engine above the store keeps the deadlines of its runs.
    let deadline = wait.waiting.deadline.filter(|_| !claim.is_driven_above());
    let row = params![id, run, wait.key.to_string(), waiting, wait.session.app, deadline];
    db.connection.execute(sql, row).doing(what)?;
    Ok(None)
}

/// Removes open waits that no agent awaits any more. The answers of others count as seen.
pub(crate) fn withdraw(db: &mut Db, claim: ClaimId, waits: &[String]) -> Result<()> {
    let what = "withdraw a wait";
    drives(db, claim, 0, None)?;
    for id in waits {
        let sql = "DELETE FROM adkw_waits WHERE id = ?1 AND answer IS NULL";
        if db.connection.execute(sql, [id]).doing(what)? == 0 {
            db.connection.execute("UPDATE adkw_waits SET seen = 1 WHERE id = ?1", [id]).doing(what)?;
        }
    }
    Ok(())
}

/// Answers a wait that is open.
pub(crate) fn resolve(db: &Db, app: &str, id: &str, answer: &Value) -> Result<()> {
    let what = "answer a wait";
    let (run, _) = open_row(&db.connection, app, id)?;
    let answered = "UPDATE adkw_waits SET answer = ?2 WHERE id = ?1";
    let mut answered = db.connection.prepare_cached(answered).doing(what)?;
    answered.execute(params![id, answer.to_string()]).doing(what)?;
    let wakes = "UPDATE adkw_runs SET status = 'answered' WHERE id = ?1 AND status = 'paused'";
    db.connection.prepare_cached(wakes).doing(what)?.execute([run]).doing(what).map(drop)
}

/// The run of an open wait of an app, and the wait as it is stored.
fn open_row(connection: &Connection, app: &str, id: &str) -> Result<(String, String)> {
    let what = "look for a wait";
    let mut statement = connection.prepare_cached(OPEN_WAIT).doing(what)?;
    let row = statement.query_row([app, id], |row| {
        Ok((row.get::<_, String>(0)?, row.get::<_, String>(1)?, row.get::<_, bool>(2)?))
    });
    match row.optional().doing(what)? {
        Some((run, waiting, false)) => Ok((run, waiting)),
        Some((.., true)) => Err(refuse::answered(id)),
        None => Err(refuse::unknown_wait(id)),
    }
}

/// An open wait of an app by its id.
pub(crate) fn open_wait(connection: &Connection, app: &str, id: &str) -> Result<Waiting> {
    let (run, text) = open_row(connection, app, id)?;
    let what = "look for a wait";
    let sql =
        "SELECT s.app_name, s.user_id, s.id FROM adkw_runs r JOIN adkw_sessions s ON s.number = r.session
        WHERE r.id = ?1";
    let of = connection.query_row(sql, [run], |row| key_of(row, 0));
    read_wait(&text, of.doing(what)?)
}

/// App, user and id of a session, from this column on.
fn key_of(row: &Row<'_>, first: usize) -> rusqlite::Result<SessionKey> {
    let of = |column| row.get::<_, String>(first + column);
    Ok(SessionKey::new(of(0)?, of(1)?, of(2)?))
}

/// A wait as it is stored. Those of earlier versions do not say whose they are.
fn read_wait(text: &str, key: SessionKey) -> Result<Waiting> {
    let waiting: Waiting = from_text(text, "a wait")?;
    Ok(waiting.of(key))
}

/// Claims a run for this process, and reads what is stored of it. Dropping this claim gives nothing back.
pub(crate) fn claim(db: &mut Db, run: RunId, check: &ClaimCheck) -> Result<ClaimedRun> {
    let what = "claim a run";
    let id = run.to_string();
    let sql = "SELECT owner, record, number, epoch, status = 'cancelled' FROM adkw_runs WHERE id = ?1";
    let row = |row: &Row<'_>| {
        Ok((
            row.get(0)?,
            row.get::<_, String>(1)?,
            row.get::<_, i64>(2)?,
            row.get(3)?,
            row.get::<_, bool>(4)?,
        ))
    };
    let row: Option<(Option<String>, _, _, u64, _)> =
        db.connection.query_row(sql, [&id], row).optional().doing(what)?;
    let Some((owner, record, of, epoch, is_cancelled)) = row else { return Err(refuse::unknown_run(run)) };
    let record: RunRecord = from_text(&record, &format!("the record of run `{run}`"))?;
    check(&record)?;
    if is_cancelled {
        return Err(refuse::cancelled(run));
    }
    let held = ClaimId { run_id: run, epoch };
    // Also one that has ended: what its steps gave is not here.
    if held.is_driven_above()
        || owner.is_some_and(|owner| db.owner.drives(held, &owner, &db.owner.given_up()))
    {
        return Err(refuse::run_busy(run));
    }
    // What a failed run has not been told in time is asked again.
    let sql = r#"DELETE FROM adkw_waits WHERE run = ?1 AND answer LIKE '{"$failed":%'
        AND EXISTS (SELECT 1 FROM adkw_runs WHERE id = ?1 AND status = 'failed')"#;
    db.connection.execute(sql, [&id]).doing(what)?;
    let claim = ClaimId { run_id: run, epoch: epoch + 1 };
    let sql = "UPDATE adkw_runs SET owner = ?2, epoch = ?3, status = ?4, error = NULL, updated = ?5
        WHERE id = ?1";
    let status = if record.is_queued { RunStatus::Queued } else { RunStatus::Running };
    let row = params![id, db.owner.name, claim.epoch, status.to_row().0, now_micros()];
    db.connection.execute(sql, row).doing(what)?;
    db.cache.runs.remove(&run);
    if record.is_queued {
        return Ok(ClaimedRun::new(Claim::new(claim, drop), record));
    }
    let sql = "UPDATE adkw_waits SET seen = answer IS NOT NULL WHERE run = ?1 RETURNING id";
    let waits = texts(&db.connection, sql, &id)?;
    let key = record.session.clone();
    let number = known(db, &key)?.map(|known| known.number).ok_or_else(|| key.missing())?;
    let end = run_end(&db.connection, of)?;
    let events = reader::events(&db.connection, &key, number, record.begins..end)?;
    let rows = RunRows {
        temps: pairs(
            &db.connection,
            "SELECT slot, temp FROM adkw_log WHERE run = ?1 AND temp IS NOT NULL
             UNION ALL SELECT slot, temp FROM adkw_tail WHERE run = ?1 AND temp IS NOT NULL",
            params![of],
        )?,
        steps: pairs(&db.connection, "SELECT key, value FROM adkw_steps WHERE run = ?1", params![id])?,
        done: pairs(
            &db.connection,
            "SELECT d.value ->> 'path', d.value FROM adkw_log l, json_each(l.done) d
             WHERE l.run = ?1 AND l.done IS NOT NULL
             UNION ALL SELECT d.value ->> 'path', d.value FROM adkw_tail l, json_each(l.done) d
             WHERE l.run = ?1 AND l.done IS NOT NULL
             UNION ALL SELECT path, done FROM adkw_done WHERE run = ?2",
            params![of, id],
        )?,
        waits,
    };
    ClaimedRun::from_rows(Claim::new(claim, drop), record, events, rows)
}

/// Texts of a run.
fn texts(connection: &Connection, sql: &str, run: &str) -> Result<Vec<String>> {
    let what = "read the journal of a run";
    let mut statement = connection.prepare_cached(sql).doing(what)?;
    let rows = statement.query_map([run], |row| row.get(0)).doing(what)?;
    rows.collect::<rusqlite::Result<_>>().doing(what)
}

/// The place after the last event of a run; 0 before its first event.
fn run_end(connection: &Connection, run: i64) -> Result<u64> {
    let sql = "SELECT coalesce(max(place) + 1, 0) FROM (SELECT place FROM adkw_tail WHERE run = ?1
        UNION ALL SELECT place FROM adkw_log WHERE run = ?1)";
    let end = connection.prepare_cached(sql).and_then(|mut end| end.query_row([run], |row| row.get(0)));
    end.doing("look for the last event of a run")
}

/// Keys and JSON of a run.
fn pairs(connection: &Connection, sql: &str, run: &[&dyn ToSql]) -> Result<Pairs> {
    let what = "read the journal of a run";
    let mut statement = connection.prepare_cached(sql).doing(what)?;
    let rows = statement.query_map(run, |row| Ok((row.get(0)?, row.get(1)?))).doing(what)?;
    rows.collect::<rusqlite::Result<_>>().doing(what)
}

/// Gives a claim back, and says how far the run is and what it has used when that is known. `false` when the run has another
/// claim by now, or has ended otherwise. The claim of an engine above the store goes on until the end.
pub(crate) fn close(db: &mut Db, claim: ClaimId, end: Option<&(RunStatus, Usage)>) -> Result<bool> {
    let what = "close a run";
    let (status, error) = end.map(|(status, _)| status.to_row()).unzip();
    let usage = end.map(|(_, usage)| to_text(usage)).transpose()?;
    let time = end.map(|_| now_micros());
    let run = claim.run_id.to_string();
    if db.cache.runs.get(&claim.run_id).is_some_and(|(_, epoch)| *epoch == claim.epoch) {
        db.cache.runs.remove(&claim.run_id);
    }
    let sql =
        "UPDATE adkw_runs SET owner = iif(?8, owner, NULL), error = coalesce(?5, error), updated = coalesce(?6, updated),
        usage = coalesce(?7, usage), status = CASE
            WHEN ?4 = 'paused' AND EXISTS
                (SELECT 1 FROM adkw_waits WHERE run = ?1 AND answer IS NOT NULL AND NOT seen) THEN 'answered'
            ELSE coalesce(?4, status) END
        WHERE id = ?1 AND owner = ?2 AND epoch = ?3";
    let mut statement = db.connection.prepare_cached(sql).doing(what)?;
    let goes_on = claim.is_driven_above() && end.is_some_and(|(status, _)| status.is_open());
    let row = params![run, db.owner.of(claim), claim.epoch, status, error.flatten(), time, usage, goes_on];
    if statement.execute(row).doing(what)? > 0 {
        if matches!(status, Some("finished" | "failed")) {
            let sql = "DELETE FROM adkw_waits WHERE run = ?1 AND answer IS NULL";
            db.connection.prepare_cached(sql).doing(what)?.execute([&run]).doing(what)?;
        }
        return Ok(true);
    }
    if usage.is_some() {
        let sql = "UPDATE adkw_runs SET usage = ?3 WHERE id = ?1 AND status = 'cancelled' AND epoch = ?2 + 1";
        db.connection
            .prepare_cached(sql)
            .doing(what)?
            .execute(params![run, claim.epoch, usage])
            .doing(what)?;
    }
    // An engine above the store may write an end again.
    let sql = "SELECT EXISTS (SELECT 1 FROM adkw_runs WHERE id = ?1 AND NOT (?2 = 0 AND epoch = 0 AND status = ?3))";
    let of = params![run, claim.epoch, status];
    let is_known: bool = db.connection.query_row(sql, of, |row| row.get(0)).doing(what)?;
    Ok(!is_known)
}

/// Cancels a run that has not ended, and gives its status.
pub(crate) fn cancel(db: &mut Db, app: &str, run: RunId) -> Result<RunStatus> {
    let what = "cancel a run";
    let id = run.to_string();
    let sql = "UPDATE adkw_runs SET status = 'cancelled', owner = NULL, epoch = epoch + 1, error = NULL, updated = ?3
        WHERE id = ?1 AND app = ?2 AND status IN ('queued', 'running', 'paused', 'answered')";
    let row = params![id, app, now_micros()];
    if db.connection.prepare_cached(sql).doing(what)?.execute(row).doing(what)? > 0 {
        db.cache.runs.remove(&run);
        let sql = "DELETE FROM adkw_waits WHERE run = ?1 AND answer IS NULL";
        db.connection.prepare_cached(sql).doing(what)?.execute([&id]).doing(what)?;
    }
    let sql = "SELECT status, error FROM adkw_runs WHERE id = ?1 AND app = ?2";
    let row = db
        .connection
        .query_row(sql, [&*id, app], |row| Ok(RunStatus::from_row(&row.get::<_, String>(0)?, row.get(1)?)));
    row.optional().doing(what)?.ok_or_else(|| refuse::unknown_run(run))
}

/// What is stored of a run that an engine above the store drives, from a place of the log on.
pub(crate) fn driven(connection: &Connection, run: RunId, from: u64) -> Result<Option<DrivenRun>> {
    let what = "read a run";
    let sql = "SELECT number, epoch, status, error, usage, record, session FROM adkw_runs WHERE id = ?1";
    let mut statement = connection.prepare_cached(sql).doing(what)?;
    let mut rows = statement.query([run.to_string()]).doing(what)?;
    let Some(row) = rows.next().doing(what)? else { return Ok(None) };
    let (number, epoch): (i64, u64) = (row.get(0).doing(what)?, row.get(1).doing(what)?);
    let status = RunStatus::from_row(&row.get::<_, String>(2).doing(what)?, row.get(3).doing(what)?);
    if !is_driven_above(epoch, &status) {
        return Err(refuse::run_busy(run));
    }
    let usage = row.get::<_, Option<String>>(4).doing(what)?;
    let usage = usage.map(|usage| from_text(&usage, "what a run has used")).transpose()?;
    let record = row.get::<_, String>(5).doing(what)?;
    let record: RunRecord = from_text(&record, &format!("the record of run `{run}`"))?;
    // All events of a run are found by its number; the last ones in the log of its session.
    let from = from.min(i64::MAX.unsigned_abs());
    let after = (from > record.begins).then_some((row.get(6).doing(what)?, from));
    let filled = reader::filled(connection, &record.session, number, after)?;
    let filled = filled
        .into_iter()
        .map(|Filled { place, event, slot, temp }| Ok((slot, Stored::earlier(place, event, temp_of(temp)?))));
    Ok(Some(DrivenRun::new(record, status, usage, filled.collect::<Result<_>>()?)))
}

/// Whether a run is, or was, driven by an engine above the store. The first claim of others is 1, and to cancel adds 1.
fn is_driven_above(epoch: u64, status: &RunStatus) -> bool {
    epoch == 0 || (epoch == 1 && *status == RunStatus::Cancelled)
}

/// Who drives a run, or did when it ended without a word.
pub(crate) fn drivers(connection: &Connection) -> Result<HashSet<String>> {
    let what = "list the runs";
    let mut statement = connection.prepare_cached(DRIVERS).doing(what)?;
    let rows = statement.query_map([], |row| row.get(0)).doing(what)?;
    rows.collect::<rusqlite::Result<_>>().doing(what)
}

/// Each owner is found by the index, however many runs it drives.
const DRIVERS: &str = "WITH RECURSIVE owners (owner) AS (
        SELECT min(owner) FROM adkw_runs WHERE owner IS NOT NULL
        UNION ALL SELECT (SELECT min(r.owner) FROM adkw_runs r WHERE r.owner IS NOT NULL AND r.owner > owners.owner)
            FROM owners WHERE owners.owner IS NOT NULL)
    SELECT owner FROM owners WHERE owner IS NOT NULL";

/// An open wait of an app, found by its id.
const OPEN_WAIT: &str = "SELECT w.run, w.waiting, w.answer IS NOT NULL FROM adkw_waits w
    JOIN adkw_runs r ON r.id = w.run
    WHERE w.id = ?2 AND w.app = ?1 AND (w.answer IS NOT NULL OR r.status IN ('running', 'paused', 'answered'))";

/// Whose runs are looked for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Whose {
    /// Those of an app.
    App,
    /// Those of the tenants of an app.
    Tenants,
}

/// Which runs are selected, as SQL: its conditions name the app `?1` of a table, then run, user, session, the run before the
/// page, the workflows as a JSON list, and the owner.
fn selected(table: &str, whose: Whose, filter: &RunFilter) -> String {
    let states = match filter.state {
        RunState::Unfinished => "r.status IN ('queued', 'running', 'paused', 'answered')",
        RunState::Ready => "r.status IN ('queued', 'running', 'answered')",
        RunState::Finished => "r.status = 'finished'",
        RunState::Failed => "r.status = 'failed'",
        RunState::Cancelled => "r.status = 'cancelled'",
        RunState::Any => "TRUE",
    };
    let column = match whose {
        Whose::App => "app",
        Whose::Tenants => "tenant_of",
    };
    let mut sql = format!("{table}.{column} = ?1 AND {states}");
    // A condition for both cases would go through all runs of the app.
    for (is_given, condition) in [
        (filter.run.is_some(), " AND r.id = ?2"),
        (filter.user.is_some(), " AND s.user_id = ?3"),
        (filter.session.is_some(), " AND s.id = ?4"),
        (filter.after.is_some() && filter.oldest_first, " AND r.id > ?5"),
        (filter.after.is_some() && !filter.oldest_first, " AND r.id < ?5"),
        (filter.workflows.is_some(), " AND r.workflow IN (SELECT value FROM json_each(?6))"),
    ] {
        if is_given {
            sql.push_str(condition);
        }
    }
    sql
}

type Parameters = [Option<String>; 7];

/// The parameters of [`selected`], in its order.
fn parameters(app: &str, filter: &RunFilter, owner: Option<&str>) -> Result<Parameters> {
    let workflows = filter.workflows.as_ref().map(to_text).transpose()?;
    let of = |run: Option<RunId>| run.map(|run| run.to_string());
    let RunFilter { run, user, session, after, .. } = filter;
    Ok([
        Some(app.to_owned()),
        of(*run),
        user.clone(),
        session.clone(),
        of(*after),
        workflows,
        owner.map(str::to_owned),
    ])
}

/// Binds the parameters that a statement has.
fn bind<'s>(statement: &'s mut Statement<'_>, parameters: &Parameters) -> rusqlite::Result<Rows<'s>> {
    let count = statement.parameter_count();
    for (index, value) in (1..=count).zip(parameters) {
        statement.raw_bind_parameter(index, value)?;
    }
    Ok(statement.raw_query())
}

/// The tables, in the order in which they are to be searched: those of a user of an app are found by their sessions.
fn tables(whose: Whose, filter: &RunFilter) -> &'static str {
    if filter.user.is_some() && whose == Whose::App {
        "adkw_sessions s CROSS JOIN adkw_runs r ON r.session = s.number AND s.app_name = ?1"
    } else {
        "adkw_runs r JOIN adkw_sessions s ON s.number = r.session"
    }
}

const COLUMNS: &str =
    "SELECT r.id, s.app_name, s.user_id, s.id, r.workflow, r.status, r.error, r.owner, r.epoch,
    r.created, r.updated, r.usage FROM";

/// The list of runs that a condition selects, and a filter: in the order of their ids, which begin with the time.
fn runs_sql(condition: &str, whose: Whose, filter: &RunFilter) -> String {
    let order = if filter.oldest_first { "ASC" } else { "DESC" };
    let (tables, selected) = (tables(whose, filter), selected("r", whose, filter));
    format!("{COLUMNS} {tables} WHERE {condition}{selected} ORDER BY r.id {order}")
}

/// Runs that nobody has.
const FREE: &str = "r.owner IS NULL AND ";
/// Runs of one owner.
const OF_OWNER: &str = "r.owner = ?7 AND ";

/// The runs that a filter selects. Claims that were `given_up` are free whatever their rows say.
pub(crate) fn runs(
    connection: &Connection,
    (whose, app): (Whose, &str),
    filter: &RunFilter,
    owner: &Owner,
    given_up: &HashSet<ClaimId>,
) -> Result<Vec<RunInfo>> {
    let limit = filter.limit.unwrap_or(usize::MAX);
    let list = |condition: &str, of: Option<&str>| {
        let (sql, what) = (runs_sql(condition, whose, filter), "list the runs");
        let mut statement = connection.prepare_cached(&sql).doing(what)?;
        let mut rows = bind(&mut statement, &parameters(app, filter, of)?).doing(what)?;
        let mut all = Vec::new();
        while all.len() < limit
            && let Some(row) = rows.next().doing(what)?
        {
            let run = info(row, owner, given_up)?;
            if run.is_ready || filter.state != RunState::Ready {
                all.push(run);
            }
        }
        Ok(all)
    };
    if filter.state != RunState::Ready {
        return list("", None);
    }
    // Those that nobody has are found by an index, and those of dead processes by their owners.
    let mut all = list(FREE, None)?;
    for name in drivers(connection)? {
        let is_dead = if name == owner.name { !given_up.is_empty() } else { !owner.lives(&name) };
        if is_dead {
            all.extend(list(OF_OWNER, Some(&name))?);
        }
    }
    all.sort_by_key(|run| run.run_id);
    if !filter.oldest_first {
        all.reverse();
    }
    all.truncate(limit);
    Ok(all)
}

/// A row of [`COLUMNS`].
fn info(row: &Row<'_>, owner: &Owner, given_up: &HashSet<ClaimId>) -> Result<RunInfo> {
    let what = "list the runs";
    let text = |column| row.get::<_, String>(column).doing(what);
    let id = text(0)?;
    let run_id: RunId = id.parse().map_err(|_| corrupt(format!("`{id}` is no id of a run")))?;
    let (status, error) = (text(5)?, row.get::<_, Option<String>>(6).doing(what)?);
    let driver = row.get::<_, Option<String>>(7).doing(what)?;
    let claim = ClaimId { run_id, epoch: row.get(8).doing(what)? };
    let is_free = !driver.is_some_and(|driver| owner.drives(claim, &driver, given_up));
    let is_ready = is_free && matches!(&*status, "queued" | "running" | "answered");
    let session = key_of(row, 1).doing(what)?;
    let (created, updated) = (row.get(9).doing(what)?, row.get(10).doing(what)?);
    let usage = row.get::<_, Option<String>>(11).doing(what)?;
    let usage = usage.map(|usage| from_text(&usage, "what a run has used")).transpose()?;
    let info = RunInfo::new(run_id, session, text(4)?, RunStatus::from_row(&status, error), is_ready);
    Ok(info.at(created, updated).used(usage))
}

/// The open waits of the runs that a filter selects. Those of an app are in the order of their index, so that a limit ends
/// the search.
fn waiting_sql(filter: &RunFilter) -> String {
    let (tables, of) = if filter.run.is_some() {
        (
            "adkw_runs r CROSS JOIN adkw_waits w ON w.run = r.id JOIN adkw_sessions s ON s.number = r.session",
            "r",
        )
    } else if filter.user.is_some() {
        let by_session = "adkw_sessions s CROSS JOIN adkw_waits w ON w.session = s.number AND s.app_name = ?1
            JOIN adkw_runs r ON r.id = w.run";
        (by_session, "w")
    } else {
        (
            "adkw_waits w CROSS JOIN adkw_runs r ON r.id = w.run JOIN adkw_sessions s ON s.number = w.session",
            "w",
        )
    };
    let selected = selected(of, Whose::App, filter);
    format!(
        "SELECT w.waiting, s.app_name, s.user_id, s.id FROM {tables} WHERE w.answer IS NULL AND {selected} ORDER BY w.number"
    )
}

/// The waits that are open, in the order in which they began. One that cannot be read is left out: it is reported when
/// its run is claimed.
pub(crate) fn waiting(connection: &Connection, app: &str, filter: &RunFilter) -> Result<Vec<Waiting>> {
    let what = "list the waits";
    let mut statement = connection.prepare_cached(&waiting_sql(filter)).doing(what)?;
    let mut rows = bind(&mut statement, &parameters(app, filter, None)?).doing(what)?;
    let mut all = Vec::new();
    while all.len() < filter.limit.unwrap_or(usize::MAX)
        && let Some(row) = rows.next().doing(what)?
    {
        let text: String = row.get(0).doing(what)?;
        all.extend(read_wait(&text, key_of(row, 1).doing(what)?).ok());
    }
    Ok(all)
}

/// Open waits by their deadline, of those that a condition selects.
macro_rules! due {
    ($whose:literal) => {
        concat!(
            "SELECT w.waiting, s.app_name, s.user_id, s.id, w.deadline FROM adkw_waits w JOIN adkw_runs r ON r.id = w.run
            JOIN adkw_sessions s ON s.number = r.session WHERE ",
            $whose,
            " AND w.answer IS NULL AND w.deadline IS NOT NULL ORDER BY w.deadline"
        )
    };
}

/// Open waits of an app by their deadline.
const DUE: &str = due!("w.app = ?1");
/// Those of the tenants of an app.
const DUE_OF_TENANTS: &str = due!("w.tenant_of = ?1");

/// Waits whose deadline has passed, and the next deadline.
pub(crate) fn due(
    connection: &Connection,
    (whose, app): (Whose, &str),
    now: u64,
    most: usize,
) -> Result<DueWaits> {
    let what = "look for deadlines";
    let sql = match whose {
        Whose::App => DUE,
        Whose::Tenants => DUE_OF_TENANTS,
    };
    let mut statement = connection.prepare_cached(sql).doing(what)?;
    let mut rows = statement.query([app]).doing(what)?;
    let mut due = DueWaits::default();
    while let Some(row) = rows.next().doing(what)? {
        let deadline: u64 = row.get(4).doing(what)?;
        if deadline > now || due.waits.len() == most {
            due.next = Some(deadline);
            break;
        }
        let text: String = row.get(0).doing(what)?;
        due.waits.extend(read_wait(&text, key_of(row, 1).doing(what)?).ok());
    }
    Ok(due)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by a panic")]

    use super::*;
    use rusqlite::StatementStatus;

    fn plan(connection: &Connection, sql: &str) -> Vec<String> {
        let mut statement = connection.prepare(&format!("EXPLAIN QUERY PLAN {sql}")).unwrap();
        let mut rows = bind(&mut statement, &[const { None }; 7]).unwrap();
        let mut steps = Vec::new();
        while let Some(row) = rows.next().unwrap() {
            steps.push(row.get::<_, String>(3).unwrap());
        }
        steps
    }

    #[test]
    fn queries_use_indexes() {
        let connection = Connection::open_in_memory().unwrap();
        crate::schema::prepare(&connection).unwrap();
        let run: RunId = "e-01890000-0000-7000-8000-000000000000".parse().unwrap();
        let of_run = RunFilter::of_run(run);
        let ready = RunFilter::ready().oldest_first().workflows(["w"]).after(run);
        let of_app = |condition, filter: &RunFilter| runs_sql(condition, Whose::App, filter);
        let (free, dead) = (of_app(FREE, &ready), of_app(OF_OWNER, &ready));
        let of_tenants = |condition| runs_sql(condition, Whose::Tenants, &ready);
        let failed = of_app("", &RunFilter::failed());
        let page = of_app("", &RunFilter::any().after(run));
        let newest = plan(&connection, &of_app("", &RunFilter::any()));
        assert!(newest[0].contains("INDEX sqlite_autoindex_adkw_runs_1"), "{newest:#?}");
        assert!(newest.iter().all(|step| !step.contains("TEMP B-TREE")), "all are sorted: {newest:#?}");
        let user = waiting_sql(&RunFilter::unfinished().user("u"));
        let waits = plan(&connection, &waiting_sql(&RunFilter::unfinished()));
        assert!(waits[0].ends_with("adkw_waits_open (app=?)"), "{waits:#?}");
        assert!(waits.iter().all(|step| !step.contains("TEMP B-TREE")), "all are sorted: {waits:#?}");
        for (sql, first) in [
            (waiting_sql(&of_run), "adkw_waits_run (run=?)"),
            (user, "adkw_waits_session (session=?)"),
            (page, "(id<?)"),
            (free, "adkw_runs_free (app=? AND id>?)"),
            (dead, "adkw_runs_driven (owner=? AND app=? AND id>?)"),
            (of_tenants(FREE), "adkw_runs_tenants (owner=? AND tenant_of=? AND id>?)"),
            (of_tenants(OF_OWNER), "adkw_runs_tenants (owner=? AND tenant_of=? AND id>?)"),
            (failed, "adkw_runs_failed (app=?)"),
            (OPEN_WAIT.to_owned(), "(id=?)"),
            (DUE.to_owned(), "adkw_waits_due (app=? AND deadline>?)"),
            (DUE_OF_TENANTS.to_owned(), "adkw_waits_tenants (tenant_of=? AND deadline>?)"),
        ] {
            let steps = plan(&connection, &sql);
            assert!(
                steps.iter().all(|step| !step.starts_with("SCAN ") || step.contains("json_each")),
                "{sql}: {steps:#?}"
            );
            assert!(
                steps.iter().any(|step| step.starts_with("SEARCH ") && step.contains(first)),
                "{sql}: {steps:#?}"
            );
        }
    }

    /// Runs, `many` of each kind: finished, free, of a dead process, and waiting; and those three of as many tenants.
    fn filled(many: u64) -> Connection {
        let connection = Connection::open_in_memory().unwrap();
        connection.execute_batch("PRAGMA foreign_keys=OFF").unwrap();
        crate::schema::prepare(&connection).unwrap();
        let id = "printf('e-01890000-0000-7000-8000-%012d', i)";
        let waiting = format!("json_object('id', 'w' || i, 'run_id', {id}, 'path', 'w/a')");
        let sql = format!(
            "INSERT INTO adkw_sessions VALUES (1, 'app', 'u', 's'), (2, 'app', 'v', 't');
            CREATE TABLE n AS WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < 7 * {many})
                SELECT i FROM n;
            INSERT INTO adkw_sessions SELECT i, 't' || i, 'u', 's' FROM n WHERE i % 7 > 3;
            INSERT INTO adkw_runs (id, session, status, owner, record, app, workflow, tenant_of)
                SELECT {id}, iif(i % 7 > 3, i, 1 + (i % 7 = 0)),
                    iif(i % 7 = 0, 'finished', iif(i % 7 IN (3, 6), 'paused', 'running')),
                    iif(i % 7 IN (2, 5), '1-dead', NULL), '{{}}', iif(i % 7 > 3, 't' || i, 'app'), 'w',
                    iif(i % 7 > 3, 'app', NULL) FROM n;
            INSERT INTO adkw_waits (id, run, key, waiting, app, deadline, session, tenant_of)
                SELECT 'w' || i, {id}, 'k', {waiting}, iif(i % 7 > 3, 't' || i, 'app'), 9, iif(i % 7 > 3, i, 1),
                    iif(i % 7 > 3, 'app', NULL) FROM n WHERE i % 7 IN (3, 6)"
        );
        connection.execute_batch(&sql).unwrap();
        connection
    }

    /// How many steps SQLite takes for each list.
    fn steps(many: u64) -> Vec<(&'static str, i32)> {
        let connection = filled(many);
        let owner = Owner::new(&std::env::temp_dir().join(format!("adk-sqlite-journal-{many}"))).unwrap();
        let taken = |sqls: &[String]| -> i32 {
            let of = |sql| connection.prepare_cached(sql).unwrap().get_status(StatementStatus::VmStep);
            sqls.iter().map(|sql| of(sql)).sum()
        };
        let counted = |what, sqls: &[String], list: &dyn Fn() -> usize, wanted| {
            let before = taken(sqls);
            assert_eq!(list(), wanted, "{what}");
            (what, taken(sqls) - before)
        };
        let listed_of = |what, whose, filter: RunFilter, wanted| {
            let mut sqls = vec![runs_sql("", whose, &filter)];
            if filter.state == RunState::Ready {
                sqls = [FREE, OF_OWNER].map(|part| runs_sql(part, whose, &filter)).to_vec();
                sqls.push(DRIVERS.to_owned());
            }
            let list = || runs(&connection, (whose, "app"), &filter, &owner, &HashSet::new()).unwrap().len();
            counted(what, &sqls, &list, wanted)
        };
        let listed = |what, filter, wanted| listed_of(what, Whose::App, filter, wanted);
        let waits = |what, filter: RunFilter, wanted| {
            let list = || waiting(&connection, "app", &filter).unwrap().len();
            counted(what, &[waiting_sql(&filter)], &list, wanted)
        };
        let (one, two) = (SessionKey::new("app", "u", "s"), SessionKey::new("app", "v", "t"));
        let due = |whose, now, wanted| {
            let due = || due(&connection, (whose, "app"), now, 20).unwrap().waits.len();
            counted("deadlines", &[DUE.to_owned(), DUE_OF_TENANTS.to_owned()], &due, wanted)
        };
        vec![
            listed("the newest runs", RunFilter::any().limit(20), 20),
            listed("the newest runs of a session", RunFilter::any().session(&one).limit(20), 20),
            listed("ready runs", RunFilter::ready().oldest_first().limit(20), 20),
            listed_of(
                "ready runs of tenants",
                Whose::Tenants,
                RunFilter::ready().oldest_first().limit(20),
                20,
            ),
            listed("failed runs", RunFilter::failed().limit(20), 0),
            listed("cancelled runs", RunFilter::cancelled().limit(20), 0),
            waits("waits", RunFilter::unfinished().limit(20), 20),
            waits("waits of a session without any", RunFilter::unfinished().session(&two), 0),
            due(Whose::App, 0, 0),
            due(Whose::App, 9, 20),
            due(Whose::Tenants, 0, 0),
            due(Whose::Tenants, 9, 20),
        ]
    }

    #[test]
    fn a_list_costs_the_same_in_a_large_store() {
        let (small, large) = (steps(50), steps(5_000));
        assert!(small.iter().map(|(_, steps)| steps).sum::<i32>() > 1_000, "{small:?}");
        assert_eq!(small, large);
    }
}
