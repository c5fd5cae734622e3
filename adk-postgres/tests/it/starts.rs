//! Tests of programs that start at the same moment, on a database without tables.

use crate::support::{Database, quick};
use adk_postgres::PostgresStore;
use adk_store_kit::place::{key, runner};
use adk_store_kit::trees::{Tree, run, say};

/// Opens a database from eight tasks at once, and executes a run in each.
pub async fn together(url: &str) {
    let starts: Vec<_> = (0..8)
        .map(|n| {
            let url = url.to_owned();
            tokio::spawn(async move {
                let store = PostgresStore::connect_with(&url, quick()).await.unwrap();
                let tree = Tree::new("w", vec![run(say("a"))]);
                runner(&store)
                    .session(key().user, format!("s{n}"))
                    .run(&tree, "go")
                    .await
                    .unwrap();
            })
        })
        .collect();
    for start in starts {
        start.await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs Postgres: tests/peers/run-postgres.sh"]
async fn first_starts_at_the_same_moment_make_the_tables_once() {
    for _ in 0..4 {
        together(&Database::new().await.url).await;
    }
}
