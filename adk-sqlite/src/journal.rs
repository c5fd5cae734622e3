//! Journals of runs as rows: claims, recorded steps, finished agents and ends.

use crate::append::{Entry, session_rows};
use crate::error::Doing;
use crate::keys;
use crate::reader;
use crate::statements::Statements;
use crate::writer::Db;
use adk_journal::StateDelta;
use adk_journal::engine::{
    Claim, ClaimCheck, ClaimId, ClaimedRun, Done, DrivenRun, RunRecord, RunRows, RunStatus, refuse,
    to_text,
};
use adk_model::model::UsageByAgent;
use adk_model::{Result, RunId};
use adk_store::runs::{self, DrivenRow, RunColumn, record_from_text, temp_from_text};
use adk_store::{Parameter, complete};
use rusqlite::{Connection, OptionalExtension, Row, params};

/// Checks that `claim` is the current claim of the run. Inserts the run into the registry if
/// `begins` is its record. Returns the number of the run, or `None` if the run has not begun and is
/// not in the registry.
pub(crate) fn drives(
    db: &mut Db,
    claim: ClaimId,
    session: i64,
    begins: Option<&RunRecord>,
) -> Result<Option<i64>> {
    let (run, owner) = (claim.run_id, db.owner.owner_of(claim));
    if let Some(record) = begins {
        let connection = &mut Statements(&db.connection);
        complete(runs::begin(connection, session, claim, owner, record))?;
    }
    if let Some((number, epoch)) = db.cache.runs.get(&run) {
        return if *epoch == claim.epoch {
            Ok(Some(*number))
        } else {
            Err(refuse::fenced(run))
        };
    }
    let sql = "SELECT number, owner, epoch FROM adkw_runs WHERE id = ?1";
    let found = db.connection.prepare_cached(sql).and_then(|mut statement| {
        let row = |row: &Row<'_>| {
            Ok((
                row.get::<_, i64>(0)?,
                row.get::<_, Option<String>>(1)?,
                row.get::<_, u64>(2)?,
            ))
        };
        statement.query_row([run.to_string()], row).optional()
    });
    let found = found.doing("enter a run")?;
    let number = match found {
        Some((number, Some(driver), epoch)) if driver == owner && epoch == claim.epoch => number,
        Some(_) => return Err(refuse::fenced(run)),
        // The run was deleted, and its driver may be in a process that does not know that.
        None if claim.is_driven_above() => return Err(refuse::unknown_run(run)),
        None => return Ok(None),
    };
    db.cache.runs.insert(run, (number, claim.epoch));
    Ok(Some(number))
}

/// Inserts a queued run, which waits until earlier runs of its session have ended.
pub(crate) fn enqueue(db: &mut Db, claim: ClaimId, record: &RunRecord) -> Result<()> {
    let key = &record.session;
    let session = session_rows(db, key)?.ok_or_else(|| key.missing())?.number;
    let (connection, owner) = (&mut Statements(&db.connection), db.owner.owner_of(claim));
    let is_new = complete(runs::enqueue(connection, session, claim, owner, record))?;
    // An engine above the store may repeat the call, so the run may exist.
    if is_new || claim.is_driven_above() {
        Ok(())
    } else {
        Err(refuse::run_exists(claim.run_id))
    }
}

/// Returns the event that fills a slot, as its place in the log, and the `temp:` keys of the event.
pub(crate) fn slot(
    connection: &Connection,
    run: i64,
    entry: &Entry,
) -> Result<Option<(u64, StateDelta)>> {
    let sql = "SELECT place, temp FROM adkw_tail WHERE run = ?1 AND slot = ?2
        UNION ALL SELECT place, temp FROM adkw_log WHERE run = ?1 AND slot = ?2";
    let row = connection.query_row(sql, params![run, entry.slot], |row| {
        Ok((row.get::<_, u64>(0)?, row.get::<_, Option<String>>(1)?))
    });
    let row = row
        .optional()
        .doing("look for the event of an earlier attempt")?;
    row.map(|(place, temp)| Ok((place, temp_from_text(temp.as_deref())?)))
        .transpose()
}

/// Reports whether the slot of a run is filled.
pub(crate) fn is_filled(connection: &Connection, run: RunId, slot: &str) -> Result<bool> {
    let sql = "SELECT EXISTS (SELECT 1 FROM adkw_runs r
            JOIN adkw_tail l ON l.run = r.number AND l.slot = ?2 WHERE r.id = ?1)
        OR EXISTS (SELECT 1 FROM adkw_runs r
            JOIN adkw_log l ON l.run = r.number AND l.slot = ?2 WHERE r.id = ?1)";
    let is_filled = connection.prepare_cached(sql).and_then(|mut statement| {
        statement.query_row(params![run.to_string(), slot], |row| row.get(0))
    });
    is_filled.doing("look for the event of an earlier attempt")
}

/// Records finished agents that no event row contains. Ignores a run that is not in the registry.
pub(crate) fn finished(connection: &Connection, run: &str, done: &[Done]) -> Result<()> {
    let what = "write that an agent has finished";
    for done in done {
        let sql = "INSERT OR IGNORE INTO adkw_done (run, path, done)
            SELECT ?1, ?2, ?3 WHERE EXISTS (SELECT 1 FROM adkw_runs WHERE id = ?1)";
        let mut statement = connection.prepare_cached(sql).doing(what)?;
        statement
            .execute(params![run, done.path.to_string(), to_text(done)?])
            .doing(what)?;
    }
    Ok(())
}

/// Records finished agents of a run if `claim` is its current claim. Used when no further commit of
/// the run would record them.
pub(crate) fn last_finished(db: &mut Db, claim: ClaimId, done: &[Done]) -> Result<()> {
    drives(db, claim, 0, None)?;
    finished(&db.connection, &claim.run_id.to_string(), done)
}

/// Claims a run for this process, and reads its journal. Dropping the returned claim does not
/// release it.
pub(crate) fn claim(db: &mut Db, run: RunId, check: &ClaimCheck) -> Result<ClaimedRun> {
    let (record, number, claim) = read_free_run(db, run, check)?;
    let id = run.to_string();
    let connection = &mut Statements(&db.connection);
    complete(runs::write_claim(
        connection,
        claim,
        &db.owner.name,
        &record,
    ))?;
    db.cache.runs.remove(&run);
    let claim = Claim::new(claim, drop);
    if record.is_queued {
        return Ok(ClaimedRun::new(claim, record));
    }
    let waits = complete(runs::mark_answers_seen(connection, run))?;
    let key = record.session.clone();
    let log = session_rows(db, &key)?
        .map(|known| known.number)
        .ok_or_else(|| key.missing())?;
    let end = run_end(&db.connection, number)?;
    let events = reader::events(&db.connection, &key, log, record.begins..end)?;
    let rows = read_rows(&db.connection, &id, number, waits)?;
    ClaimedRun::from_rows(claim, record, events, rows)
}

/// Reads the record, the number and the next claim of a run. Refuses if the run is cancelled or its
/// claim is current.
fn read_free_run(db: &Db, run: RunId, check: &ClaimCheck) -> Result<(RunRecord, i64, ClaimId)> {
    let sql = "SELECT owner, record, number, epoch, status FROM adkw_runs WHERE id = ?1";
    let row = |row: &Row<'_>| {
        let (owner, record): (Option<String>, String) = (row.get(0)?, row.get(1)?);
        let (number, epoch, status): (i64, u64, String) = (row.get(2)?, row.get(3)?, row.get(4)?);
        Ok((owner, record, number, epoch, status))
    };
    let row = db.connection.query_row(sql, [run.to_string()], row);
    let Some((owner, record, number, epoch, status)) = row.optional().doing("claim a run")? else {
        return Err(refuse::unknown_run(run));
    };
    let record = record_from_text(run, &record)?;
    check(&record)?;
    let last = ClaimId { run_id: run, epoch };
    let is_held =
        owner.is_some_and(|owner| db.owner.drives(last, &owner, &db.owner.released_claims()));
    let status = RunStatus::from_row(&status, None);
    Ok((record, number, last.next(&status, is_held)?))
}

/// Reads the journal of a run except for its events.
fn read_rows(
    connection: &Connection,
    run: &str,
    number: i64,
    waits: Vec<String>,
) -> Result<RunRows> {
    let temps = "SELECT slot, temp FROM adkw_log WHERE run = ?1 AND temp IS NOT NULL
        UNION ALL SELECT slot, temp FROM adkw_tail WHERE run = ?1 AND temp IS NOT NULL";
    let steps = "SELECT key, value FROM adkw_steps WHERE run = ?1";
    let done = "SELECT d.value ->> 'path', d.value FROM adkw_log l, json_each(l.done) d
        WHERE l.run = ?1 AND l.done IS NOT NULL
        UNION ALL SELECT d.value ->> 'path', d.value FROM adkw_tail l, json_each(l.done) d
        WHERE l.run = ?1 AND l.done IS NOT NULL
        UNION ALL SELECT path, done FROM adkw_done WHERE run = ?2";
    let (number, run) = (Parameter::Number(Some(number)), Parameter::from(run));
    let mut rows = Statements(connection);
    let mut pairs = |sql, wanted: &[_]| complete(runs::pairs(&mut rows, sql, wanted));
    Ok(RunRows {
        temps: pairs(temps, std::slice::from_ref(&number))?,
        steps: pairs(steps, std::slice::from_ref(&run))?,
        done: pairs(done, &[number, run])?,
        waits,
    })
}

/// Returns the place after the last event of a run; 0 before its first event.
fn run_end(connection: &Connection, run: i64) -> Result<u64> {
    let sql = "SELECT coalesce(max(place) + 1, 0) FROM (SELECT place FROM adkw_tail WHERE run = ?1
        UNION ALL SELECT place FROM adkw_log WHERE run = ?1)";
    let end = connection
        .prepare_cached(sql)
        .and_then(|mut end| end.query_row([run], |row| row.get(0)));
    end.doing("look for the last event of a run")
}

/// Releases a claim, and writes the status and the usage of the run if they are known. Returns
/// `false` if the claim is not the current one, or if the run has ended otherwise. The claim of an
/// engine above the store lasts until the end of the run.
pub(crate) fn close(
    db: &mut Db,
    claim: ClaimId,
    end: Option<&(RunStatus, UsageByAgent)>,
) -> Result<bool> {
    let known = db.cache.runs.get(&claim.run_id);
    if known.is_some_and(|(_, epoch)| *epoch == claim.epoch) {
        db.cache.runs.remove(&claim.run_id);
    }
    let (connection, owner) = (&mut Statements(&db.connection), db.owner.owner_of(claim));
    complete(runs::close(connection, claim, owner, end))
}

/// Cancels a run that has not ended, and returns its status.
pub(crate) fn cancel(db: &mut Db, app: &str, run: RunId) -> Result<RunStatus> {
    let (status, _) = complete(runs::cancel(&mut Statements(&db.connection), app, run))?;
    db.cache.runs.remove(&run);
    Ok(status)
}

/// The log has the numbers of the runs, which a later run may get again.
const RUN_COLUMN: RunColumn = RunColumn {
    name: "number",
    tables: &["adkw_log", "adkw_tail"],
};

/// Deletes those of these runs of an app that have ended before a time, and some expired keys.
/// Returns the number of deleted runs.
pub(crate) fn delete_ended(db: &mut Db, app: &str, runs: &[RunId], before: u64) -> Result<u64> {
    let connection = &mut Statements(&db.connection);
    let wanted = (app, runs, before);
    let deleted = complete(adk_store::runs::delete_ended(
        connection, wanted, RUN_COLUMN, "",
    ))?;
    keys::purge(&db.connection)?;
    db.cache.clear();
    Ok(deleted.len() as u64)
}

/// Reads a run that an engine above the store drives, with its events from a place of the log on.
pub(crate) fn driven(connection: &Connection, run: RunId, from: u64) -> Result<Option<DrivenRun>> {
    let from = from.min(i64::MAX.unsigned_abs());
    let Some(row) = complete(DrivenRow::read(&mut Statements(connection), run, from))? else {
        return Ok(None);
    };
    let after = row.session.map(|session| (session, from));
    let number = "SELECT number FROM adkw_runs WHERE id = ?1";
    let number = connection.query_row(number, [run.to_string()], |row| row.get(0));
    let (number, key) = (number.doing("read a run")?, &row.record.session);
    let events = reader::run_events(connection, key, number, after)?;
    row.with_events(events).map(Some)
}
