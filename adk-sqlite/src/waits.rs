//! Waits of runs as rows.

use crate::error::Doing;
use crate::journal::drives;
use crate::runs::{Whose, bind, filter_sql, key_of, parameters};
use crate::writer::Db;
use adk_journal::engine::{
    ClaimId, DueWaits, RunFilter, Wait, Waiting, from_text, refuse, to_text,
};
use adk_journal::session::SessionKey;
use adk_model::Result;
use rusqlite::{Connection, OptionalExtension, params};
use serde_json::Value;

/// Returns the answer to a wait. Opens the wait if it does not exist.
pub(crate) fn answer(db: &mut Db, claim: ClaimId, wait: &Wait) -> Result<Option<Value>> {
    let what = "open a wait";
    drives(db, claim, 0, None)?;
    let id = wait.key.id();
    let sql = "SELECT answer FROM adkw_waits WHERE id = ?1";
    let answer = db
        .connection
        .query_row(sql, [&id], |row| row.get::<_, Option<String>>(0))
        .optional();
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
    // An engine above the store watches the deadlines of its runs itself.
    let deadline = wait.waiting.deadline.filter(|_| !claim.is_driven_above());
    let row = params![
        id,
        run,
        wait.key.to_string(),
        waiting,
        wait.session.app,
        deadline
    ];
    db.connection.execute(sql, row).doing(what)?;
    Ok(None)
}

/// Removes waits that no agent awaits any more, if they are open. Answered waits stay, and their
/// answers count as read.
pub(crate) fn withdraw(db: &mut Db, claim: ClaimId, waits: &[String]) -> Result<()> {
    let what = "withdraw a wait";
    drives(db, claim, 0, None)?;
    for id in waits {
        let sql = "DELETE FROM adkw_waits WHERE id = ?1 AND answer IS NULL";
        if db.connection.execute(sql, [id]).doing(what)? == 0 {
            db.connection
                .execute("UPDATE adkw_waits SET seen = 1 WHERE id = ?1", [id])
                .doing(what)?;
        }
    }
    Ok(())
}

/// Answers an open wait.
pub(crate) fn resolve(db: &Db, app: &str, id: &str, answer: &Value) -> Result<()> {
    let what = "answer a wait";
    let (run, _) = open_row(&db.connection, app, id)?;
    let answered = "UPDATE adkw_waits SET answer = ?2 WHERE id = ?1";
    let mut answered = db.connection.prepare_cached(answered).doing(what)?;
    answered
        .execute(params![id, answer.to_string()])
        .doing(what)?;
    let wakes = "UPDATE adkw_runs SET status = 'answered' WHERE id = ?1 AND status = 'paused'";
    db.connection
        .prepare_cached(wakes)
        .doing(what)?
        .execute([run])
        .doing(what)
        .map(drop)
}

/// Query for an open wait of an app by its id.
pub(crate) const OPEN_WAIT: &str = "SELECT w.run, w.waiting, w.answer IS NOT NULL FROM adkw_waits w
    JOIN adkw_runs r ON r.id = w.run
    WHERE w.id = ?2 AND w.app = ?1
    AND (w.answer IS NOT NULL OR r.status IN ('running', 'paused', 'answered'))";

/// Returns the run of an open wait of an app, and the wait in stored form.
fn open_row(connection: &Connection, app: &str, id: &str) -> Result<(String, String)> {
    let what = "look for a wait";
    let mut statement = connection.prepare_cached(OPEN_WAIT).doing(what)?;
    let row = statement.query_row([app, id], |row| {
        Ok((
            row.get::<_, String>(0)?,
            row.get::<_, String>(1)?,
            row.get::<_, bool>(2)?,
        ))
    });
    match row.optional().doing(what)? {
        Some((run, waiting, false)) => Ok((run, waiting)),
        Some((.., true)) => Err(refuse::answered(id)),
        None => Err(refuse::unknown_wait(id)),
    }
}

/// Reads an open wait of an app by its id.
pub(crate) fn open_wait(connection: &Connection, app: &str, id: &str) -> Result<Waiting> {
    let (run, text) = open_row(connection, app, id)?;
    let what = "look for a wait";
    let sql = "SELECT s.app_name, s.user_id, s.id FROM adkw_runs r
        JOIN adkw_sessions s ON s.number = r.session
        WHERE r.id = ?1";
    let key = connection.query_row(sql, [run], |row| key_of(row, 0));
    read_wait(&text, key.doing(what)?)
}

/// Parses a wait in stored form. Waits of earlier versions lack the session, so it is added.
fn read_wait(text: &str, key: SessionKey) -> Result<Waiting> {
    let waiting: Waiting = from_text(text, "a wait")?;
    Ok(waiting.of(key))
}

/// Returns the query for the open waits of the runs that a filter selects. Waits of an app are in
/// the order of their index, so that a limit ends the search.
pub(crate) fn waiting_sql(filter: &RunFilter) -> String {
    let (tables, table) = if filter.run.is_some() {
        (
            "adkw_runs r CROSS JOIN adkw_waits w ON w.run = r.id
            JOIN adkw_sessions s ON s.number = r.session",
            "r",
        )
    } else if filter.user.is_some() {
        let by_session =
            "adkw_sessions s CROSS JOIN adkw_waits w ON w.session = s.number AND s.app_name = ?1
            JOIN adkw_runs r ON r.id = w.run";
        (by_session, "w")
    } else {
        (
            "adkw_waits w CROSS JOIN adkw_runs r ON r.id = w.run
            JOIN adkw_sessions s ON s.number = w.session",
            "w",
        )
    };
    let condition = filter_sql(table, Whose::App, filter);
    format!(
        "SELECT w.waiting, s.app_name, s.user_id, s.id FROM {tables}
        WHERE w.answer IS NULL AND {condition} ORDER BY w.number"
    )
}

/// Lists the open waits in the order in which they were opened. Omits an unreadable wait, because
/// the next claim of its run reports it.
pub(crate) fn waiting(
    connection: &Connection,
    app: &str,
    filter: &RunFilter,
) -> Result<Vec<Waiting>> {
    let what = "list the waits";
    let mut statement = connection
        .prepare_cached(&waiting_sql(filter))
        .doing(what)?;
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

/// Query for open waits by deadline, with a condition.
macro_rules! due {
    ($whose:literal) => {
        concat!(
            "SELECT w.waiting, s.app_name, s.user_id, s.id, w.deadline FROM adkw_waits w
            JOIN adkw_runs r ON r.id = w.run JOIN adkw_sessions s ON s.number = r.session
            WHERE ",
            $whose,
            " AND w.answer IS NULL AND w.deadline IS NOT NULL ORDER BY w.deadline"
        )
    };
}

/// Query for open waits of an app by deadline.
pub(crate) const DUE: &str = due!("w.app = ?1");

/// Query for open waits of an app's tenants by deadline.
pub(crate) const DUE_OF_TENANTS: &str = due!("w.tenant_of = ?1");

/// Returns the waits whose deadline has passed, and the next deadline.
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
        due.waits
            .extend(read_wait(&text, key_of(row, 1).doing(what)?).ok());
    }
    Ok(due)
}
