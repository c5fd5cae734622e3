//! A server deletes old runs, in virtual time.

use crate::support::unavailable::UnavailableEngine;
use crate::support::{Approval, Shouting};
use adk::engine::{RunFilter, RunStatus};
use adk::server::Server;
use adk::{ErrorKind, Runner};
use serde_json::json;
use std::time::Duration;
use tokio::time::{advance, sleep};

const HOUR: Duration = Duration::from_secs(3600);
const DAY: Duration = Duration::from_secs(24 * 3600);

fn runner(engine: &UnavailableEngine) -> Runner {
    let runner = Runner::builder().engine(engine.clone());
    let runner = runner.workflow(Shouting::default());
    runner.workflow(Approval::default()).build().unwrap()
}

fn server(runner: &Runner) -> Server<adk::DefaultProvider, adk::NoResources> {
    adk::serve(runner).open_to_all()
}

async fn run(runner: &Runner, name: &'static str) {
    let session = runner.new_session("ann");
    let run = session.run_by_name(name, json!({"topic": "cats"}));
    let _ = run.unwrap().await;
}

/// Lets time pass, and the servers do what is due.
async fn pass(time: Duration) {
    advance(time).await;
    sleep(Duration::from_secs(1)).await;
}

async fn count(runner: &Runner) -> usize {
    runner.count_runs(&RunFilter::any()).await.unwrap()
}

#[tokio::test(start_paused = true)]
async fn one_of_two_servers_deletes_the_runs_that_ended_long_ago() {
    let engine = UnavailableEngine::default();
    let main = runner(&engine);
    let tenants = ["t1", "t2"].map(|app| main.for_app(app));
    for runner in [&main, &tenants[0], &tenants[1]] {
        run(runner, "shouting").await;
        run(runner, "approval").await;
    }
    let first = server(&main).prune(30 * DAY).router().unwrap();
    let second = server(&main).prune(30 * DAY).router().unwrap();
    pass(Duration::ZERO).await;
    assert_eq!(engine.take_deletions(), 1, "one server looks for old runs");
    pass(29 * DAY).await;
    assert!(engine.take_deletions() > 0);
    assert_eq!(count(&main).await, 2, "no run is old");

    pass(2 * DAY).await;
    assert_eq!(engine.take_deletions(), 3, "one server, for each app");
    for runner in [&main, &tenants[0], &tenants[1]] {
        let left = runner.runs(&RunFilter::any()).await.unwrap();
        assert_eq!(left.len(), 1);
        assert_eq!(left[0].status, RunStatus::Paused, "a waiting run stays");
    }

    // When a server ends, the other one continues.
    drop(first);
    pass(HOUR).await;
    pass(HOUR).await;
    pass(HOUR).await;
    assert!(engine.take_deletions() > 0);
    drop(second);
    pass(2 * HOUR).await;
    pass(2 * HOUR).await;
    assert_eq!(engine.take_deletions(), 0);
}

#[tokio::test(start_paused = true)]
async fn an_error_ends_only_one_deletion() {
    let engine = UnavailableEngine::default();
    let main = runner(&engine);
    run(&main, "shouting").await;
    let server = server(&main).prune(DAY).router().unwrap();
    pass(Duration::ZERO).await;
    engine.set_away(true);
    pass(2 * DAY).await;
    engine.set_away(false);
    assert_eq!(count(&main).await, 1);
    pass(HOUR).await;
    assert_eq!(count(&main).await, 0);
    drop(server);
}

#[tokio::test]
async fn no_run_is_deleted_before_its_key() {
    let main = runner(&UnavailableEngine::default());
    let error = server(&main).prune(DAY - HOUR).router().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Config);
    assert!(error.message().contains("request keys"), "{error}");
    let server = server(&main).prune(HOUR).key_lifetime(HOUR);
    drop(server.router().unwrap());
}
