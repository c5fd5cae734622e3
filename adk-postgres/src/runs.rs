//! Lists of runs by filter.

use crate::connection::PgConnection;
use crate::error::{Doing, corrupt_error};
use crate::lease::Drives;
use adk_journal::engine::{ClaimId, RunFilter, RunInfo, RunState, RunStatus, from_text};
use adk_journal::session::SessionKey;
use adk_model::{Result, RunId};
use sqlx::postgres::PgRow;
use sqlx::{Postgres, QueryBuilder, Row as _};

/// Condition that the owner of a run is alive. An engine above the store counts as alive.
macro_rules! is_alive {
    () => {
        "(r.owner = '@'
            OR EXISTS (SELECT 1 FROM adkw_owners o
                WHERE o.id = r.owner AND o.expires > clock_timestamp()))"
    };
}

pub(crate) use is_alive;

/// The runs that are listed.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Whose {
    /// Runs of an app.
    App,
    /// Runs of the tenants of an app.
    Tenants,
}

/// Adds the condition of a filter to a query. `table` is the table that has the index by session.
pub(crate) fn select(
    query: &mut QueryBuilder<Postgres>,
    table: &str,
    (whose, app): (Whose, &str),
    filter: &RunFilter,
) {
    let column = match whose {
        Whose::App => "r.app = ",
        Whose::Tenants => "r.tenant_of = ",
    };
    // A wait has the same app as its run, so the condition on the run is left out. With it, the
    // planner would expect few rows, and sort all waits.
    if table == "w" {
        query.push("TRUE");
    } else {
        query.push(column).push_bind(app.to_owned());
    }
    query.push(match filter.state {
        RunState::Unfinished => " AND r.status IN ('queued', 'running', 'paused', 'answered')",
        RunState::Ready => " AND r.status IN ('queued', 'running', 'answered')",
        RunState::Finished => " AND r.status = 'finished'",
        RunState::Failed => " AND r.status = 'failed'",
        RunState::Cancelled => " AND r.status = 'cancelled'",
        RunState::Any => "",
    });
    if let Some(run) = filter.run {
        query.push(" AND r.id = ").push_bind(run.to_string());
    }
    if let (Whose::App, Some(user), Some(session)) = (whose, &filter.user, &filter.session) {
        // Select the session by its number, so that the index has the order of the list.
        query
            .push(" AND ")
            .push(table)
            .push(".session = (SELECT n.number FROM adkw_sessions n WHERE n.app_name = ");
        query
            .push_bind(app.to_owned())
            .push(" AND n.user_id = ")
            .push_bind(user.clone());
        query
            .push(" AND n.id = ")
            .push_bind(session.clone())
            .push(")");
    } else {
        if let Some(user) = &filter.user {
            if let Whose::App = whose {
                query.push(" AND s.app_name = ").push_bind(app.to_owned());
            }
            query.push(" AND s.user_id = ").push_bind(user.clone());
        }
        if let Some(session) = &filter.session {
            query.push(" AND s.id = ").push_bind(session.clone());
        }
    }
    if let Some(after) = filter.after {
        let follows = if filter.oldest_first {
            " AND r.id > "
        } else {
            " AND r.id < "
        };
        query.push(follows).push_bind(after.to_string());
    }
    if let Some(workflows) = &filter.workflows {
        query
            .push(" AND r.workflow = ANY(")
            .push_bind(workflows.clone())
            .push(")");
    }
}

/// A group of runs that one index finds.
enum Part {
    All,
    /// Runs that no process drives.
    Free,
    /// Runs of one process.
    Of(String),
    /// Runs with these ids.
    These(Vec<String>),
}

/// Lists dead processes with runs. Each one costs one search of the index, however many runs it
/// has.
async fn dead(connection: &mut PgConnection, own: &str) -> Result<Vec<String>> {
    let sql = concat!(
        "WITH RECURSIVE owners (owner) AS (
            SELECT min(owner) FROM adkw_runs WHERE owner IS NOT NULL
            UNION ALL SELECT (SELECT min(n.owner) FROM adkw_runs n WHERE n.owner > o.owner)
                FROM owners o WHERE o.owner IS NOT NULL)
        SELECT owner FROM owners r WHERE owner IS NOT NULL AND owner <> $1 AND NOT ",
        is_alive!()
    );
    let query = sqlx::query_scalar(sql).bind(own);
    query
        .fetch_all(connection)
        .await
        .doing("look for processes that have died")
}

/// Lists the parts that contain all runs without a living driver.
async fn ready_parts(connection: &mut PgConnection, drives: &Drives) -> Result<Vec<Part>> {
    // Read before the rows: a claim that has left the set is released in the table by then.
    let given_up = drives.released_claims();
    let mut parts = vec![Part::Free];
    let dead = dead(connection, &drives.owner).await?;
    parts.extend(dead.into_iter().map(Part::Of));
    if !given_up.is_empty() {
        let runs = given_up.into_iter().map(|claim| claim.run_id.to_string());
        parts.push(Part::These(runs.collect()));
    }
    Ok(parts)
}

/// Lists the runs that a filter selects, ordered by id, which begins with the time.
pub(crate) async fn runs(
    connection: &mut PgConnection,
    whose: (Whose, &str),
    filter: &RunFilter,
    drives: &Drives,
) -> Result<Vec<RunInfo>> {
    let parts = match filter.state {
        RunState::Ready => ready_parts(connection, drives).await?,
        _ => vec![Part::All],
    };
    let mut all = Vec::new();
    for part in parts {
        let columns = concat!(
            "SELECT r.id, s.app_name, s.user_id, s.id, r.workflow, r.status, r.error, r.owner,
                r.epoch, ",
            is_alive!(),
            ", r.created, r.updated, r.usage FROM adkw_runs r
                JOIN adkw_sessions s ON s.number = r.session WHERE "
        );
        let mut query = QueryBuilder::new(columns);
        match part {
            Part::All => {}
            Part::Free => {
                query.push("r.owner IS NULL AND ");
            }
            Part::Of(owner) => {
                query.push("r.owner = ").push_bind(owner).push(" AND ");
            }
            Part::These(runs) => {
                query.push("r.id = ANY(").push_bind(runs).push(") AND ");
            }
        }
        select(&mut query, "r", whose, filter);
        query.push(if filter.oldest_first {
            " ORDER BY r.id"
        } else {
            " ORDER BY r.id DESC"
        });
        if let Some(limit) = filter.limit {
            query
                .push(" LIMIT ")
                .push_bind(i64::try_from(limit).unwrap_or(i64::MAX));
        }
        let rows = query
            .build()
            .fetch_all(&mut *connection)
            .await
            .doing("list the runs")?;
        for row in rows {
            let run = info(&row, drives)?;
            if run.is_ready || filter.state != RunState::Ready {
                all.push(run);
            }
        }
    }
    all.sort_by_key(|run| run.run_id);
    all.dedup_by_key(|run| run.run_id);
    if !filter.oldest_first {
        all.reverse();
    }
    all.truncate(filter.limit.unwrap_or(usize::MAX));
    Ok(all)
}

fn info(row: &PgRow, drives: &Drives) -> Result<RunInfo> {
    let what = "list the runs";
    let text = |column| row.try_get::<String, _>(column).doing(what);
    let id = text(0)?;
    let run_id: RunId = id
        .parse()
        .map_err(|_| corrupt_error(format!("`{id}` is not the id of a run")))?;
    let (status, error) = (text(5)?, row.try_get::<Option<String>, _>(6).doing(what)?);
    let epoch = row.try_get::<i64, _>(8).doing(what)?.unsigned_abs();
    let is_free = match row.try_get::<Option<String>, _>(7).doing(what)? {
        None => true,
        // A claim that this process has released is free, even if the release is not written yet.
        Some(owner) if owner == drives.owner => drives.held(ClaimId { run_id, epoch }).is_none(),
        Some(_) => !row.try_get::<bool, _>(9).doing(what)?,
    };
    let is_ready = is_free && matches!(&*status, "queued" | "running" | "answered");
    let session = key_of(row, 1).doing(what)?;
    let time = |column| {
        row.try_get::<i64, _>(column)
            .doing(what)
            .map(i64::unsigned_abs)
    };
    let usage = row.try_get::<Option<String>, _>(12).doing(what)?;
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
    Ok(info.at(time(10)?, time(11)?).used(usage))
}

/// Reads app, user and id of a session, starting at column `first`.
pub(crate) fn key_of(row: &PgRow, first: usize) -> sqlx::Result<SessionKey> {
    let text = |column| row.try_get::<String, _>(first + column);
    Ok(SessionKey::new(text(0)?, text(1)?, text(2)?))
}
