//! Random programs that change while their runs wait or are interrupted. All stores share these
//! tests.

use crate::support::{Database, quick};
use crate::trees::changes::{self, Change, Plan, Shop};
use crate::trees::survival;
use adk_postgres::PostgresStore;

/// `ADK_CHANGES` sets the number of programs.
#[tokio::test]
#[ignore = "needs Postgres: tests/peers/run-postgres.sh"]
async fn no_change_repeats_a_recorded_call_or_loses_an_answer() {
    let database = Database::new().await;
    let store = PostgresStore::connect_with(&database.url, quick())
        .await
        .unwrap();
    let plan = Plan {
        changes: &Change::ALL,
        programs: 10,
        stops: 2,
    };
    changes::holds(plan, async || Shop::from_store(&store)).await;
}

/// `ADK_KILLS` sets the number of kills; the default is 6.
#[tokio::test]
#[ignore = "needs Postgres: tests/peers/run-postgres.sh"]
async fn runs_that_are_killed_continue_with_a_changed_program() {
    changes::killed::holds(&Database::new().await, survival::kills(6)).await;
}
