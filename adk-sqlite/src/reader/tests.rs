//! Tests of concurrent reads, and of the cost of reads by SQLite's steps.
#![allow(clippy::unwrap_used, reason = "a test fails by a panic")]

use super::*;
use rusqlite::StatementStatus;
use std::sync::Barrier;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

#[tokio::test]
async fn concurrent_reads_share_a_few_connections() {
    let name = format!("adk-sqlite-reader-{}.db", std::process::id());
    let path = std::env::temp_dir().join(name);
    let connection = Connection::open(&path).unwrap();
    crate::schema::prepare(&connection).unwrap();
    let file = Arc::new(DatabaseFile::identify(&connection, &path).unwrap());
    let reader = Arc::new(Reader::new(file, Options::default()));
    // Each read waits in the barrier until `MOST` reads have arrived, so the peak shows how
    // many run at once.
    let (together, inside, peak) = (
        Arc::new(Barrier::new(MOST)),
        AtomicUsize::new(0),
        AtomicUsize::new(0),
    );
    let counts = Arc::new((inside, peak));
    let tasks: Vec<_> = (0..8 * MOST)
        .map(|_| {
            let (reader, together, counts) = (reader.clone(), together.clone(), counts.clone());
            tokio::spawn(async move {
                let work = move |_: &Connection| {
                    counts
                        .1
                        .fetch_max(counts.0.fetch_add(1, SeqCst) + 1, SeqCst);
                    together.wait();
                    counts.0.fetch_sub(1, SeqCst);
                    Ok(())
                };
                reader.read(work).await.unwrap();
            })
        })
        .collect();
    for task in tasks {
        task.await.unwrap();
    }
    assert_eq!(
        (counts.1.load(SeqCst), reader.free.lock().unwrap().len()),
        (MOST, MOST)
    );
    std::fs::remove_file(&path).unwrap();
}

#[test]
fn events_of_a_run_are_found_by_an_index() {
    let connection = Connection::open_in_memory().unwrap();
    crate::schema::prepare(&connection).unwrap();
    for (table, from_a_place, first) in [
        (TABLES[0], false, "adkw_tail_slot (run=?)"),
        (TABLES[1], false, "adkw_log_slot (run=?)"),
        (TABLES[0], true, "(session=? AND place>?)"),
        (TABLES[1], true, "(session=? AND place>?)"),
    ] {
        let sql = format!("EXPLAIN QUERY PLAN {}", filled_sql(table, from_a_place));
        let mut statement = connection.prepare(&sql).unwrap();
        let count = statement.parameter_count();
        let steps =
            statement.query_map(rusqlite::params_from_iter(vec![1; count]), |row| row.get(3));
        let steps: Vec<String> = steps.unwrap().map(Result::unwrap).collect();
        assert!(
            steps[0].starts_with("SEARCH ") && steps[0].contains(first),
            "{sql}: {steps:?}"
        );
        assert!(
            steps[1].starts_with("SEARCH e ") && steps[1].contains("(id=?"),
            "{sql}: {steps:?}"
        );
    }
}

/// Returns a database with one session of so many events, the last ten of which are a second
/// later than the others, and the time of these.
fn log(many: u64) -> (Connection, u64) {
    let connection = Connection::open_in_memory().unwrap();
    connection.execute_batch("PRAGMA foreign_keys=OFF").unwrap();
    crate::schema::prepare(&connection).unwrap();
    let (micros, moved) = (1_767_225_600_000_000, many - 10);
    let (time, before) = (time::to_text(micros), time::to_text(micros - 1_000_000));
    let ids = "WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < ?1)";
    let id = "printf('01890000-0000-7000-8000-%012d', i)";
    let session = "INSERT INTO sessions VALUES ('app', 'u', 's', '{}', ?1, ?1)";
    connection.execute(session, [&time]).unwrap();
    connection
        .execute("INSERT INTO adkw_sessions VALUES (1, 'app', 'u', 's')", [])
        .unwrap();
    let events = format!(
        "{ids} INSERT INTO events
            SELECT {id}, 'app', 'u', 's', 'e-1', iif(i < ?3, ?2, ?4), NULL FROM n"
    );
    connection
        .execute(&events, params![many, before, moved, time])
        .unwrap();
    for (table, places) in [(TABLES[0], "i >= ?2"), (TABLES[1], "i < ?2")] {
        let rows = format!(
            "{ids} INSERT INTO {table} (session, place, event_id, micros)
            SELECT 1, i, {id}, ?3 - 1000000 * (i < ?2) FROM n WHERE {places}"
        );
        connection
            .execute(&rows, params![many, moved, micros])
            .unwrap();
    }
    (connection, micros)
}

/// Returns SQLite's step counts for reads of a session with `many` events. The last ten events
/// are in the tail table, and have the same, latest time.
fn steps(many: u64) -> Vec<(&'static str, i32)> {
    let (connection, micros) = log(many);
    let key = SessionKey::new("app", "u", "s");
    // SQLite counts the steps of each cached statement.
    let taken = || -> i32 {
        let sqls = [
            HEAD.to_owned(),
            placed_sql(TABLES[0]),
            placed_sql(TABLES[1]),
            COUNT_SINCE.to_owned(),
            TIME_AT.to_owned(),
        ];
        let steps_of = |sql: &String| {
            connection
                .prepare_cached(sql)
                .unwrap()
                .get_status(StatementStatus::VmStep)
        };
        sqls.iter().map(steps_of).sum()
    };
    let read = |what, filter: EventFilter, wanted| {
        let before = taken();
        let found = snapshot(&connection, key.clone(), &filter, false)
            .unwrap()
            .session()
            .unwrap();
        assert_eq!(
            (found.len, found.events.len()),
            (many as usize, wanted),
            "{what}"
        );
        (what, taken() - before)
    };
    let middle = many as usize / 2;
    let second = std::time::UNIX_EPOCH + std::time::Duration::from_micros(micros);
    vec![
        read("the last second", EventFilter::new().since(second), 10),
        read(
            "20 of the last second",
            EventFilter::new().since(second).last(20),
            10,
        ),
        read("the state alone", EventFilter::new().last(0), 0),
        read("the last 20", EventFilter::new().last(20), 20),
        read(
            "a page in the middle",
            EventFilter::new().places(middle..middle + 50),
            50,
        ),
        read("the first page", EventFilter::new().places(0..50), 50),
        read("the oldest", EventFilter::new().first(1), 1),
        read(
            "the oldest of the last second",
            EventFilter::new().since(second).first(1),
            1,
        ),
    ]
}

#[test]
fn a_page_costs_the_same_in_a_long_session() {
    let (mut short, mut long) = (steps(200), steps(20_000));
    assert!(short.iter().all(|(_, steps)| *steps > 20), "{short:?}");
    // The search for a time halves the log: 7 more halves for 100 times the events.
    let halves = (short.pop().unwrap(), long.pop().unwrap());
    assert!(halves.1.1 < 2 * halves.0.1, "{halves:?}");
    assert_eq!(short, long);
}

#[test]
fn a_row_that_moves_during_a_read_is_read_once() {
    let connection = Connection::open_in_memory().unwrap();
    connection.execute_batch("PRAGMA foreign_keys=OFF").unwrap();
    crate::schema::prepare(&connection).unwrap();
    for place in 0..4 {
        let id = format!("01890000-0000-7000-8000-00000000000{place}");
        let time = "2026-01-01 00:00:00.000000";
        let event = "INSERT INTO events VALUES (?1, 'app', 'u', 's', 'e-1', ?2, NULL)";
        connection.execute(event, params![id, time]).unwrap();
        // The rows of the two middle events are in both tables, as during a move by another
        // program.
        let columns = "(session, place, event_id, micros) VALUES (1, ?1, ?2, 0)";
        for table in TABLES {
            if place != [0, 3][usize::from(table == TABLES[1])] {
                connection
                    .execute(
                        &format!("INSERT INTO {table} {columns}"),
                        params![place, id],
                    )
                    .unwrap();
            }
        }
    }
    let part = |most| EventRange {
        places: 0..9,
        since: 0,
        most,
    };
    let places = |most| {
        let found = placed_events(
            &connection,
            &SessionKey::new("app", "u", "s"),
            1,
            &part(most),
        )
        .unwrap();
        found
            .into_iter()
            .map(|(place, _)| place)
            .collect::<Vec<_>>()
    };
    assert_eq!(
        (places(-1), places(3), places(4)),
        (vec![3, 2, 1, 0], vec![3, 2, 1], vec![3, 2, 1, 0])
    );
}
