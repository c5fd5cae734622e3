//! The cost of reading a run that an engine above the store drives.

use crate::support::Database;
use adk_build::engine::{RunFilter, RunRegistry as _};
use adk_build::session::{SessionKey, SessionStore as _};
use adk_build::{Event, StateDelta};
use adk_store_kit::{OpenStore, Place as _, driven, sessions};

/// A read of a run finds its events, or the last of them, by an index, even in a long session. A
/// search for runs to resume does not read runs of an engine above. The server counts the rows that
/// it has read.
#[tokio::test]
#[ignore = "needs Postgres: tests/peers/run-postgres.sh"]
async fn queries_use_indexes() {
    let database = Database::new().await;
    let stored = |n| -> Event { sessions::stored(n, "text") };
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
    let run = driven::open_run(&OpenStore::new(&first)).await;
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
