//! Upper bound for `appends`: `cargo bench -p adk-workflow-sqlite --bench bare`. One thread writes
//! the same rows into the same tables, one per run in each transaction, without a runner, a journal
//! and callers. Prints events per second.

#![allow(clippy::unwrap_used, reason = "a benchmark fails by a panic")]

use adk_sqlite::SqliteStore;
use rusqlite::{Connection, params};
use std::time::Instant;

/// Returns the number of rows that the store moves together from the tail to the log: 16 events of
/// each session, at least 256 rows and at most 2,048.
fn moves(sessions: usize) -> usize {
    (16 * sessions).clamp(256, 2048)
}

const TAIL: &str =
    "INSERT OR FAIL INTO adkw_tail (session, place, event_id, micros, run, slot, temp, done)
    SELECT ?1, ?2, ?3, ?4, ?5, ?6, NULL, ?7
    WHERE NOT EXISTS (SELECT 1 FROM adkw_log WHERE run = ?5 AND slot = ?6)
    ON CONFLICT (run, slot) WHERE run IS NOT NULL DO NOTHING";
const EVENT: &str =
    "INSERT INTO events (id, app_name, user_id, session_id, invocation_id, timestamp, event_data)
    VALUES (?1, 'app', 'u', ?2, ?3, ?4, ?5)";
const SESSION: &str = "UPDATE sessions SET update_time = ?2, state = ?3 WHERE rowid = ?1";
const MOVE: &str = "BEGIN IMMEDIATE;
    INSERT OR FAIL INTO adkw_log (session, place, event_id, micros, run, slot, temp, done)
        SELECT session, place, event_id, micros, run, slot, temp, done FROM adkw_tail
        ORDER BY session, place;
    DELETE FROM adkw_tail; COMMIT";
const DONE: &str = r#"[{"path":"w/l#1/a","flow":"Continue"}]"#;

fn sessions(connection: &Connection, count: usize) {
    for n in 1..=count {
        let (name, run) = (
            format!("s{n}"),
            format!("e-01998888-0000-7000-8000-{n:012}"),
        );
        let time = "2026-01-01 00:00:00.000000";
        connection
            .execute(
                "INSERT INTO sessions VALUES ('app', 'u', ?1, '{\"key\":1}', ?2, ?2)",
                [&name, time],
            )
            .unwrap();
        connection
            .execute(
                "INSERT INTO adkw_sessions VALUES (?1, 'app', 'u', ?2)",
                params![n, name],
            )
            .unwrap();
        connection
            .execute(
                "INSERT INTO adkw_runs (number, id, session, status, record)
                    VALUES (?1, ?2, ?1, 'running', '{}')",
                params![n, run],
            )
            .unwrap();
    }
}

/// Returns the event data that `appends` writes: 500 bytes of text and one key.
fn data(id: &str) -> String {
    let text = "x".repeat(500);
    format!(
        concat!(
            r#"{{"id":"{id}","author":"a","#,
            r#""content":{{"parts":[{{"text":"{text}"}}],"role":"model"}},"#,
            r#""actions":{{"state_delta":{{"key":1}}}},"node_info":{{"path":"w/l#12/a"}},"#,
            r#""invocation_id":"e-01998888-0000-7000-8000-000000000000","timestamp":1767225600.5}}"#
        ),
        id = id,
        text = text
    )
}

fn write(connection: &Connection, at: usize, count: usize) {
    let (n, place) = (at % count + 1, at / count);
    let id = format!("{at:08x}-0000-7000-8000-{n:012}");
    let time = format!(
        "2026-01-01 00:{:02}:{:02}.{:06}",
        at / 60_000_000 % 60,
        at / 1_000_000 % 60,
        at % 1_000_000
    );
    let run = |sql, row: &[&dyn rusqlite::ToSql]| {
        connection
            .prepare_cached(sql)
            .unwrap()
            .execute(row)
            .unwrap();
    };
    run(
        TAIL,
        params![n, place, id, at, n, format!("w/l#{place}/a!0"), DONE],
    );
    run(
        EVENT,
        params![
            id,
            format!("s{n}"),
            format!("e-01998888-0000-7000-8000-{n:012}"),
            time,
            data(&id)
        ],
    );
    run(SESSION, params![n, time, r#"{"key":1}"#]);
}

fn bare(path: &std::path::Path, count: usize, events: usize) {
    let connection = Connection::open(path).unwrap();
    connection.set_prepared_statement_cache_capacity(64);
    // The settings that the store uses.
    connection
        .execute_batch(
            "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA foreign_keys=OFF;
             PRAGMA cache_size=-32768; PRAGMA temp_store=MEMORY; PRAGMA wal_autocheckpoint=8000;",
        )
        .unwrap();
    sessions(&connection, count);
    let (begin, mut in_tail) = (Instant::now(), 0);
    for first in (0..events).step_by(count) {
        connection
            .prepare_cached("BEGIN IMMEDIATE")
            .unwrap()
            .execute([])
            .unwrap();
        (first..first + count).for_each(|at| write(&connection, at, count));
        connection
            .prepare_cached("COMMIT")
            .unwrap()
            .execute([])
            .unwrap();
        in_tail += count;
        if in_tail >= moves(count) {
            connection.execute_batch(MOVE).unwrap();
            in_tail = 0;
        }
    }
    let seconds = begin.elapsed().as_secs_f64();
    println!(
        "{count:>4} in a transaction: {:>7.0} events/s",
        events.next_multiple_of(count) as f64 / seconds
    );
}

fn main() {
    let folder = std::env::temp_dir().join(format!("adk-sqlite-bare-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    // `-- 64` measures only this case.
    let asked: Vec<usize> = std::env::args()
        .filter_map(|arg| arg.parse().ok())
        .collect();
    for count in [1, 8, 64, 256]
        .into_iter()
        .filter(|count| asked.is_empty() || asked.contains(count))
    {
        let path = folder.join(format!("{count}.db"));
        // Let the store create its tables.
        drop(runtime.block_on(SqliteStore::open(&path)).unwrap());
        bare(&path, count, 20_000);
    }
    let _ = std::fs::remove_dir_all(folder);
}
