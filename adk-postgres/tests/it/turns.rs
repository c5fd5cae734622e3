//! Tests that a turn costs the same in a long session.

use crate::support::Database;
use adk_build::Runner;
use adk_build::llm::{IncludeContents, LlmAgent};
use adk_build::session::{SessionKey, SessionStore as _};
use adk_build::testing::ScriptedModel;
use adk_postgres::PostgresStore;
use adk_store_kit::sessions::{delta, stored};
use adk_store_kit::trees::{Tree, run, say};
use serde_json::json;
use sqlx::Row as _;

/// Rows that the statements of a turn have returned and written, and blocks that they have read.
#[derive(Clone, Copy, Debug)]
struct Cost {
    rows: i64,
    blocks: i64,
}

/// Measures the first two turns of a process in a session of `many` events. Also returns the number
/// of events that the session holds in memory after the second turn.
async fn turns(tree: &Tree, many: u64) -> ([Cost; 2], usize) {
    let database = Database::new().await;
    database
        .execute("CREATE EXTENSION pg_stat_statements")
        .await;
    let key = SessionKey::new("app", "u", "s");
    let store = PostgresStore::connect(&database.url).await.unwrap();
    store.create(key.clone(), delta(json!({}))).await.unwrap();
    store
        .append(&key, (0..many).map(|n| stored(n, "text")).collect())
        .await
        .unwrap();
    store.shut_down().await.unwrap();
    database.execute("VACUUM ANALYZE").await;
    let store = PostgresStore::connect(&database.url).await.unwrap();
    let builder = Runner::builder()
        .app_name("app")
        .session_store(store.clone())
        .engine(store.clone());
    let runner: Runner = builder
        .model(ScriptedModel::new().text("said").repeat_last())
        .build()
        .unwrap();
    let reset = "SELECT pg_stat_statements_reset(0,
        (SELECT oid FROM pg_database WHERE datname = current_database()), 0)";
    let sum = "SELECT sum(rows)::int8, sum(shared_blks_hit + shared_blks_read)::int8
        FROM pg_stat_statements
        WHERE dbid = (SELECT oid FROM pg_database WHERE datname = current_database())
        AND (query LIKE '%adkw_log%' OR query LIKE '%events%')";
    let (mut costs, mut loaded) = ([Cost { rows: 0, blocks: 0 }; 2], 0);
    for cost in &mut costs {
        database.execute(reset).await;
        let outcome = runner.session("u", "s").run(tree, "go").await.unwrap();
        loaded = outcome.session().events().count();
        let row = sqlx::query(sum)
            .fetch_one(&mut database.connect().await)
            .await
            .unwrap();
        *cost = Cost {
            rows: row.get(0),
            blocks: row.get(1),
        };
    }
    store.shut_down().await.unwrap();
    (costs, loaded)
}

#[tokio::test]
#[ignore = "needs Postgres: tests/peers/run-postgres.sh"]
async fn a_turn_reads_as_much_in_a_long_session() {
    let talks = || {
        LlmAgent::builder("talks")
            .include_contents(IncludeContents::None)
            .build()
            .unwrap()
    };
    for tree in [
        Tree::new("f", vec![run(say("says"))]),
        Tree::new("t", vec![run(talks())]),
    ] {
        let (short, loaded) = turns(&tree, 100).await;
        let (long, loaded_of_long) = turns(&tree, 3_000).await;
        assert_eq!(
            (loaded, loaded_of_long),
            (2, 2),
            "the events of the run alone"
        );
        for (short, long) in short.into_iter().zip(long) {
            assert!(
                short.rows > 0 && short.rows == long.rows,
                "{short:?}, {long:?}"
            );
            // The margin covers deeper indexes.
            assert!(long.blocks <= short.blocks + 20, "{short:?}, {long:?}");
        }
    }
}
