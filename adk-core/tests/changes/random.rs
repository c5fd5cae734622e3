//! Random programs and random changes, in memory. Other stores play the same programs.

use crate::support::changes::{self, Change, Plan, Shop};
use adk_build::MemoryArtifacts;
use adk_build::engine::MemoryJournal;
use adk_build::memory::InMemoryMemoryService;
use adk_build::session::MemoryStore;
use std::sync::Arc;

/// Each program stops at all points of its first process.
const PLAN: Plan = Plan {
    changes: &Change::ALL,
    programs: 40,
    stops: 12,
};

pub fn shop() -> Shop<MemoryJournal> {
    Shop {
        engine: MemoryJournal::new(),
        sessions: Arc::new(MemoryStore::new()),
        artifacts: Arc::new(MemoryArtifacts::new()),
        memory: Arc::new(InMemoryMemoryService::new()),
    }
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
