//! Tests with a server whose clock differs from the clock of this process. Deadlines follow the
//! clock of the server.

use crate::support::{Database, quick};
use adk_build::engine::{RunFilter, RunStatus, WaitRegistry as _};
use adk_build::{Await, ErrorKind, Runner};
use adk_postgres::PostgresStore;
use adk_store_kit::trees::{Tree, run};
use std::time::Duration;

/// Sets the clock that statements of the store see, in hours ahead of the real time.
async fn set(database: &Database, hours: u32) {
    let clock = format!(
        "CREATE SCHEMA IF NOT EXISTS ahead;
        CREATE OR REPLACE FUNCTION ahead.clock_timestamp() RETURNS timestamptz LANGUAGE sql AS
        $$ SELECT pg_catalog.clock_timestamp() + interval '{hours} hours' $$"
    );
    database.execute(&clock).await;
}

#[tokio::test]
#[ignore = "needs Postgres: tests/peers/run-postgres.sh"]
async fn deadlines_are_made_and_compared_by_the_clock_of_the_server() {
    let asks = || {
        let ask = Await::builder::<u32>("answer")
            .timeout(Duration::from_secs(30 * 60))
            .default(7);
        Tree::new("w", vec![run(ask.build())])
    };
    let database = Database::new().await;
    set(&database, 5).await;
    let url = format!("{}?options[search_path]=ahead,pg_catalog", database.url);
    let store = PostgresStore::connect_with(&url, quick()).await.unwrap();
    let builder = Runner::builder()
        .app_name("app")
        .session_store(store.clone())
        .engine(store.clone());
    let runner: Runner = builder.workflow::<Tree>(asks()).build().unwrap();
    for session in ["answered", "late"] {
        runner
            .session("u", session)
            .run(&asks(), "go")
            .await
            .unwrap_err();
    }
    let waits = runner.waiting().await.unwrap();
    let left = waits[0].deadline.unwrap() - store.now().await.unwrap();
    assert!(left <= 30 * 60 * 1_000_000, "{left}");
    // Half an hour is left for an answer, although the server's clock is hours ahead.
    assert!(runner.recover().await.unwrap().is_empty());
    runner.answer(&waits[0].id, 1).await.unwrap();
    assert_eq!(runner.recover().await.unwrap().len(), 1);
    // The deadline passes by the server's clock.
    set(&database, 6).await;
    assert_eq!(
        runner.answer(&waits[1].id, 1).await.unwrap_err().kind(),
        ErrorKind::Expired
    );
    assert_eq!(runner.recover().await.unwrap().len(), 1);
    let runs = runner.runs(&RunFilter::any()).await.unwrap();
    assert!(
        runs.iter().all(|run| run.status == RunStatus::Finished),
        "{runs:?}"
    );
}
