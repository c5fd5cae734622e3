//! Waits of runs as rows of `adkw_waits`.

use crate::lists::{Whose, push_filter, push_state};
use crate::sql::{Columns, Connection, Dialect, Query, Sql, all, execute, first, session_key, sql};
use adk_journal::engine::{
    ClaimId, DueWaits, RunFilter, Wait, Waiting, from_text, refuse, to_text,
};
use adk_model::Result;
use serde_json::Value;
use std::ops::ControlFlow;

/// Returns the answer to a wait. Opens the wait if it does not exist.
///
/// # Errors
/// When the database fails, or the answer cannot be read.
pub async fn wait<C: Connection>(
    connection: &mut C,
    claim: ClaimId,
    wait: &Wait,
) -> Result<Option<Value>> {
    let what = "open a wait";
    let id = wait.key.id();
    let insert = sql!(
        "INSERT INTO adkw_waits (id, run, key, waiting, app, deadline, session, tenant_of, user_id,
            answered_by)
        SELECT $1, $2, $3, $4, $5, $6, session, tenant_of, user_id, $7 FROM adkw_runs
        WHERE id = $2 ON CONFLICT DO NOTHING"
    );
    // An engine above the store watches the deadlines of its runs itself.
    let deadline = wait.waiting.deadline.filter(|_| !claim.is_driven_above());
    let by = wait
        .waiting
        .by
        .as_ref()
        .map(|by| cut(to_text(by)))
        .transpose()?;
    let row = [
        (&id).into(),
        wait.key.run_id.to_string().into(),
        wait.key.to_string().into(),
        to_text(&wait.waiting)?.into(),
        (&wait.session.app).into(),
        deadline.into(),
        by.as_deref().into(),
    ];
    connection.execute(what, insert, &row).await?;
    let select = sql!("SELECT answer FROM adkw_waits WHERE id = $1");
    let answer = first(connection, what, select, &row[..1], |row| {
        row.text_or_null(0)
    });
    let Some(Some(answer)) = answer.await? else {
        return Ok(None);
    };
    let seen = sql!("UPDATE adkw_waits SET seen = TRUE WHERE id = $1");
    connection.execute(what, seen, &row[..1]).await?;
    from_text(&answer, "an answer").map(Some)
}

/// Removes waits that no agent awaits any more, if they are open. Answered waits stay, and their
/// answers count as read.
///
/// # Errors
/// When the database fails.
pub async fn withdraw<C: Connection>(connection: &mut C, waits: &[String]) -> Result<()> {
    let what = "withdraw a wait";
    let mut delete = Query::new(C::DIALECT, "DELETE FROM adkw_waits WHERE ");
    delete.bind_list("id", waits).push(" AND answer IS NULL");
    execute(connection, what, delete).await?;
    let mut seen = Query::new(C::DIALECT, "UPDATE adkw_waits SET seen = TRUE WHERE ");
    seen.bind_list("id", waits);
    execute(connection, what, seen).await.map(drop)
}

/// The query for an open wait of an app by its id.
pub const OPEN_WAIT: Sql = sql!(
    "SELECT w.waiting, s.app_name, s.user_id, s.id, w.answer IS NOT NULL FROM adkw_waits w
    JOIN adkw_runs r ON r.id = w.run JOIN adkw_sessions s ON s.number = r.session
    WHERE w.id = $2 AND w.app = $1
    AND (w.answer IS NOT NULL OR r.status IN ('running', 'paused', 'answered'))"
);

/// Reads an open wait of an app by its id.
///
/// # Errors
/// [`refuse::unknown_wait`], and [`refuse::answered`] when it has an answer; when the database
/// fails, or the wait cannot be read.
pub async fn open_wait<C: Connection>(connection: &mut C, app: &str, id: &str) -> Result<Waiting> {
    let wanted = [app.into(), id.into()];
    let read = |row: &dyn Columns| {
        if row.flag(4)? {
            Err(refuse::answered(id))
        } else {
            read_wait(row)
        }
    };
    let found = first(connection, "look for a wait", OPEN_WAIT, &wanted, read).await?;
    found.ok_or_else(|| refuse::unknown_wait(id))
}

/// Answers an open wait. The caller keeps others from claiming or closing its run.
///
/// # Errors
/// Those of [`open_wait`].
pub async fn resolve<C: Connection>(
    connection: &mut C,
    app: &str,
    id: &str,
    answer: &Value,
) -> Result<()> {
    let what = "answer a wait";
    let run = open_wait(connection, app, id).await?.run_id;
    let answered = sql!("UPDATE adkw_waits SET answer = $2 WHERE id = $1");
    let row = [id.into(), answer.to_string().into()];
    connection.execute(what, answered, &row).await?;
    let wakes =
        sql!("UPDATE adkw_runs SET status = 'answered' WHERE id = $1 AND status = 'paused'");
    let run = [run.to_string().into()];
    connection.execute(what, wakes, &run).await.map(drop)
}

/// Parses a wait with its session. Waits of earlier versions lack the session, so it is added.
fn read_wait(row: &dyn Columns) -> Result<Waiting> {
    let waiting: Waiting = from_text(&row.text(0)?, "a wait")?;
    Ok(waiting.of(session_key(row, 1)?))
}

/// The largest number of characters of a `by` in its column, which has an index.
const ANSWERED_BY: usize = 200;

/// Cuts the JSON of a `by` for its column. Readers compare the whole value afterwards.
fn cut(by: Result<String>) -> Result<String> {
    Ok(by?.chars().take(ANSWERED_BY).collect())
}

/// Returns the query for the open waits of the runs that a filter selects, in the order in which
/// they were opened. Waits of an app or of a user are in the order of their index, so that a limit
/// ends the search. Waits of other users are selected by these values of their column
/// `answered_by`.
pub fn waiting_query<'a>(
    dialect: Dialect,
    app: &'a str,
    filter: &'a RunFilter,
    answered_by: &'a [String],
) -> Query<'a> {
    let mut query = Query::new(dialect, "");
    // A database that keeps the order of joins begins with the smallest table.
    let (of_waits, of_run) = if dialect.keeps_join_order {
        (
            "adkw_waits w CROSS JOIN adkw_runs r ON r.id = w.run
            JOIN adkw_sessions s ON s.number = w.session",
            "adkw_runs r CROSS JOIN adkw_waits w ON w.run = r.id
            JOIN adkw_sessions s ON s.number = r.session",
        )
    } else {
        let tables = "adkw_waits w JOIN adkw_runs r ON r.id = w.run
            JOIN adkw_sessions s ON s.number = w.session";
        (tables, tables)
    };
    let (tables, table) = match filter.run {
        Some(_) if dialect.keeps_join_order => (of_run, "r"),
        _ => (of_waits, "w"),
    };
    let select = |number: &str| {
        let columns = "w.waiting, s.app_name, s.user_id, s.id";
        format!("SELECT {columns}, {number} FROM {tables} WHERE w.answer IS NULL AND ")
    };
    let user = filter.user.as_deref();
    query.push(&select("w.number"));
    push_filter(&mut query, table, (Whose::App, app, user), filter);
    push_state(&mut query, filter.state);
    if let Some(user) = user.filter(|_| !answered_by.is_empty()) {
        // The sum keeps a planner from reading all waits of the app in their order.
        query.push(" UNION ALL ").push(&select("w.number + 0"));
        push_filter(&mut query, table, (Whose::App, app, None), filter);
        push_state(&mut query, filter.state);
        query.push(" AND ").bind_list("w.answered_by", answered_by);
        query.push(" AND w.user_id <> ").bind(user);
    }
    query.push(" ORDER BY 5").limit(filter.limit);
    query
}

/// Lists the open waits in the order in which they were opened. Omits an unreadable wait, because
/// the next claim of its run reports it.
///
/// # Errors
/// When the database fails.
pub async fn waiting<C: Connection>(
    connection: &mut C,
    app: &str,
    filter: &RunFilter,
) -> Result<Vec<Waiting>> {
    let values = filter.answered_by.iter().map(|by| cut(to_text(by)));
    let values = values.collect::<Result<Vec<_>>>()?;
    let query = waiting_query(C::DIALECT, app, filter, &values);
    let waits = all(connection, "list the waits", query, |row| {
        let wait = read_wait(row).ok();
        Ok(wait.filter(|wait| filter.selects_wait(wait)))
    });
    Ok(waits.await?.into_iter().flatten().collect())
}

/// The query for open waits by deadline, with a condition.
macro_rules! due {
    ($whose:literal) => {
        sql!(
            "SELECT w.waiting, s.app_name, s.user_id, s.id, w.deadline FROM adkw_waits w
            JOIN adkw_runs r ON r.id = w.run JOIN adkw_sessions s ON s.number = r.session
            WHERE ",
            $whose,
            " AND w.answer IS NULL AND w.deadline IS NOT NULL ORDER BY w.deadline LIMIT $2"
        )
    };
}

/// Returns the query for open waits by deadline.
pub const fn due_sql(whose: Whose) -> Sql {
    match whose {
        Whose::App => due!("w.app = $1"),
        Whose::Tenants => due!("w.tenant_of = $1"),
    }
}

/// Returns the waits whose deadline has passed, and the next deadline.
///
/// # Errors
/// When the database fails.
pub async fn due<C: Connection>(
    connection: &mut C,
    (whose, app): (Whose, &str),
    now: u64,
    most: usize,
) -> Result<DueWaits> {
    let mut due = DueWaits::default();
    let wanted = [app.into(), (most as u64).saturating_add(1).into()];
    let mut visit = |row: &dyn Columns| {
        let goes_on = due.add(row.number(4)?, read_wait(row).ok(), now, most);
        Ok(if goes_on {
            ControlFlow::Continue(())
        } else {
            ControlFlow::Break(())
        })
    };
    let query = connection.query("look for deadlines", due_sql(whose), &wanted, &mut visit);
    query.await?;
    Ok(due)
}
