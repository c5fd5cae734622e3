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

/// Returns the statuses of the rows that a state selects.
fn statuses(state: RunState) -> &'static [&'static str] {
    match state {
        RunState::Unfinished => &["queued", "running", "paused", "answered"],
        RunState::Ready => &["queued", "running", "answered"],
        RunState::Finished => &["finished"],
        RunState::Failed => &["failed"],
        RunState::Cancelled => &["cancelled"],
        RunState::Queued => &["queued"],
        RunState::Running => &["running"],
        RunState::Paused => &["paused", "answered"],
        RunState::Any => &[
            "queued",
            "running",
            "paused",
            "answered",
            "finished",
            "failed",
            "cancelled",
        ],
    }
}

/// Appends the condition of a filter, apart from the state of the runs, with their app and user.
/// `table` is the table that has the index by app, user and session: `r` for runs, or `w` for
/// waits.
pub(crate) fn push_filter<'a>(
    query: &mut Query<'a>,
    table: &str,
    (whose, app, user): (Whose, &'a str, Option<&'a str>),
    filter: &'a RunFilter,
) {
    match (user, &filter.session) {
        // The number of the session implies its app. A condition for the app would let a planner
        // choose an index that does not have the session.
        (Some(user), Some(session)) if whose == Whose::App => {
            query.push(table).push(".session = ");
            query.push("(SELECT n.number FROM adkw_sessions n WHERE n.app_name = ");
            query.bind(app).push(" AND n.user_id = ").bind(user);
            query.push(" AND n.id = ").bind(session).push(")");
        }
        (user, session) => {
            query.push(table).push(match whose {
                Whose::App => ".app = ",
                Whose::Tenants => ".tenant_of = ",
            });
            query.bind(app);
            if let Some(user) = user {
                query.push(" AND ").push(table).push(".user_id = ");
                query.bind(user);
            }
            if let Some(session) = session {
                query.push(" AND s.id = ").bind(session);
            }
        }
    }
    // Each condition is added only if it is wanted. One statement for both cases would scan all
    // runs of the app.
    if let Some(run) = filter.run {
        query.push(" AND r.id = ").bind(run.to_string());
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

/// Appends the condition that a run has a state.
pub(crate) fn push_state(query: &mut Query<'_>, state: RunState) {
    if state == RunState::Any {
        return;
    }
    let statuses = statuses(state).join("', '");
    query.push(&format!(" AND r.status IN ('{statuses}')"));
}

/// Returns the query for the runs of a group that a filter selects, ordered by id, which begins
/// with the time, or by change.
pub fn runs_query<'a>(
    dialect: Dialect,
    group: &'a Group,
    (whose, app): (Whose, &'a str),
    filter: &'a RunFilter,
) -> Query<'a> {
    let select = format!(
        "SELECT r.id, s.app_name, s.user_id, s.id, r.workflow, r.status, r.error, r.owner,
            r.epoch, {}, r.created, r.updated, r.usage
            FROM adkw_runs r JOIN adkw_sessions s ON s.number = r.session WHERE ",
        dialect.is_alive
    );
    let order = if filter.oldest_first {
        " ORDER BY 1"
    } else {
        " ORDER BY 1 DESC"
    };
    let (mut query, user) = (Query::new(dialect, ""), filter.user.as_deref());
    // An index by app or user has the runs of each status in the order of the list. The database
    // merges them, so a page reads no other runs.
    let is_merged = *group == Group::All
        && whose == Whose::App
        && filter.run.is_none()
        && filter.session.is_none()
        && !filter.by_change;
    if is_merged {
        let statuses = statuses(filter.state);
        let is_limited = dialect.limits_members && statuses.len() > 1;
        for (nth, status) in statuses.iter().enumerate() {
            query.push(if nth > 0 { " UNION ALL " } else { "" });
            query.push(if is_limited { "(" } else { "" }).push(&select);
            push_filter(&mut query, "r", (whose, app, user), filter);
            query.push(&format!(" AND r.status = '{status}'"));
            if is_limited {
                query.push(order).limit(filter.limit);
                query.push(")");
            }
        }
        query.push(order).limit(filter.limit);
        return query;
    }
    query.push(&select);
    match group {
        Group::All => &mut query,
        Group::Free => query.push("r.owner IS NULL AND "),
        Group::OwnedBy(owner) => query.push("r.owner = ").bind(owner).push(" AND "),
        Group::These(runs) => query.bind_list("r.id", runs).push(" AND "),
    };
    push_filter(&mut query, "r", (whose, app, user), filter);
    push_state(&mut query, filter.state);
    query.push(if filter.by_change {
        " ORDER BY r.updated DESC, r.id DESC"
    } else {
        order
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
    (whose, app): (Whose, &str),
    filter: &RunFilter,
) -> Result<usize> {
    let text = "SELECT count(*) FROM (SELECT 1 FROM adkw_runs r";
    let mut query = Query::new(C::DIALECT, text);
    if filter.session.is_some() {
        query.push(" JOIN adkw_sessions s ON s.number = r.session");
    }
    query.push(" WHERE ");
    let user = filter.user.as_deref();
    push_filter(&mut query, "r", (whose, app, user), filter);
    push_state(&mut query, filter.state);
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
