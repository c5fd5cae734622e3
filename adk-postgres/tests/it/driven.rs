//! Runs that an engine above the store drives. Two stores on one database play two processes of the
//! engine.

use crate::support::Database;
use crate::trees::survival::Place as _;
use crate::trees::{driven, store};
use adk_build::engine::{RunFilter, RunRegistry as _};
use adk_build::session::{SessionKey, SessionStore as _};
use adk_build::{Event, StateDelta};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs Postgres: tests/peers/run-postgres.sh"]
async fn each_slot_is_filled_once() {
    driven::fills_each_slot_once(&Database::new().await).await;
}

#[tokio::test]
#[ignore = "needs Postgres: tests/peers/run-postgres.sh"]
async fn branches_are_executed_by_two_processes() {
    driven::takes_branches_of_two(&Database::new().await).await;
}

#[tokio::test]
#[ignore = "needs Postgres: tests/peers/run-postgres.sh"]
async fn waits_are_kept_until_they_are_answered() {
    driven::keeps_waits(&Database::new().await).await;
}

#[tokio::test]
#[ignore = "needs Postgres: tests/peers/run-postgres.sh"]
async fn any_process_closes_the_run() {
    driven::closes(&Database::new().await).await;
}

#[tokio::test]
#[ignore = "needs Postgres: tests/peers/run-postgres.sh"]
async fn a_cancel_fences_all_processes() {
    driven::is_fenced_by_a_cancel(&Database::new().await).await;
}

#[tokio::test]
#[ignore = "needs Postgres: tests/peers/run-postgres.sh"]
async fn processes_on_the_plain_store_do_not_claim_such_runs() {
    driven::is_left_alone(&Database::new().await).await;
}

#[tokio::test]
#[ignore = "needs Postgres: tests/peers/run-postgres.sh"]
async fn open_sessions_see_events_of_other_processes() {
    driven::is_seen_by_readers(&Database::new().await).await;
}

#[tokio::test]
#[ignore = "needs Postgres: tests/peers/run-postgres.sh"]
async fn random_interleavings_fill_each_slot_once() {
    driven::interleaved::interleaves(&Database::new().await, 8).await;
}

/// A read of a run finds its events, or the last of them, by an index, even in a long session. A
/// search for runs to resume does not read runs of an engine above. The server counts the rows that
/// it has read.
#[tokio::test]
#[ignore = "needs Postgres: tests/peers/run-postgres.sh"]
async fn queries_use_indexes() {
    let database = Database::new().await;
    let stored = |n| -> Event { store::stored(n, "text") };
    let first = database.open().await;
    let key = SessionKey::new("app", "u", "s");
    first
        .create(key.clone(), StateDelta::default())
        .await
        .unwrap();
    first
        .append(&key, (0..5_000).map(stored).collect())
        .await
        .unwrap();
    let run = driven::opens(&first).await;
    first
        .append(&key, (5_000..10_000).map(stored).collect())
        .await
        .unwrap();
    database
        .execute(&format!(
            "INSERT INTO adkw_runs (id, session, status, owner, epoch, record, app, workflow)
                SELECT 'e-' || gen_random_uuid(), r.session, 'running', '@', 0, r.record, r.app,
                    r.workflow
                FROM adkw_runs r, generate_series(1, 20000) WHERE r.id = '{run}'; ANALYZE"
        ))
        .await;
    let ask = async |sql: &'static str| -> i64 {
        sqlx::query_scalar(sql)
            .fetch_one(&mut database.connect().await)
            .await
            .unwrap()
    };
    // A connection reports its statistics at the latest when it ends.
    let read = async || -> i64 {
        let others = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()
            AND backend_type = 'client backend' AND pid <> pg_backend_pid()";
        while ask(others).await > 0 {
            tokio::task::yield_now().await;
        }
        let sql = "SELECT (SELECT coalesce(sum(seq_tup_read), 0) FROM pg_stat_user_tables)::bigint
            + (SELECT coalesce(sum(idx_tup_read), 0) FROM pg_stat_user_indexes)::bigint";
        ask(sql).await
    };
    first.shut_down().await.unwrap();
    let before = read().await;
    let second = database.open().await;
    let all = second.driven(run, 0).await.unwrap().unwrap();
    assert_eq!(
        (all.record.begins, all.events.len(), all.events[0].1.place),
        (5_000, 1, 5_000)
    );
    assert!(
        second
            .driven(run, 9_990)
            .await
            .unwrap()
            .unwrap()
            .events
            .is_empty()
    );
    assert_eq!(second.runs("app", &RunFilter::ready()).await.unwrap(), []);
    second.shut_down().await.unwrap();
    let rows = read().await - before;
    assert!(rows < 1_000, "{rows} rows");
}

#[tokio::test]
#[ignore = "needs Postgres: tests/peers/run-postgres.sh"]
async fn a_run_that_is_queued_begins_with_its_first_event() {
    driven::begins_when_queued(&Database::new().await).await;
}
