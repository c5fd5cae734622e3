//! Lists of runs, and the processes that drive runs.

use crate::error::Doing;
use crate::owner::Owner;
use crate::statements::Statements;
use adk_journal::engine::{ClaimId, RunFilter, RunInfo, RunState};
use adk_model::Result;
use adk_store::complete;
use adk_store::runs::{Group, Whose};
use rusqlite::Connection;
use std::collections::HashSet;

/// Lists the runs that a filter selects. Runs whose claims are in `given_up`, which this process
/// has released, count as free.
pub(crate) fn runs(
    connection: &Connection,
    whose: (Whose, &str),
    filter: &RunFilter,
    owner: &Owner,
    given_up: &HashSet<ClaimId>,
) -> Result<Vec<RunInfo>> {
    let mut groups = vec![Group::All];
    if filter.state == RunState::Ready {
        // The index finds two kinds of ready runs: runs without an owner, and runs whose owner is a
        // dead process.
        groups = vec![Group::Free];
        let mut drivers = drivers(connection)?;
        drivers.retain(|name| *name != owner.name && !owner.lives(name));
        groups.extend(drivers.into_iter().map(Group::OwnedBy));
        let given_up = given_up.iter().map(|claim| claim.run_id.to_string());
        groups.push(Group::These(given_up.collect()));
    }
    let is_held = |claim, driver: &str, _| owner.drives(claim, driver, given_up);
    let connection = &mut Statements(connection);
    complete(adk_store::runs::runs(
        connection, &groups, whose, filter, is_held,
    ))
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
