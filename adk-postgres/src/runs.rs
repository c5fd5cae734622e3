//! Lists of runs by filter.

use crate::connection::PgConnection;
use crate::lease::Drives;
use adk_journal::engine::{ClaimId, RunFilter, RunInfo};
use adk_model::Result;
use adk_store::runs::{Whose, groups};

/// Condition that the owner of a run is alive. An engine above the store counts as alive.
macro_rules! is_alive {
    () => {
        "(r.owner = '@'
            OR EXISTS (SELECT 1 FROM adkw_owners o
                WHERE o.id = r.owner AND o.expires > clock_timestamp()))"
    };
}

pub(crate) use is_alive;

/// Lists the runs that a filter selects, ordered by id, which begins with the time.
pub(crate) async fn runs(
    connection: &mut PgConnection,
    whose: (Whose, &str),
    filter: &RunFilter,
    drives: &Drives,
) -> Result<Vec<RunInfo>> {
    let given_up = drives.released_claims();
    let groups = groups(connection, filter, &drives.owner, given_up, |_| false).await?;
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
