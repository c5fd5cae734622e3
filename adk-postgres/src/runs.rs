//! Lists of runs by filter.

use crate::connection::PgConnection;
use crate::lease::Drives;
use adk_journal::engine::{ClaimId, RunFilter, RunInfo};
use adk_model::Result;
use adk_store::lists::{Whose, groups};

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
    adk_store::lists::runs(connection, &groups, whose, filter, is_held).await
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
