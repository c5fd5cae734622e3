//! A large database, filled without the store where that is faster.

use crate::support::Database;
use adk_postgres::PostgresStore;
use adk_store_kit::OpenStore;
use adk_store_kit::measure::size::{self, FIRST, Size};
use std::cell::Cell;

/// Returns statements that write sessions, events and ended runs. Event `i` belongs to session
/// `i % sessions`; the events of the long session come last.
fn fill(size: Size) -> String {
    let Size { sessions, long, .. } = size;
    let (short, data) = (sessions * 100, size::data());
    format!(
        "CREATE TEMP TABLE e AS SELECT i,
            CASE WHEN i < {short} THEN 'b' || (i % {sessions}) ELSE 'long' END AS session,
            CASE WHEN i < {short} THEN 'u' || (i % {sessions} / 10) ELSE 'long' END AS usr,
            CASE WHEN i < {short} THEN i / {sessions} ELSE i - {short} END AS place,
            ({FIRST} + i) * 1000000 AS micros, to_timestamp({FIRST} + i) AT TIME ZONE 'UTC' AS time,
            '01998888-0000-7000-8000-' || lpad(to_hex(i), 12, '0') AS id,
            'e-01998888-0000-7000-9000-' || lpad(
                to_hex(CASE WHEN i < {short} THEN i % {sessions} ELSE i / 100 END), 12, '0') AS run
            FROM generate_series(0::bigint, {short} + {long} - 1) i;
        INSERT INTO sessions SELECT 'app', usr, session, '{{\"key\":1}}', min(time), max(time)
            FROM e GROUP BY usr, session;
        INSERT INTO adkw_sessions (app_name, user_id, id, len, seen, latest)
            SELECT 'app', usr, session, count(*), max(time), max(time) FROM e GROUP BY usr, session;
        INSERT INTO adkw_runs (id, session, status, epoch, record, app, workflow, created, updated,
                user_id)
            SELECT run, n.number, 'finished', 1, repeat('0', 1000), 'app', 'w', min(micros),
                max(micros), min(usr)
            FROM e JOIN adkw_sessions n ON n.app_name = 'app' AND n.user_id = e.usr
                AND n.id = e.session
            GROUP BY run, n.number ORDER BY run;
        INSERT INTO events SELECT id, 'app', usr, session, run, time,
            replace('{data}', 'ID', id)::jsonb FROM e ORDER BY i;
        INSERT INTO adkw_log (session, place, event_id, time, run, slot)
            SELECT r.session, place, e.id, time, run, 'w/l#' || place || '/a!0' FROM e
            JOIN adkw_runs r ON r.id = run ORDER BY i;
        UPDATE adkw_runs SET owner = '1-dead' WHERE workflow = 'cut'"
    )
}

/// Fills a new database, and opens it.
pub async fn open(database: &Database, size: Size) -> PostgresStore {
    let store = PostgresStore::connect(&database.url).await.unwrap();
    size::begin(&OpenStore::new(&store), size).await;
    store.shut_down().await.unwrap();
    database.execute(&fill(size)).await;
    database.execute("VACUUM ANALYZE").await;
    PostgresStore::connect(&database.url).await.unwrap()
}

/// Measures the operations whose cost must not depend on the size of the database.
pub async fn measure(database: &Database, store: &PostgresStore, size: Size) {
    let next = Cell::new(size.events());
    // Appends an event like google-adk.
    let foreign = async || {
        let i = next.replace(next.get() + 1);
        let time = format!("to_timestamp({}) AT TIME ZONE 'UTC'", FIRST + i);
        let sql = format!(
            "INSERT INTO events VALUES ('foreign{i}', 'app', 'long', 'long', 'e-1', {time}, NULL);
            UPDATE sessions SET update_time = {time} WHERE app_name = 'app' AND user_id = 'long'"
        );
        database.execute(&sql).await;
    };
    size::measure("Postgres", &OpenStore::new(store), size, foreign).await;
}
