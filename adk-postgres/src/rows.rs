//! [`SessionWrite`] and [`write`]: rows that are added to sessions, in one statement for any number
//! of sessions.

use crate::connection::PgConnection;
use crate::error::{is_taken, postgres_error};
use crate::exact::{self, Keys};
use crate::log::{self, ChangedKeys, Head, object, places};
use crate::types::{Jsonb, Micros};
use adk_journal::Event;
use adk_journal::session::SessionKey;
use adk_model::{Error, ErrorKind, Result, RunId, StoreErrorKind};
use serde_json::Value;
use sqlx::Row as _;
use sqlx::postgres::PgRow;
use std::collections::HashSet;

/// The operation that errors name.
const DOING: &str = "append an event";

/// The run and the slot that an event fills.
#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) run: String,
    pub(crate) slot: String,
    pub(crate) temp: Option<String>,
    /// Agents that have finished, as a JSON list.
    pub(crate) done: Option<String>,
}

/// The row of an event in the log, and its row in ADK's table.
#[derive(Debug)]
struct EventRow {
    place: i64,
    id: String,
    time: Micros,
    invocation: String,
    data: Jsonb,
    exact: Option<String>,
    entry: Option<Entry>,
}

/// The row of a recorded step.
#[derive(Debug)]
struct StepRow {
    run: String,
    key: String,
    value: String,
}

/// Rows to add to a session: events with their changes of the state, or one step.
#[derive(Debug, Default)]
pub(crate) struct Rows {
    events: Vec<EventRow>,
    keys: ChangedKeys,
    step: Option<StepRow>,
}

impl Rows {
    /// Returns the row of a step.
    pub(crate) fn of_step(run: RunId, key: &str, value: &Value) -> Self {
        let step = StepRow {
            run: run.to_string(),
            key: key.to_owned(),
            value: value.to_string(),
        };
        Self {
            step: Some(step),
            ..Self::default()
        }
    }

    /// Reports whether one statement can write all rows. Changed keys of the user and of the app
    /// need further statements.
    pub(crate) fn is_one_statement(&self) -> bool {
        !self.keys.is_shared()
    }

    /// Reports whether the rows are a step.
    pub(crate) fn is_step(&self) -> bool {
        self.step.is_some()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.events.is_empty() && self.step.is_none()
    }

    /// Returns about the number of bytes that the rows send to the server.
    pub(crate) fn bytes(&self) -> usize {
        let event = |row: &EventRow| row.data.0.len() + row.exact.as_ref().map_or(0, String::len);
        let step = self.step.as_ref().map_or(0, |step| step.value.len());
        self.events.iter().map(event).sum::<usize>() + step
    }
}

/// Rows to add to a session, if the session is as `before` says. Afterwards the session is as
/// `after` says.
#[derive(Debug)]
pub(crate) struct SessionWrite {
    pub(crate) key: SessionKey,
    pub(crate) before: Head,
    pub(crate) after: Head,
    pub(crate) rows: Rows,
}

impl SessionWrite {
    pub(crate) fn new(key: SessionKey, head: Head, rows: Rows) -> Self {
        Self {
            key,
            before: head.clone(),
            after: head,
            rows,
        }
    }

    /// Appends an event that has an id and a time, and returns its place.
    pub(crate) fn append(&mut self, event: &Event, entry: Option<Entry>) -> Result<u64> {
        let (data, exact) = exact::to_stored_event(event)?;
        self.rows.keys.add(&event.actions.state_delta)?;
        let head = &mut self.after;
        let place = head.len;
        head.len = place + 1;
        head.latest = head.latest.max(event.timestamp);
        head.seen = event.timestamp;
        self.rows.events.push(EventRow {
            place: places(place),
            id: event.id.to_string(),
            time: Micros(event.timestamp),
            invocation: event.invocation_id.to_string(),
            data: Jsonb(data),
            exact,
            entry,
        });
        Ok(place)
    }

    /// Writes the rows in an open transaction that holds the lock of the session, with keys of the
    /// user and of the app. Returns `false` if the session is not as expected, which is impossible
    /// while the lock is held.
    pub(crate) async fn execute_in_transaction(
        &self,
        connection: &mut PgConnection,
    ) -> Result<bool> {
        if self.rows.is_empty() {
            return Ok(true);
        }
        let written = write(connection, &[self]).await;
        let written = written.map_err(|error| self.failed_to_write(error))?;
        if written.is_empty() {
            return Ok(false);
        }
        let time = Micros(self.after.seen);
        let shared = log::share(connection, &self.key, &self.rows.keys, time).await;
        shared.map_err(|error| postgres_error(DOING, error))?;
        Ok(true)
    }

    /// Returns the error for a statement that failed to write these rows.
    pub(crate) fn failed_to_write(&self, error: sqlx::Error) -> Error {
        if is_taken(&error, "events_pkey") || is_taken(&error, "adkw_log_event") {
            let key = &self.key;
            Error::new(
                ErrorKind::Store(StoreErrorKind::Exists),
                format!("the session `{key}` already contains one of these events"),
            )
            .with_help("append only new events, or import into a session with another id")
        } else if self.rows.step.is_some() {
            postgres_error("record a step", error)
        } else {
            postgres_error(DOING, error)
        }
    }
}

/// Adds events or steps to sessions by a single statement. Returns the numbers of the sessions
/// whose rows are written. A session that another transaction holds or has changed gets no row, and
/// does not delay the others.
pub(crate) async fn write(
    connection: &mut PgConnection,
    writes: &[&SessionWrite],
) -> sqlx::Result<HashSet<i64>> {
    let steps: Vec<_> = writes
        .iter()
        .filter_map(|write| Some((&write.before, write.rows.step.as_ref()?)))
        .collect();
    let rows = if steps.is_empty() {
        write_events(connection, writes).await?
    } else {
        write_steps(connection, &steps).await?
    };
    rows.iter().map(|row| row.try_get(0)).collect()
}

async fn write_events(
    connection: &mut PgConnection,
    writes: &[&SessionWrite],
) -> sqlx::Result<Vec<PgRow>> {
    let rows = |write: &'_ &'_ SessionWrite| write.rows.events.len();
    let events: Vec<_> = writes.iter().flat_map(|write| &write.rows.events).collect();
    let entries = column(&events, |row| row.entry.as_ref());
    let is_one = writes.len() == 1;
    let query = sqlx::query(if is_one { WRITE_ONE } else { WRITE_MANY })
        .bind(column(&events, |row| row.place))
        .bind(column(&events, |row| &*row.id))
        .bind(column(&events, |row| row.time))
        .bind(column(&events, |row| &*row.invocation))
        .bind(column(&events, |row| &row.data))
        .bind(column(&events, |row| row.exact.as_deref()));
    let query = query
        .bind(column(&entries, |entry| Some(&*entry.as_ref()?.run)))
        .bind(column(&entries, |entry| Some(&*entry.as_ref()?.slot)))
        .bind(column(&entries, |entry| entry.as_ref()?.temp.as_deref()))
        .bind(column(&entries, |entry| entry.as_ref()?.done.as_deref()));
    let query = if let [write] = writes {
        let SessionWrite { before, after, .. } = write;
        let own = &write.rows.keys.own;
        let query = query
            .bind(before.number)
            .bind(before.takes)
            .bind(Micros(before.seen))
            .bind(places(before.len));
        query
            .bind(Micros(after.seen))
            .bind(places(after.len))
            .bind(Micros(after.latest))
            .bind(changes(own))
            .bind(exact_changes(own))
    } else {
        let number = |write: &'_ &'_ SessionWrite| write.before.number;
        let sessions = writes
            .iter()
            .flat_map(|write| std::iter::repeat_n(number(write), rows(write)));
        let query = query
            .bind(column(writes, number))
            .bind(column(writes, |write| write.before.takes))
            .bind(column(writes, |write| Micros(write.before.seen)))
            .bind(column(writes, |write| places(write.before.len)));
        query
            .bind(column(writes, |write| Micros(write.after.seen)))
            .bind(column(writes, |write| places(write.after.len)))
            .bind(column(writes, |write| Micros(write.after.latest)))
            .bind(column(writes, |write| changes(&write.rows.keys.own)))
            .bind(column(writes, |write| exact_changes(&write.rows.keys.own)))
            .bind(sessions.collect::<Vec<_>>())
    };
    query.fetch_all(connection).await
}

async fn write_steps(
    connection: &mut PgConnection,
    steps: &[(&Head, &StepRow)],
) -> sqlx::Result<Vec<PgRow>> {
    let query = sqlx::query(WRITE_STEPS)
        .bind(column(steps, |(head, _)| head.number))
        .bind(column(steps, |(head, _)| head.takes))
        .bind(column(steps, |(_, step)| &*step.run))
        .bind(column(steps, |(_, step)| &*step.key))
        .bind(column(steps, |(_, step)| &*step.value));
    query.fetch_all(connection).await
}

/// Returns a column of rows, as an argument of a statement.
fn column<'r, R, T>(rows: &'r [R], of: impl Fn(&'r R) -> T) -> Vec<T> {
    rows.iter().map(of).collect()
}

/// Returns the changes of the state of a session.
fn changes(keys: &Keys) -> Option<Jsonb> {
    (!keys.is_empty()).then(|| object(&keys.shown))
}

/// Returns the changes of the exact texts of a session: an object in which null removes a key.
fn exact_changes(keys: &Keys) -> Option<Jsonb> {
    let removed = keys.plain.iter().map(|key| (key.clone(), Value::Null));
    let changes = removed.chain(keys.exact.clone()).collect();
    keys.is_exact().then(|| object(&changes))
}

/// Adds events to a session that is as the arguments say: the update time, the length of the log
/// and the counter `takes`. The statement locks the rows of the session like [`log::lock`]. It
/// writes nothing if another transaction has locked the session, so it waits for no other
/// transaction, and two such statements cannot block each other.
///
/// [`WRITE_MANY`] takes lists where this statement takes values, and does the same. For one session
/// it would take the server a tenth more time.
const WRITE_ONE: &str = "WITH head AS (
        SELECT n.number, n.app_name, n.user_id, n.id FROM adkw_sessions n
        JOIN sessions s ON s.app_name = n.app_name AND s.user_id = n.user_id AND s.id = n.id
        WHERE n.number = $11 AND n.takes = $12 AND n.seen = $13 AND n.len = $14
        AND s.update_time = $13 FOR NO KEY UPDATE OF s, n SKIP LOCKED),
    log AS (
        INSERT INTO adkw_log (session, place, event_id, time, exact, run, slot, temp, done)
        SELECT h.number, l.* FROM head h, unnest($1::bigint[], $2::text[], $3::timestamp[],
            $6::text[], $7::text[], $8::text[], $9::text[], $10::text[]) l),
    data AS (
        INSERT INTO events (id, app_name, user_id, session_id, invocation_id, timestamp, event_data)
        SELECT e.event_id, h.app_name, h.user_id, h.id, e.invocation, e.time, e.data
        FROM head h, unnest($2::text[], $3::timestamp[], $4::text[], $5::jsonb[])
            e (event_id, time, invocation, data)),
    own AS (
        UPDATE sessions s SET update_time = $15, state = coalesce(s.state || $18, s.state)
        FROM head h WHERE s.app_name = h.app_name AND s.user_id = h.user_id AND s.id = h.id)
    UPDATE adkw_sessions n SET len = $16, seen = $15, latest = $17,
        exact = coalesce(jsonb_strip_nulls(n.exact || $19), n.exact)
    FROM head h WHERE n.number = h.number RETURNING n.number";

/// Adds events to several sessions like [`WRITE_ONE`]. Sessions that are not as the arguments say
/// get no event.
const WRITE_MANY: &str = "WITH head AS (
        SELECT n.number, n.app_name, n.user_id, n.id, w.time, w.len, w.latest, w.own, w.exact
        FROM unnest($11::bigint[], $12::bigint[], $13::timestamp[], $14::bigint[],
            $15::timestamp[], $16::bigint[], $17::timestamp[], $18::jsonb[], $19::jsonb[])
            w (number, takes, was_seen, was_len, time, len, latest, own, exact)
        JOIN adkw_sessions n ON n.number = w.number AND n.takes = w.takes
            AND n.seen = w.was_seen AND n.len = w.was_len
        JOIN sessions s ON s.app_name = n.app_name AND s.user_id = n.user_id AND s.id = n.id
            AND s.update_time = w.was_seen
        FOR NO KEY UPDATE OF s, n SKIP LOCKED),
    event AS MATERIALIZED (
        SELECT h.number, h.app_name, h.user_id, h.id AS session_id, e.*
        FROM head h JOIN unnest($20::bigint[], $1::bigint[], $2::text[], $3::timestamp[],
            $4::text[], $5::jsonb[], $6::text[], $7::text[], $8::text[], $9::text[], $10::text[])
            e (session, place, event_id, time, invocation, data, exact, run, slot, temp, done)
            ON e.session = h.number),
    log AS (
        INSERT INTO adkw_log (session, place, event_id, time, run, slot, temp, exact, done)
        SELECT number, place, event_id, time, run, slot, temp, exact, done FROM event),
    data AS (
        INSERT INTO events (id, app_name, user_id, session_id, invocation_id, timestamp, event_data)
        SELECT event_id, app_name, user_id, session_id, invocation, time, data FROM event),
    own AS (
        UPDATE sessions s SET update_time = h.time, state = coalesce(s.state || h.own, s.state)
        FROM head h WHERE s.app_name = h.app_name AND s.user_id = h.user_id AND s.id = h.id)
    UPDATE adkw_sessions n SET len = h.len, seen = h.time, latest = h.latest,
        exact = coalesce(jsonb_strip_nulls(n.exact || h.exact), n.exact)
    FROM head h WHERE n.number = h.number RETURNING n.number";

/// Records steps that have no record yet, if no run of their session was claimed since the counter
/// `takes` was read. Locks like [`WRITE_ONE`].
const WRITE_STEPS: &str = "WITH head AS (
        SELECT n.number, w.run, w.key, w.value
        FROM unnest($1::bigint[], $2::bigint[], $3::text[], $4::text[], $5::text[])
            w (number, takes, run, key, value)
        JOIN adkw_sessions n ON n.number = w.number AND n.takes = w.takes
        JOIN sessions s ON s.app_name = n.app_name AND s.user_id = n.user_id AND s.id = n.id
        FOR NO KEY UPDATE OF s, n SKIP LOCKED),
    step AS (
        INSERT INTO adkw_steps (run, key, value)
        SELECT h.run, h.key, h.value FROM head h
        WHERE EXISTS (SELECT 1 FROM adkw_runs r WHERE r.id = h.run)
        ON CONFLICT DO NOTHING RETURNING run)
    SELECT h.number FROM head h WHERE h.run IN (SELECT run FROM step)";
