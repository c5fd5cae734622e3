//! Journals of runs as rows: claims, recorded steps, finished agents and ends.

use crate::append::{Entry, session_rows};
use crate::error::Doing;
use crate::reader::{self, Filled};
use crate::writer::Db;
use adk_journal::StateDelta;
use adk_journal::engine::{
    Claim, ClaimCheck, ClaimId, ClaimedRun, Done, DrivenRun, Pairs, RunRecord, RunRows, RunStatus,
    Stored, from_text, refuse, to_text,
};
use adk_journal::session::now_micros;
use adk_model::model::Usage;
use adk_model::{Result, RunId};
use rusqlite::{Connection, OptionalExtension, Row, ToSql, params};
use serde_json::Value;

/// Checks that `claim` is the current claim of the run. Inserts the run into the registry if
/// `begins` is its record. Returns the number of the run, or `None` if the run has not begun and is
/// not in the registry.
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
        let (text, record) = (to_text(record)?, record);
        let row = params![
            run.to_string(),
            session,
            db.owner.owner_of(claim),
            text,
            record.session.app,
            record.workflow,
            claim.epoch,
            record.time,
            record.tenant_of
        ];
        if statement.execute(row).doing(what)? == 0 {
            begin_queued(db, claim, &text)?;
        }
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
    match found.doing(what)? {
        // A run that an engine above the store drives is missing from the registry only if it was
        // deleted. Its driver may be in a process that does not know of the deletion.
        None if claim.is_driven_above() => Err(refuse::unknown_run(run)),
        None => Ok(None),
        Some((number, owner, epoch)) => {
            if owner.as_deref() != Some(db.owner.owner_of(claim)) || epoch != claim.epoch {
                return Err(refuse::fenced(run));
            }
            db.cache.runs.insert(run, (number, epoch));
            Ok(Some(number))
        }
    }
}

/// Begins a queued run under this claim.
fn begin_queued(db: &Db, claim: ClaimId, record: &str) -> Result<()> {
    let sql = "UPDATE adkw_runs SET status = 'running', record = ?4, updated = ?5
        WHERE id = ?1 AND owner = ?2 AND epoch = ?3 AND status = 'queued'";
    let row = params![
        claim.run_id.to_string(),
        db.owner.owner_of(claim),
        claim.epoch,
        record,
        now_micros()
    ];
    let begun = db
        .connection
        .prepare_cached(sql)
        .and_then(|mut statement| statement.execute(row));
    begun.doing("begin a queued run").map(drop)
}

/// Inserts a queued run, which waits until earlier runs of its session have ended.
pub(crate) fn enqueue(db: &mut Db, claim: ClaimId, record: &RunRecord) -> Result<()> {
    let what = "queue a run";
    let key = &record.session;
    let session = session_rows(db, key)?.ok_or_else(|| key.missing())?.number;
    let sql = "INSERT OR IGNORE INTO adkw_runs
        (id, session, status, owner, record, app, workflow, epoch, created, updated, tenant_of)
        VALUES (?1, ?2, 'queued', ?3, ?4, ?5, ?6, ?7, ?8, ?8, ?9)";
    let mut statement = db.connection.prepare_cached(sql).doing(what)?;
    let (run, owner) = (claim.run_id.to_string(), db.owner.owner_of(claim));
    let RunRecord {
        workflow,
        time,
        tenant_of,
        ..
    } = record;
    let row = params![
        run,
        session,
        owner,
        to_text(record)?,
        key.app,
        workflow,
        claim.epoch,
        time,
        tenant_of
    ];
    // An engine above the store may repeat the call, so the run may exist.
    if statement.execute(row).doing(what)? == 0 && !claim.is_driven_above() {
        return Err(refuse::run_exists(claim.run_id));
    }
    Ok(())
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
    row.map(|(place, temp)| Ok((place, temp_of(temp)?)))
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

fn temp_of(text: Option<String>) -> Result<StateDelta> {
    text.map_or(Ok(StateDelta::default()), |text| {
        from_text(&text, "the `temp:` keys of an event")
    })
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

/// Records the result of a step. If the step already has a record, returns the recorded result
/// instead. The record of a failed call is replaced.
pub(crate) fn step(db: &mut Db, claim: ClaimId, key: &str, value: &Value) -> Result<Option<Value>> {
    let what = "record a step";
    drives(db, claim, 0, None)?;
    let sql = r#"INSERT INTO adkw_steps (run, key, value)
        SELECT ?1, ?2, ?3 WHERE EXISTS (SELECT 1 FROM adkw_runs WHERE id = ?1)
        ON CONFLICT DO UPDATE SET value = excluded.value WHERE value LIKE '{"$failed":%'"#;
    let mut statement = db.connection.prepare_cached(sql).doing(what)?;
    let run = claim.run_id.to_string();
    if statement
        .execute(params![run, key, value.to_string()])
        .doing(what)?
        > 0
    {
        return Ok(None);
    }
    let sql = "SELECT value FROM adkw_steps WHERE run = ?1 AND key = ?2";
    let earlier = db
        .connection
        .query_row(sql, [&*run, key], |row| row.get::<_, String>(0))
        .optional();
    earlier
        .doing(what)?
        .map(|text| from_text(&text, "the record of a step"))
        .transpose()
}

/// Claims a run for this process, and reads its journal. Dropping the returned claim does not
/// release it.
pub(crate) fn claim(db: &mut Db, run: RunId, check: &ClaimCheck) -> Result<ClaimedRun> {
    let (record, number, epoch) = read_free_run(db, run, check)?;
    let id = run.to_string();
    delete_expired_answers(&db.connection, &id)?;
    let claim = ClaimId {
        run_id: run,
        epoch: epoch + 1,
    };
    write_claim(db, claim, &record)?;
    let claim = Claim::new(claim, drop);
    if record.is_queued {
        return Ok(ClaimedRun::new(claim, record));
    }
    let sql = "UPDATE adkw_waits SET seen = answer IS NOT NULL WHERE run = ?1 RETURNING id";
    let waits = texts(&db.connection, sql, &id)?;
    let key = record.session.clone();
    let log = session_rows(db, &key)?
        .map(|known| known.number)
        .ok_or_else(|| key.missing())?;
    let end = run_end(&db.connection, number)?;
    let events = reader::events(&db.connection, &key, log, record.begins..end)?;
    let rows = read_rows(&db.connection, &id, number, waits)?;
    ClaimedRun::from_rows(claim, record, events, rows)
}

/// Reads the record, the number and the last claim of a run. Refuses if the run is cancelled or
/// its claim is current.
fn read_free_run(db: &Db, run: RunId, check: &ClaimCheck) -> Result<(RunRecord, i64, u64)> {
    let sql =
        "SELECT owner, record, number, epoch, status = 'cancelled' FROM adkw_runs WHERE id = ?1";
    let row = |row: &Row<'_>| {
        Ok((
            row.get(0)?,
            row.get::<_, String>(1)?,
            row.get::<_, i64>(2)?,
            row.get(3)?,
            row.get::<_, bool>(4)?,
        ))
    };
    let row: Option<(Option<String>, _, _, u64, _)> = db
        .connection
        .query_row(sql, [run.to_string()], row)
        .optional()
        .doing("claim a run")?;
    let Some((owner, record, number, epoch, is_cancelled)) = row else {
        return Err(refuse::unknown_run(run));
    };
    let record: RunRecord = from_text(&record, &format!("the record of run `{run}`"))?;
    check(&record)?;
    if is_cancelled {
        return Err(refuse::cancelled(run));
    }
    let held = ClaimId { run_id: run, epoch };
    // A run that an engine above the store drives is refused even after its end, because its
    // recorded calls are not in this store.
    if held.is_driven_above()
        || owner.is_some_and(|owner| db.owner.drives(held, &owner, &db.owner.released_claims()))
    {
        return Err(refuse::run_busy(run));
    }
    Ok((record, number, epoch))
}

/// Deletes answers that report an expired wait to a failed run, so that the run asks again.
fn delete_expired_answers(connection: &Connection, run: &str) -> Result<()> {
    let sql = r#"DELETE FROM adkw_waits WHERE run = ?1 AND answer LIKE '{"$failed":%'
        AND EXISTS (SELECT 1 FROM adkw_runs WHERE id = ?1 AND status = 'failed')"#;
    let deleted = connection.execute(sql, [run]);
    deleted.doing("claim a run").map(drop)
}

/// Writes a claim into the row of its run.
fn write_claim(db: &mut Db, claim: ClaimId, record: &RunRecord) -> Result<()> {
    let sql = "UPDATE adkw_runs SET owner = ?2, epoch = ?3, status = ?4, error = NULL, updated = ?5
        WHERE id = ?1";
    let status = if record.is_queued {
        RunStatus::Queued
    } else {
        RunStatus::Running
    };
    let row = params![
        claim.run_id.to_string(),
        db.owner.name,
        claim.epoch,
        status.to_row().0,
        now_micros()
    ];
    db.connection.execute(sql, row).doing("claim a run")?;
    db.cache.runs.remove(&claim.run_id);
    Ok(())
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
    Ok(RunRows {
        temps: pairs(connection, temps, params![number])?,
        steps: pairs(connection, steps, params![run])?,
        done: pairs(connection, done, params![number, run])?,
        waits,
    })
}

/// Reads texts of a run.
fn texts(connection: &Connection, sql: &str, run: &str) -> Result<Vec<String>> {
    let what = "read the journal of a run";
    let mut statement = connection.prepare_cached(sql).doing(what)?;
    let rows = statement.query_map([run], |row| row.get(0)).doing(what)?;
    rows.collect::<rusqlite::Result<_>>().doing(what)
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

/// Reads keys and JSON texts of a run.
fn pairs(connection: &Connection, sql: &str, run: &[&dyn ToSql]) -> Result<Pairs> {
    let what = "read the journal of a run";
    let mut statement = connection.prepare_cached(sql).doing(what)?;
    let rows = statement
        .query_map(run, |row| Ok((row.get(0)?, row.get(1)?)))
        .doing(what)?;
    rows.collect::<rusqlite::Result<_>>().doing(what)
}

/// Releases a claim, and writes the status and the usage of the run if they are known. Returns
/// `false` if the claim is not the current one, or if the run has ended otherwise. The claim of an
/// engine above the store lasts until the end of the run.
pub(crate) fn close(db: &mut Db, claim: ClaimId, end: Option<&(RunStatus, Usage)>) -> Result<bool> {
    let what = "close a run";
    let (status, error) = end.map(|(status, _)| status.to_row()).unzip();
    let usage = end.map(|(_, usage)| to_text(usage)).transpose()?;
    let time = end.map(|_| now_micros());
    let run = claim.run_id.to_string();
    if db
        .cache
        .runs
        .get(&claim.run_id)
        .is_some_and(|(_, epoch)| *epoch == claim.epoch)
    {
        db.cache.runs.remove(&claim.run_id);
    }
    let sql = "UPDATE adkw_runs SET owner = iif(?8, owner, NULL), error = coalesce(?5, error),
        updated = coalesce(?6, updated), usage = coalesce(?7, usage), status = CASE
            WHEN ?4 = 'paused' AND EXISTS
                (SELECT 1 FROM adkw_waits WHERE run = ?1 AND answer IS NOT NULL AND NOT seen)
                THEN 'answered'
            ELSE coalesce(?4, status) END
        WHERE id = ?1 AND owner = ?2 AND epoch = ?3";
    let mut statement = db.connection.prepare_cached(sql).doing(what)?;
    let goes_on = claim.is_driven_above() && end.is_some_and(|(status, _)| status.is_open());
    let row = params![
        run,
        db.owner.owner_of(claim),
        claim.epoch,
        status,
        error.flatten(),
        time,
        usage,
        goes_on
    ];
    if statement.execute(row).doing(what)? > 0 {
        if matches!(status, Some("finished" | "failed")) {
            let sql = "DELETE FROM adkw_waits WHERE run = ?1 AND answer IS NULL";
            db.connection
                .prepare_cached(sql)
                .doing(what)?
                .execute([&run])
                .doing(what)?;
        }
        return Ok(true);
    }
    if usage.is_some() {
        let sql = "UPDATE adkw_runs SET usage = ?3
            WHERE id = ?1 AND status = 'cancelled' AND epoch = ?2 + 1";
        db.connection
            .prepare_cached(sql)
            .doing(what)?
            .execute(params![run, claim.epoch, usage])
            .doing(what)?;
    }
    // An engine above the store may write an end again.
    let sql = "SELECT EXISTS (SELECT 1 FROM adkw_runs
        WHERE id = ?1 AND NOT (?2 = 0 AND epoch = 0 AND status = ?3))";
    let row = params![run, claim.epoch, status];
    let is_known: bool = db
        .connection
        .query_row(sql, row, |row| row.get(0))
        .doing(what)?;
    Ok(!is_known)
}

/// Cancels a run that has not ended, and returns its status.
pub(crate) fn cancel(db: &mut Db, app: &str, run: RunId) -> Result<RunStatus> {
    let what = "cancel a run";
    let id = run.to_string();
    let sql = "UPDATE adkw_runs SET status = 'cancelled', owner = NULL, epoch = epoch + 1,
        error = NULL, updated = ?3
        WHERE id = ?1 AND app = ?2 AND status IN ('queued', 'running', 'paused', 'answered')";
    let row = params![id, app, now_micros()];
    if db
        .connection
        .prepare_cached(sql)
        .doing(what)?
        .execute(row)
        .doing(what)?
        > 0
    {
        db.cache.runs.remove(&run);
        let sql = "DELETE FROM adkw_waits WHERE run = ?1 AND answer IS NULL";
        db.connection
            .prepare_cached(sql)
            .doing(what)?
            .execute([&id])
            .doing(what)?;
    }
    let sql = "SELECT status, error FROM adkw_runs WHERE id = ?1 AND app = ?2";
    let row = db.connection.query_row(sql, [&*id, app], |row| {
        Ok(RunStatus::from_row(&row.get::<_, String>(0)?, row.get(1)?))
    });
    row.optional()
        .doing(what)?
        .ok_or_else(|| refuse::unknown_run(run))
}

/// Reads a run that an engine above the store drives, with its events from a place of the log on.
pub(crate) fn driven(connection: &Connection, run: RunId, from: u64) -> Result<Option<DrivenRun>> {
    let what = "read a run";
    let sql =
        "SELECT number, epoch, status, error, usage, record, session FROM adkw_runs WHERE id = ?1";
    let mut statement = connection.prepare_cached(sql).doing(what)?;
    let mut rows = statement.query([run.to_string()]).doing(what)?;
    let Some(row) = rows.next().doing(what)? else {
        return Ok(None);
    };
    let (number, epoch): (i64, u64) = (row.get(0).doing(what)?, row.get(1).doing(what)?);
    let status = RunStatus::from_row(
        &row.get::<_, String>(2).doing(what)?,
        row.get(3).doing(what)?,
    );
    if !is_driven_above(epoch, &status) {
        return Err(refuse::run_busy(run));
    }
    let usage = row.get::<_, Option<String>>(4).doing(what)?;
    let usage = usage
        .map(|usage| from_text(&usage, "the usage of a run"))
        .transpose()?;
    let record = row.get::<_, String>(5).doing(what)?;
    let record: RunRecord = from_text(&record, &format!("the record of run `{run}`"))?;
    // All events of a run are found by the number of the run. The events from a place on are found
    // faster in the log of the session.
    let from = from.min(i64::MAX.unsigned_abs());
    let after = (from > record.begins).then_some((row.get(6).doing(what)?, from));
    let filled = reader::run_events(connection, &record.session, number, after)?;
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
fn is_driven_above(epoch: u64, status: &RunStatus) -> bool {
    epoch == 0 || (epoch == 1 && *status == RunStatus::Cancelled)
}
