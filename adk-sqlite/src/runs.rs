//! Lists of runs.

use crate::owner::Owner;
use crate::statements::Statements;
use adk_journal::engine::{ClaimId, RunFilter, RunInfo};
use adk_model::Result;
use adk_store::complete;
use adk_store::lists::{Whose, groups};
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
    let is_held = |claim, driver: &str, _| owner.drives(claim, driver, given_up);
    let connection = &mut Statements(connection);
    let released = given_up.iter().copied();
    let lives = |name: &str| owner.lives(name);
    let groups = groups(connection, filter, &owner.name, released, lives);
    let groups = complete(groups)?;
    complete(adk_store::lists::runs(
        connection, &groups, whose, filter, is_held,
    ))
}
