//! Random programs and random changes, in memory. Other stores play the same programs.

use adk_build::InMemoryStore;
use adk_store_kit::OpenStore;
use adk_store_kit::changes::{self, Change, Plan};

/// Each program stops at all points of its first process.
const PLAN: Plan = Plan {
    changes: &Change::ALL,
    programs: 40,
    stops: 12,
};

pub fn shop() -> OpenStore {
    OpenStore::new(&InMemoryStore::new())
}

#[tokio::test(start_paused = true)]
async fn no_change_repeats_a_recorded_call_or_loses_an_answer() {
    changes::holds(PLAN, async || shop()).await;
}

/// The judge accepts runs whose program does not change.
#[tokio::test(start_paused = true)]
async fn without_a_change_nothing_is_wrong() {
    changes::holds(
        Plan {
            changes: &[],
            programs: 15,
            ..PLAN
        },
        async || shop(),
    )
    .await;
}
