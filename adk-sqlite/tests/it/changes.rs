//! Random programs that change while their runs wait or are interrupted. All stores share these
//! tests.

use crate::support::Folder;
use crate::trees::changes::{self, Change, Plan, Shop};
use crate::trees::survival;
use adk_sqlite::{Durability, Options, SqliteStore};

/// `ADK_CHANGES` sets the number of programs.
#[tokio::test]
async fn no_change_repeats_a_recorded_call_or_loses_an_answer() {
    let folder = Folder::new();
    let options = Options::default().durability(Durability::Process);
    let store = SqliteStore::open_with(folder.file(), options)
        .await
        .unwrap();
    let plan = Plan {
        changes: &Change::ALL,
        programs: 12,
        stops: 3,
    };
    changes::holds(plan, async || Shop::from_store(&store)).await;
}

/// `ADK_KILLS` sets the number of kills; the default is 10.
#[tokio::test]
async fn runs_that_are_killed_continue_with_a_changed_program() {
    changes::killed::holds(&Folder::new(), survival::kills(10)).await;
}
