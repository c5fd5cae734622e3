//! The lists of runs that filters select, and who drives them.

use crate::error::{Doing, corrupt};
use crate::owner::Owner;
use adk_core::engine::{ClaimId, RunFilter, RunInfo, RunState, RunStatus, from_text, to_text};
use adk_core::session::SessionKey;
use adk_core::{Result, RunId};
use rusqlite::{Connection, Row, Rows, Statement};
use std::collections::HashSet;

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
pub(crate) fn selected(table: &str, whose: Whose, filter: &RunFilter) -> String {
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

pub(crate) type Parameters = [Option<String>; 7];

/// The parameters of [`selected`], in its order.
pub(crate) fn parameters(app: &str, filter: &RunFilter, owner: Option<&str>) -> Result<Parameters> {
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

/// App, user and id of a session, from this column on.
pub(crate) fn key_of(row: &Row<'_>, first: usize) -> rusqlite::Result<SessionKey> {
    let of = |column| row.get::<_, String>(first + column);
    Ok(SessionKey::new(of(0)?, of(1)?, of(2)?))
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
pub(crate) fn runs_sql(condition: &str, whose: Whose, filter: &RunFilter) -> String {
    let order = if filter.oldest_first { "ASC" } else { "DESC" };
    let (tables, selected) = (tables(whose, filter), selected("r", whose, filter));
    format!("{COLUMNS} {tables} WHERE {condition}{selected} ORDER BY r.id {order}")
}

/// Runs that nobody has.
pub(crate) const FREE: &str = "r.owner IS NULL AND ";

/// Runs of one owner.
pub(crate) const OF_OWNER: &str = "r.owner = ?7 AND ";

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

/// Who drives a run, or did when it ended without a word.
pub(crate) fn drivers(connection: &Connection) -> Result<HashSet<String>> {
    let what = "list the runs";
    let mut statement = connection.prepare_cached(DRIVERS).doing(what)?;
    let rows = statement.query_map([], |row| row.get(0)).doing(what)?;
    rows.collect::<rusqlite::Result<_>>().doing(what)
}

/// Each owner is found by the index, however many runs it drives.
pub(crate) const DRIVERS: &str = "WITH RECURSIVE owners (owner) AS (
        SELECT min(owner) FROM adkw_runs WHERE owner IS NOT NULL
        UNION ALL SELECT (SELECT min(r.owner) FROM adkw_runs r WHERE r.owner IS NOT NULL AND r.owner > owners.owner)
            FROM owners WHERE owners.owner IS NOT NULL)
    SELECT owner FROM owners WHERE owner IS NOT NULL";
