//! Tests of locks that a stopped process or another program holds. Waits for these locks are
//! limited, and other work does not wait at all.

use crate::support::{Database, quick};
use adk_build::engine::{RunFilter, RunRegistry as _};
use adk_build::{BoxFuture, ErrorKind, Flow, Runner, StoreErrorKind};
use adk_postgres::{Options, PostgresStore};
use adk_store_kit::place::kind;
use adk_store_kit::trees::{Tree, by, repeat, run, say};
use sqlx::PgConnection;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Number of runs of the stopped process, and number of runs whose session it has locked.
const RUNS: u32 = 24;
const LOCKED: i64 = 4;

fn patient() -> Options {
    quick().patience(Duration::from_secs(4))
}

/// A workflow that writes in transactions of several statements: once, or in a loop without end.
fn tree(ends: bool) -> Tree {
    let count = by("count", move |cx| {
        Box::pin(async move {
            cx.state()
                .update("n", |n: Option<u64>| n.unwrap_or(0) + 1)
                .await?;
            Ok(if ends { Flow::Exit } else { Flow::Continue })
        })
    });
    Tree::new("w", vec![repeat("l", Some(1_000_000), vec![run(count)])])
}

fn runner(store: &PostgresStore, tree: Tree) -> Runner {
    let builder = Runner::builder()
        .app_name("app")
        .session_store(store.clone())
        .engine(store.clone());
    builder.workflow::<Tree>(tree).build().unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "is started and stopped by another test"]
async fn victim() {
    let Ok(url) = std::env::var("ADK_STOPPED") else {
        return;
    };
    let runner = runner(
        &PostgresStore::connect_with(&url, patient()).await.unwrap(),
        tree(false),
    );
    let runs: Vec<_> = (0..RUNS)
        .map(|n| {
            let runner = runner.clone();
            let tree = Arc::new(tree(false));
            tokio::spawn(async move { runner.session("u", format!("s{n}")).run(tree, "go").await })
        })
        .collect();
    for run in runs {
        let error = run.await.unwrap().unwrap_err();
        assert_eq!(
            error.kind(),
            ErrorKind::Store(StoreErrorKind::Fenced),
            "{error}"
        );
    }
}

fn signal(child: &Child, name: &str) {
    let sent = Command::new("kill")
        .args([name, &child.id().to_string()])
        .status();
    assert!(sent.unwrap().success());
}

async fn count(connection: &mut PgConnection, sql: &'static str) -> i64 {
    sqlx::query_scalar(sql).fetch_one(connection).await.unwrap()
}

/// Waits until a count is at least `least`.
async fn reaches(connection: &mut PgConnection, least: i64, sql: &'static str) {
    while count(connection, sql).await < least {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// Stops a process while it holds locks of sessions in open transactions.
async fn stop(database: &Database, victim: &Child) {
    let (mut own, mut holder) = (database.connect().await, database.connect().await);
    reaches(
        &mut own,
        i64::from(RUNS),
        "SELECT count(*) FROM adkw_runs WHERE status = 'running'",
    )
    .await;
    loop {
        // The process waits for locks of this test. It is stopped, and then gets the locks.
        let hold = "BEGIN; SELECT 1 FROM sessions WHERE id IN ('s0', 's1', 's2', 's3') FOR UPDATE";
        sqlx::raw_sql(hold).execute(&mut holder).await.unwrap();
        let waits = "SELECT count(*) FROM pg_stat_activity
            WHERE datname = current_database() AND wait_event_type = 'Lock'";
        reaches(&mut own, LOCKED, waits).await;
        signal(victim, "-STOP");
        sqlx::raw_sql("ROLLBACK")
            .execute(&mut holder)
            .await
            .unwrap();
        // Wait until the server has answered all requests.
        let busy = "SELECT -count(*) FROM pg_stat_activity
            WHERE datname = current_database() AND state = 'active' AND pid <> pg_backend_pid()";
        reaches(&mut own, 0, busy).await;
        let open = "SELECT count(*) FROM pg_stat_activity
            WHERE datname = current_database() AND state = 'idle in transaction'";
        if count(&mut own, open).await >= LOCKED {
            return;
        }
        signal(victim, "-CONT");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs Postgres: tests/peers/run-postgres.sh"]
async fn the_runs_of_a_process_that_is_stopped_in_transactions_are_finished_by_another() {
    for connections in [3, 1] {
        let database = Database::new().await;
        // Create the tables before the process starts.
        let store = PostgresStore::connect_with(&database.url, patient().connections(connections))
            .await
            .unwrap();
        let mut victim = Command::new(std::env::current_exe().unwrap())
            .args([
                "--exact",
                "stopped::victim",
                "--ignored",
                "--test-threads=1",
            ])
            .env("ADK_STOPPED", &database.url)
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        stop(&database, &victim).await;
        let stopped = Instant::now();
        let runner = runner(&store, tree(true));
        let watch = tokio::spawn(
            runner
                .watch()
                .every(Duration::from_millis(50))
                .into_future(),
        );
        let left = async {
            // A run in another session continues.
            runner
                .session("u", "other")
                .run(&Tree::new("v", vec![run(say("a"))]), "go")
                .await
                .unwrap();
            let meanwhile = stopped.elapsed();
            while !runner
                .runs(&RunFilter::unfinished())
                .await
                .unwrap()
                .is_empty()
            {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
            meanwhile
        };
        let meanwhile = tokio::time::timeout(Duration::from_secs(60), left)
            .await
            .expect("all are finished");
        println!(
            "{connections} connections: another run after {meanwhile:?}, all after {:?}",
            stopped.elapsed()
        );
        let finished = runner.runs(&RunFilter::finished()).await.unwrap();
        assert_eq!(finished.len(), RUNS as usize + 1);
        watch.abort();
        // The stopped process continues. Its transactions are ended and its runs are claimed.
        signal(&victim, "-CONT");
        assert!(victim.wait().unwrap().success());
    }
}

/// The server limits the transactions of this crate, but not those of another program.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs Postgres: tests/peers/run-postgres.sh"]
async fn a_lock_that_is_kept_fails_its_waiters_and_delays_no_other_run() {
    let database = Database::new().await;
    let options = quick().patience(Duration::from_secs(1)).connections(1);
    let store = PostgresStore::connect_with(&database.url, options)
        .await
        .unwrap();
    let runner = runner(&store, tree(true));
    let workflow = Tree::new(
        "w",
        vec![run(by("waits", |cx| {
            Box::pin(async move {
                let _: bool = cx.wait("decision").await?;
                Ok(Flow::Continue)
            })
        }))],
    );
    runner
        .session("u", "s")
        .run(&workflow, "go")
        .await
        .unwrap_err();
    let id = runner.runs(&RunFilter::unfinished()).await.unwrap()[0].run_id;
    let wait = runner.waiting().await.unwrap().remove(0);
    let mut holder = database.connect().await;
    sqlx::raw_sql("BEGIN; SELECT 1 FROM sessions FOR UPDATE")
        .execute(&mut holder)
        .await
        .unwrap();
    let limited = |work| tokio::time::timeout(Duration::from_secs(60), work);
    let calls = [
        limited(Box::pin(async { runner.cancel(id).await.map(drop) }) as BoxFuture<'_, _>),
        limited(Box::pin(async { runner.answer(&wait.id, true).await })),
        limited(Box::pin(async {
            store.claim(id, Arc::new(|_| Ok(()))).await.map(drop)
        })),
        limited(Box::pin(async {
            runner
                .session("u", "s")
                .run(&workflow, "go")
                .await
                .map(drop)
        })),
    ];
    let others = async {
        for n in 0..3 {
            let session = format!("other{n}");
            runner
                .session("u", session)
                .run(&Tree::new("v", vec![run(say("a"))]), "go")
                .await
                .unwrap();
        }
    };
    let (calls, ()) = tokio::join!(futures_util::future::join_all(calls), others);
    for error in calls {
        let error = error.expect("it does not hang").unwrap_err();
        // The store has one connection, so a call may also fail because the connection is in use.
        assert!(
            matches!(
                kind(&error),
                StoreErrorKind::Locked | StoreErrorKind::Unavailable
            ),
            "{error}"
        );
        assert!(
            error.is_retryable() && error.help().is_some_and(|help| help.contains("patience")),
            "{error}"
        );
    }
    sqlx::raw_sql("ROLLBACK")
        .execute(&mut holder)
        .await
        .unwrap();
    runner.cancel(id).await.unwrap();
}
