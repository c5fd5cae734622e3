//! Tests that events of different sessions are written together, and that one session neither fails
//! nor delays the others.

use crate::lossy::Lossy;
use crate::support::{Database, quick};
use adk_build::engine::{ClaimCheck, RunRegistry as _};
use adk_build::session::{EventFilter, SessionKey, SessionStore as _};
use adk_build::{Error, ErrorKind, Event, Flow, RunId, StoreErrorKind};
use adk_postgres::PostgresStore;
use adk_store_kit::place::{kind, runner};
use adk_store_kit::trees::{By, Tree, by, repeat, run};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Barrier;
use tokio::task::JoinHandle;

/// Number of events of each run after the first.
const EVENTS: u32 = 20;

/// Number of events of a run before it waits. By then, groups have formed.
const BEFORE: u32 = 4;

type Ended = std::result::Result<(), Error>;

/// Runs in sessions `s0`, `s1` and so on. Each waits after some events until [`go_on`] is called.
///
/// [`go_on`]: Runs::go_on
struct Runs {
    gate: Arc<Barrier>,
    ids: Vec<RunId>,
    tasks: Vec<JoinHandle<Ended>>,
}

/// An agent that emits an event at each turn, and waits at one of them.
fn says(gate: &Arc<Barrier>) -> By {
    let gate = gate.clone();
    by("says", move |cx| {
        let gate = gate.clone();
        Box::pin(async move {
            let n: u32 = cx.state().get("n")?.unwrap_or(0);
            if n == BEFORE {
                // All runs have come here, and then all may go on.
                gate.wait().await;
                gate.wait().await;
            }
            let next = if n % 4 == 3 {
                cx.step("count", async move { Ok(n + 1) }).await?
            } else {
                n + 1
            };
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

impl Runs {
    /// Begins runs, and returns when each waits.
    async fn begin(store: &PostgresStore, count: usize) -> Self {
        let gate = Arc::new(Barrier::new(count + 1));
        let ids: Vec<_> = (0..count).map(|_| RunId::new()).collect();
        let task = |(n, id): (usize, &RunId)| {
            let says = repeat("l", Some(EVENTS), vec![run(says(&gate))]);
            let (runner, tree, id) = (runner(store), Arc::new(Tree::new("w", vec![says])), *id);
            tokio::spawn(async move {
                let session = runner.session("u", format!("s{n}"));
                session.run(tree, "go").run_id(id).await.map(drop)
            })
        };
        let tasks = ids.iter().enumerate().map(task).collect();
        gate.wait().await;
        Self { gate, ids, tasks }
    }

    /// Lets all runs go on.
    async fn go_on(&self) {
        self.gate.wait().await;
    }

    /// Waits until a run has ended.
    async fn ended(&mut self, n: usize) -> Ended {
        (&mut self.tasks[n]).await.unwrap()
    }
}

fn key(n: usize) -> SessionKey {
    SessionKey::new("app", "u", format!("s{n}"))
}

/// Returns the texts of a session.
async fn texts(store: &PostgresStore, n: usize) -> Vec<String> {
    let all = store.read(&key(n), &EventFilter::new()).await;
    let all = all.unwrap().unwrap();
    all.events.iter().map(|event| event.text()).collect()
}

/// Returns the texts of a run that nothing has interrupted.
fn whole() -> Vec<String> {
    let numbers = (1..=EVENTS).map(|n| n.to_string());
    std::iter::once("go".to_owned()).chain(numbers).collect()
}

/// Returns the texts of a run that has written nothing since it waited.
fn part() -> Vec<String> {
    whole()[..=BEFORE as usize].to_vec()
}

/// Returns the number of transactions that have written the events of the runs except the first
/// ones.
async fn transactions(database: &Database) -> i64 {
    let sql = "SELECT count(DISTINCT xmin::text) FROM adkw_log WHERE place > 0";
    sqlx::query_scalar(sql)
        .fetch_one(&mut database.connect().await)
        .await
        .unwrap()
}

/// A transaction is one flush of the log of the server.
#[tokio::test]
#[ignore = "needs Postgres: tests/peers/run-postgres.sh"]
async fn events_of_64_sessions_share_a_transaction() {
    let database = Database::new().await;
    let store = PostgresStore::connect(&database.url).await.unwrap();
    let mut runs = Runs::begin(&store, 64).await;
    runs.go_on().await;
    for n in 0..64 {
        runs.ended(n).await.unwrap();
        assert_eq!(texts(&store, n).await, whole());
    }
    let (all, events) = (transactions(&database).await, i64::from(64 * EVENTS));
    assert!(
        all <= events / 16,
        "{all} transactions for {events} events of 64 runs"
    );
}

#[tokio::test]
#[ignore = "needs Postgres: tests/peers/run-postgres.sh"]
async fn a_session_whose_run_was_taken_is_refused_alone() {
    let database = Database::new().await;
    let (store, other) = (
        PostgresStore::connect(&database.url).await.unwrap(),
        PostgresStore::connect(&database.url).await.unwrap(),
    );
    let mut runs = Runs::begin(&store, 8).await;
    database.execute("DELETE FROM adkw_owners").await;
    let any: ClaimCheck = Arc::new(|_| Ok(()));
    let taken = other.claim(runs.ids[3], any).await.unwrap();
    runs.go_on().await;
    for n in 0..8 {
        let ended = runs.ended(n).await;
        if n == 3 {
            let fenced = ErrorKind::Store(StoreErrorKind::Fenced);
            assert_eq!(ended.unwrap_err().kind(), fenced);
            assert_eq!(texts(&store, n).await, part());
        } else {
            ended.unwrap();
            assert_eq!(texts(&store, n).await, whole());
        }
    }
    let all = transactions(&database).await;
    assert!(all <= 7 * i64::from(EVENTS) / 3, "{all} transactions");
    drop(taken);
}

#[tokio::test]
#[ignore = "needs Postgres: tests/peers/run-postgres.sh"]
async fn a_session_that_the_server_refuses_fails_alone() {
    let database = Database::new().await;
    let store = PostgresStore::connect(&database.url).await.unwrap();
    let mut runs = Runs::begin(&store, 8).await;
    database
        .execute(
            "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS
                $$ BEGIN RAISE EXCEPTION 'no place for %', NEW.session_id; END $$;
            CREATE TRIGGER refuse BEFORE INSERT ON events FOR EACH ROW
                WHEN (NEW.session_id = 's3') EXECUTE FUNCTION refuse()",
        )
        .await;
    runs.go_on().await;
    for n in 0..8 {
        let ended = runs.ended(n).await;
        if n == 3 {
            let error = ended.unwrap_err();
            assert!(error.to_string().contains("no place for s3"), "{error}");
            assert_eq!(kind(&error), StoreErrorKind::Other);
            assert_eq!(texts(&store, n).await, part());
        } else {
            ended.unwrap();
            assert_eq!(texts(&store, n).await, whole());
        }
    }
}

/// A stopped process, for example, holds the lock. The other runs end while it holds it.
#[tokio::test]
#[ignore = "needs Postgres: tests/peers/run-postgres.sh"]
async fn a_locked_session_delays_no_other() {
    let database = Database::new().await;
    // The wait for a lock is longer than the test.
    let options = quick().patience(Duration::from_secs(600));
    let store = PostgresStore::connect_with(&database.url, options)
        .await
        .unwrap();
    let mut runs = Runs::begin(&store, 8).await;
    let mut holder = database.connect().await;
    sqlx::raw_sql("BEGIN; SELECT 1 FROM sessions WHERE id = 's3' FOR UPDATE")
        .execute(&mut holder)
        .await
        .unwrap();
    runs.go_on().await;
    for n in (0..8).filter(|n| *n != 3) {
        runs.ended(n).await.unwrap();
        assert_eq!(texts(&store, n).await, whole());
    }
    assert!(!runs.tasks[3].is_finished());
    sqlx::raw_sql("ROLLBACK")
        .execute(&mut holder)
        .await
        .unwrap();
    runs.ended(3).await.unwrap();
    assert_eq!(texts(&store, 3).await, whole());
}

/// The answers to commits of groups are lost, and each event is stored once.
#[tokio::test]
#[ignore = "needs Postgres: tests/peers/run-postgres.sh"]
async fn a_group_whose_answer_is_lost_is_written_once() {
    let database = Database::new().await;
    let lossy = Lossy::new(&database).await;
    let options = quick().patience(Duration::from_secs(60));
    let store = PostgresStore::connect_with(&lossy.url, options)
        .await
        .unwrap();
    let mut runs = Runs::begin(&store, 8).await;
    lossy.lose();
    runs.go_on().await;
    for n in 0..8 {
        runs.ended(n).await.unwrap();
        assert_eq!(texts(&store, n).await, whole());
    }
    assert!(
        lossy.lost_answers() > EVENTS / 2,
        "{}",
        lossy.lost_answers()
    );
}

/// The server commits a group, the answer is lost, and the server does not come back in time. Each
/// member of the group is told that its outcome is unknown.
#[tokio::test]
#[ignore = "needs Postgres: tests/peers/run-postgres.sh"]
async fn the_outcome_of_a_group_without_an_answer_is_unknown() {
    let database = Database::new().await;
    let lossy = Lossy::new(&database).await;
    let options = quick().patience(Duration::from_millis(500)).connections(1);
    let store = PostgresStore::connect_with(&lossy.url, options)
        .await
        .unwrap();
    let mut runs = Runs::begin(&store, 4).await;
    lossy.cut();
    runs.go_on().await;
    let reader = PostgresStore::connect(&database.url).await.unwrap();
    let mut unknown = 0;
    for n in 0..4 {
        let error = runs.ended(n).await.unwrap_err();
        assert!(error.is_retryable(), "{error}");
        // A member of a later group was not sent.
        let is_unknown = kind(&error) == StoreErrorKind::OutcomeUnknown;
        let stored = part().len() + usize::from(is_unknown);
        assert_eq!(texts(&reader, n).await, whole()[..stored], "{error}");
        unknown += u32::from(is_unknown);
    }
    assert!(unknown > 1, "{unknown}");
}
