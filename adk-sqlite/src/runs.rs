//! Lists of runs by filter, and the processes that drive runs.

use crate::error::{Doing, corrupt_error};
use crate::owner::Owner;
use adk_journal::engine::{ClaimId, RunFilter, RunInfo, RunState, RunStatus, from_text, to_text};
use adk_journal::session::SessionKey;
use adk_model::{Result, RunId};
use rusqlite::{Connection, Row, Rows, Statement};
use std::collections::HashSet;

/// The runs that are listed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Whose {
    /// Runs of an app.
    App,
    /// Runs of the tenants of an app.
    Tenants,
}

/// Returns the SQL condition of a filter. Its parameters are the app (`?1`, a column of `table`),
/// the run, the user, the session, the last run of the previous page, the workflows as a JSON list,
/// and the owner.
pub(crate) fn filter_sql(table: &str, whose: Whose, filter: &RunFilter) -> String {
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
    // Each filter is added only if it is given. One condition for both cases would scan all runs of
    // the app.
    for (is_given, condition) in [
        (filter.run.is_some(), " AND r.id = ?2"),
        (filter.user.is_some(), " AND s.user_id = ?3"),
        (filter.session.is_some(), " AND s.id = ?4"),
        (
            filter.after.is_some() && filter.oldest_first,
            " AND r.id > ?5",
        ),
        (
            filter.after.is_some() && !filter.oldest_first,
            " AND r.id < ?5",
        ),
        (
            filter.workflows.is_some(),
            " AND r.workflow IN (SELECT value FROM json_each(?6))",
        ),
    ] {
        if is_given {
            sql.push_str(condition);
        }
    }
    sql
}

pub(crate) type Parameters = [Option<String>; 7];

/// Returns the parameters of [`filter_sql`] in order.
pub(crate) fn parameters(app: &str, filter: &RunFilter, owner: Option<&str>) -> Result<Parameters> {
    let workflows = filter.workflows.as_ref().map(to_text).transpose()?;
    let id = |run: Option<RunId>| run.map(|run| run.to_string());
    let RunFilter {
        run,
        user,
        session,
        after,
        ..
    } = filter;
    Ok([
        Some(app.to_owned()),
        id(*run),
        user.clone(),
        session.clone(),
        id(*after),
        workflows,
        owner.map(str::to_owned),
    ])
}

/// Binds the parameters that a statement has.
pub(crate) fn bind<'s>(
    statement: &'s mut Statement<'_>,
    parameters: &Parameters,
) -> rusqlite::Result<Rows<'s>> {
    let count = statement.parameter_count();
    for (index, value) in (1..=count).zip(parameters) {
        statement.raw_bind_parameter(index, value)?;
    }
    Ok(statement.raw_query())
}

/// Reads app, user and id of a session, starting at column `first`.
pub(crate) fn key_of(row: &Row<'_>, first: usize) -> rusqlite::Result<SessionKey> {
    let text = |column| row.get::<_, String>(first + column);
    Ok(SessionKey::new(text(0)?, text(1)?, text(2)?))
}

/// Returns the tables in search order: runs of a user of an app are found by the user's sessions.
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

/// Returns the query for the runs that a condition and a filter select, ordered by id, which begins
/// with the time.
pub(crate) fn runs_sql(condition: &str, whose: Whose, filter: &RunFilter) -> String {
    let order = if filter.oldest_first { "ASC" } else { "DESC" };
    let (tables, filter) = (tables(whose, filter), filter_sql("r", whose, filter));
    format!("{COLUMNS} {tables} WHERE {condition}{filter} ORDER BY r.id {order}")
}

/// Condition for runs without an owner.
pub(crate) const FREE: &str = "r.owner IS NULL AND ";

/// Condition for runs of one owner.
pub(crate) const OF_OWNER: &str = "r.owner = ?7 AND ";

/// Lists the runs that a filter selects. Runs whose claims are in `given_up`, which this process
/// has released, count as free.
pub(crate) fn runs(
    connection: &Connection,
    (whose, app): (Whose, &str),
    filter: &RunFilter,
    owner: &Owner,
    given_up: &HashSet<ClaimId>,
) -> Result<Vec<RunInfo>> {
    let limit = filter.limit.unwrap_or(usize::MAX);
    let list = |condition: &str, driver: Option<&str>| {
        let (sql, what) = (runs_sql(condition, whose, filter), "list the runs");
        let mut statement = connection.prepare_cached(&sql).doing(what)?;
        let mut rows = bind(&mut statement, &parameters(app, filter, driver)?).doing(what)?;
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
    // The index finds two kinds of ready runs: runs without an owner, and runs whose owner is a
    // dead process.
    let mut all = list(FREE, None)?;
    for name in drivers(connection)? {
        let is_dead = if name == owner.name {
            !given_up.is_empty()
        } else {
            !owner.lives(&name)
        };
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

/// Parses a row of [`COLUMNS`].
fn info(row: &Row<'_>, owner: &Owner, given_up: &HashSet<ClaimId>) -> Result<RunInfo> {
    let what = "list the runs";
    let text = |column| row.get::<_, String>(column).doing(what);
    let id = text(0)?;
    let run_id: RunId = id
        .parse()
        .map_err(|_| corrupt_error(format!("`{id}` is not the id of a run")))?;
    let (status, error) = (text(5)?, row.get::<_, Option<String>>(6).doing(what)?);
    let driver = row.get::<_, Option<String>>(7).doing(what)?;
    let claim = ClaimId {
        run_id,
        epoch: row.get(8).doing(what)?,
    };
    let is_free = !driver.is_some_and(|driver| owner.drives(claim, &driver, given_up));
    let is_ready = is_free && matches!(&*status, "queued" | "running" | "answered");
    let session = key_of(row, 1).doing(what)?;
    let (created, updated) = (row.get(9).doing(what)?, row.get(10).doing(what)?);
    let usage = row.get::<_, Option<String>>(11).doing(what)?;
    let usage = usage
        .map(|usage| from_text(&usage, "the usage of a run"))
        .transpose()?;
    let info = RunInfo::new(
        run_id,
        session,
        text(4)?,
        RunStatus::from_row(&status, error),
        is_ready,
    );
    Ok(info.at(created, updated).used(usage))
}

/// Lists the owners of runs: processes that drive runs, or that died without releasing them.
pub(crate) fn drivers(connection: &Connection) -> Result<HashSet<String>> {
    let what = "list the runs";
    let mut statement = connection.prepare_cached(DRIVERS).doing(what)?;
    let rows = statement.query_map([], |row| row.get(0)).doing(what)?;
    rows.collect::<rusqlite::Result<_>>().doing(what)
}

/// Query for owners, which searches the index once per owner, however many runs the owner drives.
pub(crate) const DRIVERS: &str = "WITH RECURSIVE owners (owner) AS (
        SELECT min(owner) FROM adkw_runs WHERE owner IS NOT NULL
        UNION ALL SELECT (SELECT min(r.owner) FROM adkw_runs r
                WHERE r.owner IS NOT NULL AND r.owner > owners.owner)
            FROM owners WHERE owners.owner IS NOT NULL)
    SELECT owner FROM owners WHERE owner IS NOT NULL";
