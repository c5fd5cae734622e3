//! The book of runs and their journals, as rows.

use crate::append::{Entry, known};
use crate::error::Doing;
use crate::owner::Owner;
use crate::reader;
use crate::writer::Db;
use adk_core::engine::{
    Done, Fits, Pairs, RunInfo, RunRecord, RunRows, RunStatus, Taken, Wait, Waiting, from_text, refuse,
    to_text,
};
use adk_core::{Result, RunId, StateDelta};
use rusqlite::{Connection, OptionalExtension, Row, ToSql, params};
use serde_json::Value;
use std::collections::HashSet;

/// Makes sure that this process drives the run, and enters it in the book when it begins; gives its number there. `None`
/// when it is in no book: it has not begun.
pub(crate) fn drives(
    db: &mut Db,
    run: RunId,
    session: i64,
    begins: Option<&RunRecord>,
) -> Result<Option<i64>> {
    let what = "enter a run";
    if let Some(record) = begins {
        let sql = "INSERT OR IGNORE INTO adkw_runs (id, session, status, owner, record)
            VALUES (?1, ?2, 'running', ?3, ?4)";
        let mut statement = db.connection.prepare_cached(sql).doing(what)?;
        statement.execute(params![run.to_string(), session, db.owner.name, to_text(record)?]).doing(what)?;
    }
    if let Some(number) = db.cache.runs.get(&run) {
        return Ok(Some(*number));
    }
    let sql = "SELECT number, owner FROM adkw_runs WHERE id = ?1";
    let found = db.connection.prepare_cached(sql).and_then(|mut statement| {
        let row = |row: &Row<'_>| Ok((row.get::<_, i64>(0)?, row.get::<_, Option<String>>(1)?));
        statement.query_row([run.to_string()], row).optional()
    });
    match found.doing(what)? {
        None => Ok(None),
        Some((_, owner)) if owner.as_deref() != Some(&db.owner.name) => Err(refuse::fenced(run)),
        Some((number, _)) => {
            db.cache.runs.insert(run, number);
            Ok(Some(number))
        }
    }
}

/// Place and `temp:` keys of the event that fills a slot.
pub(crate) fn slot(connection: &Connection, run: i64, entry: &Entry) -> Result<(u64, StateDelta)> {
    let sql = "SELECT place, temp FROM adkw_tail WHERE run = ?1 AND slot = ?2
        UNION ALL SELECT place, temp FROM adkw_log WHERE run = ?1 AND slot = ?2";
    let row = connection.query_row(sql, params![run, entry.slot], |row| {
        Ok((row.get::<_, u64>(0)?, row.get::<_, Option<String>>(1)?))
    });
    let (place, temp) = row.doing("look for the event of an earlier attempt")?;
    Ok((place, temp_of(temp)?))
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
pub(crate) fn last_finished(db: &mut Db, run: RunId, done: &[Done]) -> Result<()> {
    drives(db, run, 0, None)?;
    finished(&db.connection, &run.to_string(), done)
}

/// Records the result of a step; gives that of an earlier attempt when there is one.
pub(crate) fn step(db: &mut Db, run: RunId, key: &str, value: &Value) -> Result<Option<Value>> {
    let what = "record a step";
    drives(db, run, 0, None)?;
    let sql = "INSERT OR IGNORE INTO adkw_steps (run, key, value)
        SELECT ?1, ?2, ?3 WHERE EXISTS (SELECT 1 FROM adkw_runs WHERE id = ?1)";
    let mut statement = db.connection.prepare_cached(sql).doing(what)?;
    let run = run.to_string();
    if statement.execute(params![run, key, value.to_string()]).doing(what)? > 0 {
        return Ok(None);
    }
    let sql = "SELECT value FROM adkw_steps WHERE run = ?1 AND key = ?2";
    let earlier = db.connection.query_row(sql, [&*run, key], |row| row.get::<_, String>(0)).optional();
    earlier.doing(what)?.map(|text| from_text(&text, "the record of a step")).transpose()
}

/// The answer to a wait, which is open from now on.
pub(crate) fn answer(db: &mut Db, wait: &Wait) -> Result<Option<Value>> {
    let what = "open a wait";
    drives(db, wait.key.run_id, 0, None)?;
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
    let sql = "INSERT INTO adkw_waits (id, run, key, waiting)
        SELECT ?1, ?2, ?3, ?4 WHERE EXISTS (SELECT 1 FROM adkw_runs WHERE id = ?2)";
    let row = params![id, wait.key.run_id.to_string(), wait.key.to_string(), to_text(&wait.waiting)?];
    db.connection.execute(sql, row).doing(what)?;
    Ok(None)
}

/// Nobody waits for these any more.
pub(crate) fn withdraw(db: &Db, waits: &[String]) -> Result<()> {
    let what = "withdraw a wait";
    for id in waits {
        let sql = "DELETE FROM adkw_waits WHERE id = ?1 AND answer IS NULL";
        db.connection.execute(sql, [id]).doing(what)?;
    }
    Ok(())
}

/// Answers a wait that is open.
pub(crate) fn resolve(db: &Db, app: &str, id: &str, answer: &Value) -> Result<()> {
    let what = "answer a wait";
    let sql = "UPDATE adkw_waits SET answer = ?3 WHERE id = ?2 AND answer IS NULL
        AND run IN (SELECT r.id FROM adkw_runs r JOIN adkw_sessions s ON s.number = r.session
            WHERE s.app_name = ?1 AND r.status IN ('running', 'paused'))";
    if db.connection.execute(sql, params![app, id, answer.to_string()]).doing(what)? > 0 {
        return Ok(());
    }
    let sql = "SELECT w.answer IS NOT NULL FROM adkw_waits w JOIN adkw_runs r ON r.id = w.run
        JOIN adkw_sessions s ON s.number = r.session WHERE s.app_name = ?1 AND w.id = ?2";
    match db.connection.query_row(sql, [app, id], |row| row.get(0)).optional().doing(what)? {
        Some(true) => Err(refuse::answered(id)),
        _ => Err(refuse::unknown_wait(id)),
    }
}

/// Makes this process the one that drives a run, and reads what was recorded of it.
pub(crate) fn take(db: &mut Db, run: RunId, fits: &Fits) -> Result<Taken> {
    let what = "take up a run";
    let id = run.to_string();
    let sql = "SELECT owner, record, number FROM adkw_runs WHERE id = ?1";
    let row = |row: &Row<'_>| Ok((row.get(0)?, row.get::<_, String>(1)?, row.get::<_, i64>(2)?));
    let row: Option<(Option<String>, _, _)> =
        db.connection.query_row(sql, [&id], row).optional().doing(what)?;
    let Some((owner, record, of)) = row else { return Err(refuse::unknown_run(run)) };
    let record: RunRecord = from_text(&record, "the record of a run")?;
    fits(&record)?;
    if owner.is_some_and(|owner| db.owner.drives(run, &owner, &db.owner.given_up())) {
        return Err(refuse::run_busy(run));
    }
    let sql = "UPDATE adkw_runs SET owner = ?2, status = 'running', error = NULL WHERE id = ?1";
    db.connection.execute(sql, [&id, &db.owner.name]).doing(what)?;
    let sql = "UPDATE adkw_waits SET seen = 1 WHERE run = ?1 AND answer IS NOT NULL";
    db.connection.execute(sql, [&id]).doing(what)?;
    let key = record.session.clone();
    let (number, len) =
        known(db, &key)?.map(|known| (known.number, known.len)).ok_or_else(|| key.missing())?;
    let events = reader::events(&db.connection, &key, number, record.begins..len)?;
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
    };
    Taken::from_rows(record, events, &rows)
}

/// Keys and JSON of a run.
fn pairs(connection: &Connection, sql: &str, run: &[&dyn ToSql]) -> Result<Pairs> {
    let what = "read the journal of a run";
    let mut statement = connection.prepare_cached(sql).doing(what)?;
    let rows = statement.query_map(run, |row| Ok((row.get(0)?, row.get(1)?))).doing(what)?;
    rows.collect::<rusqlite::Result<_>>().doing(what)
}

/// Gives up the right to drive, and says how far the run is when that is known.
pub(crate) fn close(db: &mut Db, run: RunId, status: Option<&RunStatus>) -> Result<()> {
    let (status, error) = status.map_or((None, None), |status| (Some(status.to_row().0), status.to_row().1));
    db.cache.runs.remove(&run);
    let sql = "UPDATE adkw_runs SET owner = NULL, status = coalesce(?3, status), error = coalesce(?4, error)
        WHERE id = ?1 AND owner = ?2";
    let row = params![run.to_string(), db.owner.name, status, error];
    db.connection.execute(sql, row).doing("close a run").map(drop)
}

/// Who drives a run, or did when it ended without a word.
pub(crate) fn drivers(connection: &Connection) -> Result<HashSet<String>> {
    let what = "list the runs";
    let sql =
        "SELECT DISTINCT owner FROM adkw_runs WHERE status IN ('running', 'paused') AND owner IS NOT NULL";
    let mut statement = connection.prepare(sql).doing(what)?;
    let rows = statement.query_map([], |row| row.get(0)).doing(what)?;
    rows.collect::<rusqlite::Result<_>>().doing(what)
}

/// The runs of an app that have not ended, oldest first: their ids begin with the time. Those that were `given_up` before
/// are free whatever their rows say.
pub(crate) fn unfinished(
    connection: &Connection,
    app: &str,
    owner: &Owner,
    given_up: &HashSet<RunId>,
) -> Result<Vec<RunInfo>> {
    let what = "list the runs";
    let sql = "SELECT r.status, r.owner, r.record,
        EXISTS (SELECT 1 FROM adkw_waits w WHERE w.run = r.id AND w.answer IS NOT NULL AND NOT w.seen)
        FROM adkw_runs r JOIN adkw_sessions s ON s.number = r.session
        WHERE s.app_name = ?1 AND r.status IN ('running', 'paused') ORDER BY r.id";
    let mut statement = connection.prepare_cached(sql).doing(what)?;
    let rows = statement.query_map([app], |row| {
        let (status, driver): (String, Option<String>) = (row.get(0)?, row.get(1)?);
        Ok((status, driver, row.get::<_, String>(2)?, row.get::<_, bool>(3)?))
    });
    let mut all = Vec::new();
    for row in rows.doing(what)? {
        let (status, driver, record, answered) = row.doing(what)?;
        let status = RunStatus::from_row(&status, None);
        let record: RunRecord = from_text(&record, "the record of a run")?;
        let free = !driver.is_some_and(|driver| owner.drives(record.run_id, &driver, given_up));
        let ready = free && (status != RunStatus::Paused || answered);
        all.push(RunInfo::of(&record, status, ready));
    }
    Ok(all)
}

/// The open waits of an app, or of one of its runs. Those of one run are found by it: a condition for both cases would
/// go through all sessions of the app at each pause.
fn waiting_sql(of_one_run: bool) -> String {
    let of = if of_one_run { "w.run = ?2" } else { "?2 IS NULL" };
    format!(
        "SELECT w.waiting FROM adkw_waits w JOIN adkw_runs r ON r.id = w.run
        JOIN adkw_sessions s ON s.number = r.session
        WHERE s.app_name = ?1 AND {of} AND w.answer IS NULL
        AND r.status IN ('running', 'paused') ORDER BY w.number"
    )
}

/// The waits that are open, in the order in which they began.
pub(crate) fn waiting(connection: &Connection, app: &str, run: Option<RunId>) -> Result<Vec<Waiting>> {
    let what = "list the waits";
    let mut statement = connection.prepare_cached(&waiting_sql(run.is_some())).doing(what)?;
    let run = run.map(|run| run.to_string());
    let rows = statement.query_map(params![app, run], |row| row.get::<_, String>(0)).doing(what)?;
    rows.map(|row| from_text(&row.doing(what)?, "a wait")).collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by a panic")]

    use super::*;

    #[test]
    fn a_pause_looks_at_the_waits_of_its_run_alone() {
        let connection = Connection::open_in_memory().unwrap();
        crate::schema::prepare(&connection).unwrap();
        let plan = format!("EXPLAIN QUERY PLAN {}", waiting_sql(true));
        let mut statement = connection.prepare(&plan).unwrap();
        let steps = statement.query_map(params!["app", "run"], |row| row.get::<_, String>(3)).unwrap();
        let steps: Vec<_> = steps.map(Result::unwrap).collect();
        // A condition that allows for no run begins with all sessions of the app.
        assert!(steps[0].starts_with("SEARCH r ") && steps[0].ends_with("(id=?)"), "{steps:?}");
        assert!(steps.iter().any(|step| step.ends_with("adkw_waits_run (run=?)")), "{steps:?}");
    }
}
