//! Tests that one process at a time drives a run, and that another process can continue the run of
//! a dead one.

use crate::support::Database;
use adk_build::engine::{CallKind, ClaimCheck, ClaimId, Journal as _, RunRegistry as _, StepKey};
use adk_build::model::UsageByAgent;
use adk_build::session::{EventFilter, SessionKey, SessionStore};
use adk_build::{Await, ErrorKind, Event, Flow, RunEnd, Runner, StoreErrorKind};
use adk_postgres::{Options, PostgresStore};
use adk_store_kit::trees::{By, Tree, by, exit, parallel, repeat, run};
use serde_json::json;
use std::sync::Arc;
use std::time::Duration;

/// Returns a store that counts as a separate process for the database.
async fn process(database: &Database, lease: Duration) -> PostgresStore {
    PostgresStore::connect_with(&database.url, Options::default().lease(lease))
        .await
        .unwrap()
}

/// An agent that makes a recorded call and emits its number.
fn steps() -> By {
    by("steps", |cx| {
        Box::pin(async move {
            let n: u64 = cx.state().get("n")?.unwrap_or(0);
            let next = cx.step("count", async move { Ok(n + 1) }).await?;
            cx.emit(
                Event::new()
                    .with_text(format!("{next}"))
                    .with_state("n", next),
            )
            .await?;
            Ok(Flow::Continue)
        })
    })
}

fn tree() -> Tree {
    Tree::new("w", vec![repeat("l", Some(6), vec![run(steps())])])
}

fn runner(store: &PostgresStore) -> Runner {
    let builder = Runner::builder()
        .app_name("app")
        .session_store(store.clone())
        .engine(store.clone());
    builder.workflow::<Tree>(tree()).build().unwrap()
}

const LONG: Duration = Duration::from_secs(3600);

#[tokio::test]
#[ignore = "needs Postgres: tests/peers/run-postgres.sh"]
async fn a_process_with_an_expired_lease_cannot_write() {
    let database = Database::new().await;
    let (first, second) = (
        process(&database, LONG).await,
        process(&database, LONG).await,
    );
    let workflow = tree();
    let mut stream = runner(&first)
        .session("u", "s")
        .run(&workflow, "go")
        .stream();
    for _ in 0..3 {
        stream.next().await.unwrap().unwrap();
    }
    let id = stream.next().await.unwrap().unwrap().invocation_id;
    let other = runner(&second);
    assert_eq!(
        other.resume(&workflow, id).await.unwrap_err().kind(),
        ErrorKind::RunBusy
    );
    assert!(other.recover().await.unwrap().is_empty());

    // The lease of the first process expires.
    database
        .execute("UPDATE adkw_owners SET expires = clock_timestamp() - interval '1 second'")
        .await;
    let recovered = other.recover().await.unwrap();
    assert!(
        recovered.len() == 1 && recovered[0].result.is_ok(),
        "{recovered:?}"
    );
    let key = SessionKey::new("app", "u", "s");
    let all = second
        .read(&key, &EventFilter::new())
        .await
        .unwrap()
        .unwrap();
    let texts: Vec<_> = all.events.iter().map(|event| event.text()).collect();
    assert_eq!(texts, ["go", "1", "2", "3", "4", "5", "6"]);

    // The first process continues, and gets an error.
    let error = loop {
        match stream.next().await.unwrap() {
            // Events that were committed before the other process claimed the run are delivered.
            Ok(_) => {}
            Err(error) => break error,
        }
    };
    assert_eq!(
        error.kind(),
        ErrorKind::Store(StoreErrorKind::Fenced),
        "{error}"
    );
    assert!(!error.is_retryable() && error.help().is_some(), "{error}");
    assert!(stream.next().await.is_none());
    drop(stream);
    let after = second
        .read(&key, &EventFilter::new())
        .await
        .unwrap()
        .unwrap();
    assert_eq!(after.events, all.events);
    // The row keeps the values of the second process.
    let sql = "SELECT status || ' ' || epoch || ' ' || (owner IS NULL) FROM adkw_runs";
    let row: String = sqlx::query_scalar(sql)
        .fetch_one(&mut database.connect().await)
        .await
        .unwrap();
    assert_eq!(row, "finished 2 true");
}

/// Accepts any record of a run.
fn any() -> ClaimCheck {
    Arc::new(|_| Ok(()))
}

/// All kinds of writes are refused, not only events.
#[tokio::test]
#[ignore = "needs Postgres: tests/peers/run-postgres.sh"]
async fn each_write_of_a_run_that_was_taken_is_refused() {
    let database = Database::new().await;
    let (first, second) = (
        process(&database, LONG).await,
        process(&database, LONG).await,
    );
    let workflow = tree();
    let mut stream = runner(&first)
        .session("u", "s")
        .run(&workflow, "go")
        .stream();
    let id = stream.next().await.unwrap().unwrap().invocation_id;
    database.execute("DELETE FROM adkw_owners").await;
    let claimed = second.claim(id, any()).await.unwrap();
    assert_eq!(
        second.claim(id, any()).await.unwrap_err().kind(),
        ErrorKind::RunBusy,
        "by its own as well"
    );
    let new = claimed.claim.id();
    let old = ClaimId {
        epoch: new.epoch - 1,
        ..new
    };
    assert_eq!(new.epoch, 2);

    let fenced = ErrorKind::Store(StoreErrorKind::Fenced);
    let step = |n: u32| StepKey::new(id, adk_build::Path::root("w"), CallKind::Step, "late", n);
    let late = first
        .step(old, step(0), Box::pin(async { Ok(json!(1)) }))
        .await
        .unwrap_err();
    assert_eq!(late.kind(), fenced, "{late}");
    let closed = first
        .close(
            old,
            adk_build::engine::RunStatus::Finished,
            UsageByAgent::default(),
        )
        .await;
    // The process does not drive the run any more, so its call of `close` does nothing.
    closed.unwrap();
    let sql = "SELECT (SELECT count(*) FROM adkw_steps WHERE key LIKE '%late%')::text || status
        FROM adkw_runs";
    let row: String = sqlx::query_scalar(sql)
        .fetch_one(&mut database.connect().await)
        .await
        .unwrap();
    assert_eq!(row, "0running");
    assert_eq!(
        second
            .step(new, step(1), Box::pin(async { Ok(json!(2)) }))
            .await
            .unwrap(),
        json!(2)
    );
}

#[tokio::test]
#[ignore = "needs Postgres: tests/peers/run-postgres.sh"]
async fn a_lease_is_renewed_during_a_run_and_ends_at_shut_down() {
    let database = Database::new().await;
    let short = Duration::from_millis(300);
    let (first, second) = (
        process(&database, short).await,
        process(&database, short).await,
    );
    let workflow = tree();
    let mut stream = runner(&first)
        .session("u", "s")
        .run(&workflow, "go")
        .stream();
    let id = stream.next().await.unwrap().unwrap().invocation_id;
    // Wait by the clock of the server for four times the lease.
    let sleep = "SELECT pg_sleep(1.2)";
    sqlx::query(sleep)
        .execute(&mut database.connect().await)
        .await
        .unwrap();
    let other = runner(&second);
    assert_eq!(
        other.resume(&workflow, id).await.unwrap_err().kind(),
        ErrorKind::RunBusy
    );
    // A process that shuts down releases its runs at once.
    first.shut_down().await.unwrap();
    let recovered = other.recover().await.unwrap();
    assert!(
        recovered.len() == 1 && recovered[0].result.is_ok(),
        "{recovered:?}"
    );
}

/// A tool blocks the only thread of its runtime, and the process keeps its lease.
#[test]
#[ignore = "needs Postgres: tests/peers/run-postgres.sh"]
fn a_blocked_runtime_loses_no_lease() {
    let runtime = || {
        tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap()
    };
    let other = runtime();
    let database = other.block_on(Database::new());
    let (begun, id) = std::sync::mpsc::channel();
    let (go_on, blocked) = std::sync::mpsc::channel::<()>();
    let url = database.url.clone();
    let driver = std::thread::spawn(move || {
        runtime().block_on(async {
            let options = Options::default().lease(Duration::from_millis(300));
            let store = PostgresStore::connect_with(&url, options).await.unwrap();
            let workflow = tree();
            let mut stream = runner(&store)
                .session("u", "s")
                .run(&workflow, "go")
                .stream();
            begun
                .send(stream.next().await.unwrap().unwrap().invocation_id)
                .unwrap();
            blocked.recv().unwrap();
            while let Some(event) = stream.next().await {
                event.unwrap();
            }
        });
    });
    let id = id.recv().unwrap();
    other.block_on(async {
        let store = process(&database, Duration::from_millis(300)).await;
        // Wait by the clock of the server for four times the lease.
        sqlx::query("SELECT pg_sleep(1.2)")
            .execute(&mut database.connect().await)
            .await
            .unwrap();
        let workflow = tree();
        let refused = runner(&store).resume(&workflow, id).await.unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::RunBusy, "{refused}");
    });
    go_on.send(()).unwrap();
    driver.join().unwrap();
}

/// Many processes recover the runs of a dead process, and each run is claimed by one of them.
#[tokio::test]
#[ignore = "needs Postgres: tests/peers/run-postgres.sh"]
async fn each_run_of_a_dead_process_is_taken_by_one() {
    let database = Database::new().await;
    let dead = process(&database, LONG).await;
    for n in 0..12 {
        let workflow = Arc::new(tree());
        let mut stream = runner(&dead)
            .session("u", format!("s{n}"))
            .run(workflow, "go")
            .stream();
        stream.next().await.unwrap().unwrap();
        // Forget the stream, so that the claim is not released, as if the process had died.
        std::mem::forget(stream);
    }
    database.execute("DELETE FROM adkw_owners").await;
    let mut tasks = Vec::new();
    for _ in 0..4 {
        let store = process(&database, LONG).await;
        tasks.push(tokio::spawn(async move {
            runner(&store).recover().await.unwrap()
        }));
    }
    let mut taken = Vec::new();
    for task in tasks {
        for run in task.await.unwrap() {
            run.result.unwrap();
            taken.push(run.run_id);
        }
    }
    taken.sort();
    // A process may list a run before another process ends it. Both then report the run. The events
    // below show that each run was executed once.
    taken.dedup();
    assert_eq!(taken.len(), 12);
    let store = process(&database, LONG).await;
    for n in 0..12 {
        let key = SessionKey::new("app", "u", format!("s{n}"));
        assert_eq!(
            store
                .read(&key, &EventFilter::new())
                .await
                .unwrap()
                .unwrap()
                .len,
            7
        );
    }
}

/// A waiting run holds no resources, and continues in another process.
#[tokio::test]
#[ignore = "needs Postgres: tests/peers/run-postgres.sh"]
async fn a_waiting_run_is_answered_and_resumed_by_other_processes() {
    fn asks() -> Tree {
        let asks = by("asks", |cx| {
            Box::pin(async move {
                let yes: bool = cx.wait("decision").await?;
                cx.emit(Event::new().with_text(format!("it says {yes}")))
                    .await?;
                Ok(Flow::Continue)
            })
        });
        Tree::new("w", vec![run(steps()), run(asks)])
    }
    let database = Database::new().await;
    let runner_of = |store: &PostgresStore| -> Runner {
        let builder = Runner::builder()
            .app_name("app")
            .session_store(store.clone())
            .engine(store.clone());
        builder.workflow::<Tree>(asks()).build().unwrap()
    };
    let first = process(&database, LONG).await;
    let workflow = asks();
    let mut stream = runner_of(&first)
        .session("u", "s")
        .run(&workflow, "go")
        .stream();
    while let Some(event) = stream.next().await {
        event.unwrap();
    }
    let RunEnd::Paused(waits) = stream.end() else {
        panic!("it waits")
    };
    drop(stream);
    let second = runner_of(&process(&database, LONG).await);
    assert_eq!(second.waiting().await.unwrap(), waits);
    assert!(second.recover().await.unwrap().is_empty());
    assert_eq!(
        second.answer("nothing", true).await.unwrap_err().kind(),
        ErrorKind::UnknownWait
    );
    second.answer(&waits[0].id, true).await.unwrap();
    assert_eq!(
        second.answer(&waits[0].id, false).await.unwrap_err().kind(),
        ErrorKind::Answered
    );
    let recovered = second.recover().await.unwrap();
    assert!(
        recovered.len() == 1 && recovered[0].result.is_ok(),
        "{recovered:?}"
    );
    let all = second
        .session("u", "s")
        .get(&EventFilter::new())
        .await
        .unwrap()
        .unwrap();
    assert_eq!(all.events.last().unwrap().text(), "it says true");
    // The recorded call before the wait is not repeated: the number is from the first execution.
    assert_eq!((all.len, &*all.state["n"]), (3, &json!(1)));
}

/// A run that has taken an answer is not ready while it waits for another one. A withdrawn wait is
/// not listed.
#[tokio::test]
#[ignore = "needs Postgres: tests/peers/run-postgres.sh"]
async fn an_answer_is_taken_once_and_a_wait_of_a_cancelled_branch_is_withdrawn() {
    fn two() -> Tree {
        let ask = |key| run(Await::builder::<bool>(key).question("Yes or no?").build());
        let round = parallel("p", vec![ask("lost"), run(exit("leaver"))]);
        let both = parallel("q", vec![ask("a"), ask("b")]);
        Tree::new("w", vec![repeat("l", Some(2), vec![round]), both])
    }
    let database = Database::new().await;
    let runner_of = |store: PostgresStore| -> Runner {
        let builder = Runner::builder()
            .app_name("app")
            .session_store(store.clone())
            .engine(store);
        builder.workflow(two()).build().unwrap()
    };
    let (first, tree) = (runner_of(process(&database, LONG).await), two());
    let mut stream = first.run(&tree, "go").stream();
    while let Some(event) = stream.next().await {
        event.unwrap();
    }
    let RunEnd::Paused(waits) = stream.end() else {
        panic!("it waits")
    };
    drop(stream);
    let second = runner_of(process(&database, LONG).await);
    assert_eq!(second.waiting().await.unwrap(), waits);
    second.answer(&waits[1].id, true).await.unwrap();
    let open = second.recover().await.unwrap().remove(0).result.unwrap();
    assert_eq!(open, waits[..1]);
    assert!(
        second.recover().await.unwrap().is_empty(),
        "the answer does not wake it again"
    );
    second.answer(&waits[0].id, true).await.unwrap();
    assert!(
        second
            .recover()
            .await
            .unwrap()
            .remove(0)
            .result
            .unwrap()
            .is_empty()
    );
}
