//! Upper bound for `appends`:
//! `tests/peers/run-postgres.sh cargo bench -p adk-workflow-postgres --bench bare`. One connection
//! writes the same rows into the same tables, by one prepared statement per transaction. Prints
//! events per second with 1, 8 and 64 sessions in a transaction.

#![allow(clippy::unwrap_used, reason = "a benchmark fails by a panic")]

#[path = "../tests/support/mod.rs"]
mod support;

use adk_postgres::PostgresStore;
use sqlx::PgConnection;
use std::time::Instant;
use support::Database;

const WRITE: &str = "WITH log AS (
        INSERT INTO adkw_log (session, place, event_id, time, run, slot, done)
        SELECT number, $2, id, $3::timestamp, 'e-' || number, $4,
        '[{\"path\":\"w/l#1/a\",\"flow\":\"Continue\"}]'
        FROM unnest($1::bigint[], $5::text[]) e (number, id)),
    data AS (
        INSERT INTO events (id, app_name, user_id, session_id, invocation_id, timestamp, event_data)
        SELECT id, 'app', 'u', 's' || number, 'e-' || number, $3::timestamp, data::jsonb
        FROM unnest($1::bigint[], $5::text[], $6::text[]) e (number, id, data)),
    own AS (
        UPDATE sessions s SET update_time = $3::timestamp, state = state || '{\"draft\": 1}'
        FROM unnest($1::bigint[]) number
        WHERE app_name = 'app' AND user_id = 'u' AND id = 's' || number)
    UPDATE adkw_sessions s SET len = $2 + 1, seen = $3::timestamp, latest = $3::timestamp
    FROM unnest($1::bigint[]) u (number) WHERE s.number = u.number";

const SESSIONS: &str = "WITH made AS (
        INSERT INTO sessions SELECT 'app', 'u', 's' || number, '{}', now(), now()
            FROM unnest($1::bigint[]) number)
    INSERT INTO adkw_sessions (app_name, user_id, id, latest)
    SELECT 'app', 'u', 's' || number, now() FROM unnest($1::bigint[]) number ORDER BY number";

/// Returns the event data that `appends` writes: 500 bytes of text and one key.
fn data(id: &str) -> String {
    let text = "x".repeat(500);
    format!(
        concat!(
            r#"{{"id":"{id}","author":"a","#,
            r#""content":{{"parts":[{{"text":"{text}"}}],"role":"model"}},"#,
            r#""actions":{{"state_delta":{{"draft":1}}}},"node_info":{{"path":"w/l#12/a"}},"#,
            r#""invocation_id":"e-01998888-0000-7000-8000-000000000000","timestamp":1767225600.5}}"#
        ),
        id = id,
        text = text
    )
}

async fn bare(connection: &mut PgConnection, count: usize, events: usize) {
    let numbers: Vec<i64> = (1..=count as i64).collect();
    sqlx::query(SESSIONS)
        .bind(&numbers)
        .execute(&mut *connection)
        .await
        .unwrap();
    let rounds = events / count;
    let begin = Instant::now();
    for place in 0..rounds {
        let id = |number: &i64| format!("{place:08x}-0000-7000-8000-{number:012}");
        let ids: Vec<String> = numbers.iter().map(id).collect();
        let data: Vec<String> = ids.iter().map(|id| data(id)).collect();
        let time = format!(
            "2026-01-01 00:{:02}:{:02}.{:06}",
            place / 60_000,
            place / 1_000 % 60,
            place % 1_000
        );
        let query = sqlx::query(WRITE)
            .bind(&numbers)
            .bind(place as i64)
            .bind(time);
        let query = query.bind(format!("w/l#{place}/a!0")).bind(ids).bind(data);
        query.execute(&mut *connection).await.unwrap();
    }
    let rate = (rounds * count) as f64 / begin.elapsed().as_secs_f64();
    println!("{count:>4} in a transaction: {rate:>7.0} events/s");
}

fn main() {
    // `-- 64` measures only this case.
    let asked: Vec<usize> = std::env::args()
        .filter_map(|arg| arg.parse().ok())
        .collect();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        for count in [1, 8, 64]
            .into_iter()
            .filter(|count| asked.is_empty() || asked.contains(count))
        {
            let database = Database::new().await;
            // Let the store create its tables.
            drop(PostgresStore::connect(&database.url).await.unwrap());
            bare(&mut database.connect().await, count, 8_000).await;
        }
    });
}
