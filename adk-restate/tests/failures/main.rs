//! What a deployment survives: processes that are killed, networks that break, disks that are slow, builds that are replaced.
//!
//! Run by `tests/peers/run-restate.sh cargo test -p adk-workflow-restate --test failures -- --ignored`. Longer forms:
//! `ADK_RESTATE_KILLS=400` is the number of kills, `ADK_RESTATE_SEED=7` where the numbers begin that look random.

#![allow(clippy::unwrap_used, reason = "a test fails by a panic")]

#[path = "../support/mod.rs"]
mod support;

mod cluster;
mod disk;
mod effects;
mod history;
mod kill;
mod partition;
mod program;
mod shapes;
mod versions;

/// Tests run one after the other: what they measure in time is their own.
static ALONE: tokio::sync::Mutex<()> = tokio::sync::Mutex::const_new(());

/// A number from the environment.
fn setting(name: &str, otherwise: u64) -> u64 {
    std::env::var(name).map_or(otherwise, |text| text.parse().unwrap())
}

/// The program of workers and clients, when a test has started it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "a test starts it"]
async fn program() {
    if std::env::var_os("ADK_ROLE").is_some() {
        program::main().await;
    }
}
