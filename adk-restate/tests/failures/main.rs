//! Failures of a deployment: killed processes, broken networks, slow disks and replaced builds.
//!
//! Run by
//! `tests/peers/run-restate.sh cargo test -p adk-workflow-restate --test failures -- --ignored`.
//! For longer runs set `ADK_RESTATE_KILLS=400`, the number of kills, and `ADK_RESTATE_SEED=7`, the
//! seed of the random numbers.

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

/// Lock that makes the tests run one after the other, because they measure time and load the
/// machine.
static ALONE: tokio::sync::Mutex<()> = tokio::sync::Mutex::const_new(());

/// Reads a number from the environment.
fn setting(name: &str, otherwise: u64) -> u64 {
    std::env::var(name).map_or(otherwise, |text| text.parse().unwrap())
}

/// The program of workers and clients. Other tests start it in processes of their own.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "a test starts it"]
async fn program() {
    if std::env::var_os("ADK_ROLE").is_some() {
        program::main().await;
    }
}
