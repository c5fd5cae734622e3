//! Lists of runs: a [`RunFilter`] as SQL, and runs without a living driver.

use crate::runs::usage;
use crate::sql::{Columns, Connection, Dialect, Query, all, corrupt_error, session_key};
use adk_journal::engine::{ClaimId, RunFilter, RunInfo, RunState, RunStatus};
use adk_model::{Result, RunId};

/// The runs that are listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Whose {
    /// Runs of an app.
    App,
    /// Runs of the tenants of an app.
    Tenants,
}

/// Runs that one index finds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Group {
    /// All runs.
    All,
    /// Runs without an owner.
    Free,
    /// Runs of an owner.
    OwnedBy(String),
    /// Runs with these ids.
    These(Vec<String>),
}

/// Returns the query for the owners of runs except for `own`: processes that the database does not
/// know to be alive. It searches the index once per owner, however many runs the owner drives.
pub fn owners_query(dialect: Dialect, own: &str) -> Query<'_> {
    let text = "WITH RECURSIVE owners (owner) AS (
            SELECT min(owner) FROM adkw_runs WHERE owner IS NOT NULL
            UNION ALL SELECT (SELECT min(n.owner) FROM adkw_runs n
                    WHERE n.owner IS NOT NULL AND n.owner > o.owner)
                FROM owners o WHERE o.owner IS NOT NULL)
        SELECT r.owner FROM owners r WHERE r.owner IS NOT NULL AND r.owner <> ";
    let mut query = Query::new(dialect, text);
    query.bind(own).push(" AND NOT ").push(dialect.is_alive);
    query
}

/// Lists the owners of runs that [`owners_query`] finds.
///
/// # Errors
/// When the database fails.
pub async fn owners<C: Connection>(connection: &mut C, own: &str) -> Result<Vec<String>> {
    let what = "list the runs";
    let query = owners_query(C::DIALECT, own);
    all(connection, what, query, |row| row.text(0)).await
}

/// Lists the groups that contain all runs that a filter selects. For ready runs, these are the runs
/// without a living driver. `own` is the name of this process. `given_up` are claims that it has
/// released, but whose release may not be written yet; read them before this call. `lives` reports
/// whether an owner is alive that the database does not know to be alive.
///
/// # Errors
/// When the database fails.
pub async fn groups<C: Connection>(
    connection: &mut C,
    filter: &RunFilter,
    own: &str,
    given_up: impl IntoIterator<Item = ClaimId>,
    lives: impl Fn(&str) -> bool,
) -> Result<Vec<Group>> {
    if filter.state != RunState::Ready {
        return Ok(vec![Group::All]);
    }
    let given_up = given_up.into_iter().map(|claim| claim.run_id.to_string());
    let given_up = given_up.collect::<Vec<_>>();
    let dead = owners(connection, own).await?.into_iter();
    let dead = dead.filter(|owner| !lives(owner)).map(Group::OwnedBy);
    let mut groups = vec![Group::Free];
    groups.extend(dead);
    if !given_up.is_empty() {
        groups.push(Group::These(given_up));
    }
    Ok(groups)
}

/// Appends the condition of a filter. `table` is the table that has the index by app and by
/// session: `r` for runs, or `w` for waits.
pub(crate) fn push_filter<'a>(
    query: &mut Query<'a>,
    table: &str,
    (whose, app): (Whose, &'a str),
    filter: &'a RunFilter,
) {
    let is_of_app = whose == Whose::App;
    let column = if is_of_app {
        ".app = "
    } else {
        ".tenant_of = "
    };
    query.push(table).push(column).bind(app);
    query.push(match filter.state {
        RunState::Unfinished => " AND r.status IN ('queued', 'running', 'paused', 'answered')",
        RunState::Ready => " AND r.status IN ('queued', 'running', 'answered')",
        RunState::Finished => " AND r.status = 'finished'",
        RunState::Failed => " AND r.status = 'failed'",
        RunState::Cancelled => " AND r.status = 'cancelled'",
        RunState::Queued => " AND r.status = 'queued'",
        RunState::Running => " AND r.status = 'running'",
        RunState::Paused => " AND r.status IN ('paused', 'answered')",
        RunState::Any => "",
    });
    // Each condition is added only if it is wanted. One statement for both cases would scan all
    // runs of the app.
    if let Some(run) = filter.run {
        query.push(" AND r.id = ").bind(run.to_string());
    }
    match (&filter.user, &filter.session) {
        // A planner that chooses the order of tables needs the number of the session, so that the
        // index has the order of the list.
        (Some(user), Some(session)) if is_of_app && !query.dialect().keeps_join_order => {
            query.push(" AND ").push(table).push(".session = ");
            query.push("(SELECT n.number FROM adkw_sessions n WHERE n.app_name = ");
            query.bind(app).push(" AND n.user_id = ").bind(user);
            query.push(" AND n.id = ").bind(session).push(")");
        }
        (user, session) => {
            if let Some(user) = user {
                if is_of_app {
                    query.push(" AND s.app_name = ").bind(app);
                }
                query.push(" AND s.user_id = ").bind(user);
            }
            if let Some(session) = session {
                query.push(" AND s.id = ").bind(session);
            }
        }
    }
    if let Some(after) = filter.after {
        let sign = if filter.oldest_first { ">" } else { "<" };
        query
            .push(" AND r.id ")
            .push(sign)
            .push(" ")
            .bind(after.to_string());
    }
    if filter.changed_since > 0 {
        query.push(" AND r.updated >= ").bind(filter.changed_since);
    }
    if let Some((updated, run)) = filter.after_change {
        query.push(" AND (r.updated, r.id) < (").bind(updated);
        query.push(", ").bind(run.to_string()).push(")");
    }
    if let Some(workflows) = &filter.workflows {
        query.push(" AND ").bind_list("r.workflow", workflows);
    }
}

/// Returns the tables of runs and their sessions, in the order in which they are searched.
fn run_tables(dialect: Dialect, whose: Whose, filter: &RunFilter) -> &'static str {
    // Runs of a user of an app are found by the sessions of the user.
    if dialect.keeps_join_order && filter.user.is_some() && whose == Whose::App {
        "adkw_sessions s CROSS JOIN adkw_runs r ON r.session = s.number"
    } else {
        "adkw_runs r JOIN adkw_sessions s ON s.number = r.session"
    }
}

/// Returns the query for the runs of a group that a filter selects, ordered by id, which begins
/// with the time, or by change.
pub fn runs_query<'a>(
    dialect: Dialect,
    group: &'a Group,
    (whose, app): (Whose, &'a str),
    filter: &'a RunFilter,
) -> Query<'a> {
    let tables = run_tables(dialect, whose, filter);
    let mut query = Query::new(
        dialect,
        format!(
            "SELECT r.id, s.app_name, s.user_id, s.id, r.workflow, r.status, r.error, r.owner,
            r.epoch, {}, r.created, r.updated, r.usage FROM {tables} WHERE ",
            dialect.is_alive
        ),
    );
    match group {
        Group::All => &mut query,
        Group::Free => query.push("r.owner IS NULL AND "),
        Group::OwnedBy(owner) => query.push("r.owner = ").bind(owner).push(" AND "),
        Group::These(runs) => query.bind_list("r.id", runs).push(" AND "),
    };
    push_filter(&mut query, "r", (whose, app), filter);
    query.push(match (filter.by_change, filter.oldest_first) {
        (true, _) => " ORDER BY r.updated DESC, r.id DESC",
        (false, true) => " ORDER BY r.id",
        (false, false) => " ORDER BY r.id DESC",
    });
    query.limit(filter.limit);
    query
}

/// Counts the runs that a filter selects. A process must list ready runs, because only it knows
/// which runs it drives.
///
/// # Errors
/// When the database fails.
pub async fn count<C: Connection>(
    connection: &mut C,
    whose: (Whose, &str),
    filter: &RunFilter,
) -> Result<usize> {
    let mut query = Query::new(C::DIALECT, "SELECT count(*) FROM (SELECT 1 FROM ");
    query
        .push(run_tables(C::DIALECT, whose.0, filter))
        .push(" WHERE ");
    push_filter(&mut query, "r", whose, filter);
    query.limit(filter.limit);
    query.push(") n");
    let count = all(connection, "count the runs", query, |row| row.number(0));
    let count = count.await?.first().copied().unwrap_or_default();
    Ok(usize::try_from(count).unwrap_or(usize::MAX))
}

/// Lists the runs that a filter selects, in its order. The groups contain all of them. `is_held`
/// decides from a claim, its owner and [`Dialect::is_alive`] whether a process drives the run.
///
/// # Errors
/// When the database fails, or a row cannot be read.
pub async fn runs<C: Connection>(
    connection: &mut C,
    groups: &[Group],
    whose: (Whose, &str),
    filter: &RunFilter,
    is_held: impl Fn(ClaimId, &str, bool) -> bool + Send + Sync,
) -> Result<Vec<RunInfo>> {
    let mut runs = Vec::new();
    for group in groups {
        let query = runs_query(C::DIALECT, group, whose, filter);
        let found = all(connection, "list the runs", query, |row| {
            info(row, &is_held)
        });
        runs.extend(found.await?);
    }
    if filter.by_change && groups.len() == 1 {
        return Ok(runs);
    }
    runs.retain(|run| run.is_ready || filter.state != RunState::Ready);
    runs.sort_by_key(|run| run.run_id);
    runs.dedup_by_key(|run| run.run_id);
    if !filter.oldest_first {
        runs.reverse();
    }
    runs.truncate(filter.limit.unwrap_or(usize::MAX));
    Ok(runs)
}

/// Parses a row of [`runs_query`].
fn info(row: &dyn Columns, is_held: impl Fn(ClaimId, &str, bool) -> bool) -> Result<RunInfo> {
    let id = row.text(0)?;
    let run_id: RunId = id
        .parse()
        .map_err(|_| corrupt_error(format!("`{id}` is not the id of a run")))?;
    let status = row.text(5)?;
    let claim = ClaimId {
        run_id,
        epoch: row.number(8)?,
    };
    let is_held = match row.text_or_null(7)? {
        Some(owner) => is_held(claim, &owner, row.flag(9)?),
        None => false,
    };
    let is_ready = !is_held && matches!(&*status, "queued" | "running" | "answered");
    let status = RunStatus::from_row(&status, row.text_or_null(6)?);
    let info = RunInfo::new(run_id, session_key(row, 1)?, row.text(4)?, status, is_ready);
    let info = info.at(row.number(10)?, row.number(11)?);
    Ok(info.used(usage(row.text_or_null(12)?)?.map(|usage| usage.total())))
}
