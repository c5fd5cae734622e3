//! Lists of runs by filter.

use crate::connection::PgConnection;
use crate::error::Doing;
use crate::lease::Drives;
use adk_journal::engine::{ClaimId, RunFilter, RunInfo, RunState};
use adk_model::Result;
use adk_store::runs::{Group, Whose};

/// Condition that the owner of a run is alive. An engine above the store counts as alive.
macro_rules! is_alive {
    () => {
        "(r.owner = '@'
            OR EXISTS (SELECT 1 FROM adkw_owners o
                WHERE o.id = r.owner AND o.expires > clock_timestamp()))"
    };
}

pub(crate) use is_alive;

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

/// Lists the groups that contain all runs without a living driver.
async fn ready_groups(connection: &mut PgConnection, drives: &Drives) -> Result<Vec<Group>> {
    // Read before the rows: a claim that has left the set is released in the table by then.
    let given_up = drives.released_claims();
    let mut groups = vec![Group::Free];
    let dead = dead(connection, &drives.owner).await?;
    groups.extend(dead.into_iter().map(Group::OwnedBy));
    if !given_up.is_empty() {
        let runs = given_up.into_iter().map(|claim| claim.run_id.to_string());
        groups.push(Group::These(runs.collect()));
    }
    Ok(groups)
}

/// Lists the runs that a filter selects, ordered by id, which begins with the time.
pub(crate) async fn runs(
    connection: &mut PgConnection,
    whose: (Whose, &str),
    filter: &RunFilter,
    drives: &Drives,
) -> Result<Vec<RunInfo>> {
    let groups = match filter.state {
        RunState::Ready => ready_groups(connection, drives).await?,
        _ => vec![Group::All],
    };
    let is_held = |claim, owner: &str, is_alive| self::is_held(drives, claim, owner, is_alive);
    adk_store::runs::runs(connection, &groups, whose, filter, is_held).await
}

/// Reports whether a process drives a run, from the owner in its row.
pub(crate) fn is_held(drives: &Drives, claim: ClaimId, owner: &str, is_alive: bool) -> bool {
    if owner == drives.owner {
        // A claim that this process has released is free, even if the release is not written yet.
        drives.held(claim).is_some()
    } else {
        is_alive
    }
}
