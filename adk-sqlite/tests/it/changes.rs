//! The program changes while its runs wait or are interrupted: random programs, as every store plays them.

use crate::support::Folder;
use crate::trees::changes::{self, Change, Plan, Shop};
use crate::trees::survival;
use adk_sqlite::{Durability, Options, SqliteStore};

/// `ADK_CHANGES` says how many programs there are.
#[tokio::test]
async fn no_change_repeats_a_recorded_call_or_loses_an_answer() {
    let folder = Folder::new();
    let options = Options::default().durability(Durability::Process);
    let store = SqliteStore::open_with(folder.file(), options).await.unwrap();
    let plan = Plan { changes: &Change::ALL, programs: 12, stops: 3 };
    changes::holds(plan, async || Shop::of(&store)).await;
}

/// `ADK_KILLS` says how many kills there have to be; 10 when it is not set.
#[tokio::test]
async fn runs_that_are_killed_continue_with_a_changed_program() {
    changes::killed::holds(&Folder::new(), survival::kills(10)).await;
}
