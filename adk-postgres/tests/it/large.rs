//! Tests that the cost of an operation does not depend on the size of the database.

use crate::filled;
use crate::support::Database;
use adk_store_kit::measure::size::Size;
use sqlx::Row as _;
use std::collections::BTreeMap;

/// Returns the number of blocks that one call of each statement touches, by its text, in a database
/// of the given size.
async fn blocks(size: Size) -> BTreeMap<String, f64> {
    let database = Database::new().await;
    database
        .execute("CREATE EXTENSION pg_stat_statements")
        .await;
    let store = filled::open(&database, size).await;
    let this = "(SELECT oid FROM pg_database WHERE datname = current_database())";
    database
        .execute(&format!("SELECT pg_stat_statements_reset(0, {this}, 0)"))
        .await;
    filled::measure(&database, &store, size).await;
    store.shut_down().await.unwrap();
    let sql = "SELECT query, (sum(shared_blks_hit + shared_blks_read) / sum(calls))::float8
        FROM pg_stat_statements
        WHERE dbid = (SELECT oid FROM pg_database WHERE datname = current_database())
        GROUP BY query";
    let rows = sqlx::query(sql)
        .fetch_all(&mut database.connect().await)
        .await
        .unwrap();
    rows.iter().map(|row| (row.get(0), row.get(1))).collect()
}

#[tokio::test]
#[ignore = "needs Postgres: tests/peers/run-postgres.sh"]
async fn a_statement_reads_as_much_in_a_large_database() {
    let small = Size {
        sessions: 30,
        long: 2_000,
        waits: 50,
        cut: 20,
    };
    let (small, large) = (
        blocks(small).await,
        blocks(Size {
            sessions: 300,
            long: 20_000,
            waits: 500,
            cut: 200,
        })
        .await,
    );
    // This statement compares numbers of events, to detect events of other programs.
    let is_known = |sql: &str| sql.starts_with("SELECT count(*) FROM events WHERE");
    let found = large
        .iter()
        .filter(|(sql, _)| small.contains_key(*sql) && !is_known(sql));
    let found: Vec<_> = found
        .map(|(sql, blocks)| (small[sql], *blocks, sql))
        .collect();
    assert!(found.len() > 30, "{} statements", found.len());
    // The margin covers deeper indexes, and tables that are small enough to be scanned: a page of
    // 20 runs with their sessions reads one block of a small table of sessions, and three blocks
    // per run of a large one.
    let grown: Vec<_> = found
        .iter()
        .filter(|(small, large, _)| *large > small * 2.0 + 100.0)
        .collect();
    assert!(grown.is_empty(), "{grown:#?}");
}
