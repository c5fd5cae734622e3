//! [`Reader`]: reads on connections of their own, in tokio's pool for blocking work, without
//! waiting for the writer.

use crate::Options;
use crate::append::{app_state, state_of, user_state};
use crate::error::{Doing, closed_error, corrupt_error, with_file};
use crate::file::DatabaseFile;
use crate::tail::TABLES;
use crate::time;
use adk_journal::Event;
use adk_journal::session::{EventFilter, Pages, Scope, SessionKey, SessionRow, SessionSnapshot};
use adk_model::{BoxFuture, Result};
use adk_store::runs::Filled;
use adk_store::sessions::{Found, StoredState};
use rusqlite::types::ValueRef;
use rusqlite::{Connection, OpenFlags, Row, ToSql, params};
use serde_json::{Map, Value};
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::Semaphore;

/// Maximum number of concurrent reads, each with a connection of its own. A connection costs a few
/// files and up to 2 MB of pages, and more readers than processors gain nothing.
const MOST: usize = 8;

pub(crate) struct Reader {
    file: Arc<DatabaseFile>,
    options: Options,
    turns: Arc<Semaphore>,
    free: Mutex<Vec<Connection>>,
}

impl Reader {
    pub(crate) fn new(file: Arc<DatabaseFile>, options: Options) -> Self {
        Self {
            file,
            options,
            turns: Arc::new(Semaphore::new(MOST)),
            free: Mutex::default(),
        }
    }

    /// Executes reads in one transaction, which sees one state of the database and waits for no
    /// writer.
    pub(crate) async fn read<T: Send + 'static>(
        self: &Arc<Self>,
        work: impl FnOnce(&Connection) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let this = self.clone();
        // The read is a separate task, so that the permit is never held by a future that its caller
        // does not poll.
        let task = tokio::spawn(async move {
            let turn = this.turns.clone().acquire_owned().await;
            let turn = turn.map_err(|error| closed_error().with_source(error))?;
            // The blocking work holds the permit, because the caller may be dropped before the work
            // ends.
            let read = move || {
                let _turn = turn;
                let connection = this.connection()?;
                let moment = connection.unchecked_transaction().doing("begin to read")?;
                let result = work(&moment);
                drop(moment);
                this.free
                    .lock()
                    .unwrap_or_else(PoisonError::into_inner)
                    .push(connection);
                result
            };
            tokio::task::spawn_blocking(read)
                .await
                .map_err(|error| closed_error().with_source(error))?
        });
        let read = task
            .await
            .map_err(|error| closed_error().with_source(error))?;
        read.map_err(|error| with_file(self.file.path(), error))
    }

    fn connection(&self) -> Result<Connection> {
        self.file.check_with_log()?;
        if let Some(connection) = self
            .free
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .pop()
        {
            return Ok(connection);
        }
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(self.file.path(), flags);
        let connection = connection.doing("open the file to read")?;
        connection
            .busy_timeout(self.options.busy_timeout)
            .doing("open the file to read")?;
        #[cfg(test)]
        let connection = crate::tests::turns::count_steps(connection);
        // The connection has just opened the file that is at the path now, so check again that it
        // is the file of the store.
        self.file.check()?;
        Ok(connection)
    }
}

/// Reads the events at places of a session's log.
pub(crate) fn events(
    connection: &Connection,
    key: &SessionKey,
    number: i64,
    places: Range<u64>,
) -> Result<Vec<Arc<Event>>> {
    let mut rows = placed_events(
        connection,
        key,
        number,
        &EventRange {
            places,
            since: 0,
            most: -1,
        },
    )?;
    rows.reverse();
    Ok(rows.into_iter().map(|(_, event)| event).collect())
}

/// Selection of events: places in the log, earliest time, and maximum number (negative for all).
struct EventRange {
    places: Range<u64>,
    since: u64,
    most: i64,
}

/// Events with their places in the log, newest first, because most readers want the newest.
type Newest = Vec<(u64, Arc<Event>)>;

/// Reads events that have a place in the log.
fn placed_events(
    connection: &Connection,
    key: &SessionKey,
    number: i64,
    part: &EventRange,
) -> Result<Newest> {
    let Range { start, mut end } = part.places;
    let since = i64::try_from(part.since).unwrap_or(i64::MAX);
    let mut all = Newest::new();
    for table in TABLES {
        let sql = placed_sql(table);
        let most = remaining(part.most, all.len());
        if most == 0 {
            break;
        }
        let wanted = params![number, key.app, key.user, key.id, start, end, since, most];
        all.extend(select(connection, key, &sql, wanted)?);
        // Events of the places that are already read are excluded, because another program may move
        // rows between the two queries.
        end = all.last().map_or(end, |(place, _)| *place);
    }
    Ok(all)
}

fn placed_sql(table: &str) -> String {
    format!(
        "SELECT l.place, e.id, e.invocation_id, e.timestamp, e.event_data FROM {table} l
        CROSS JOIN events e ON e.id = l.event_id AND e.app_name = ?2 AND e.user_id = ?3
            AND e.session_id = ?4
        WHERE l.session = ?1 AND l.place >= ?5 AND l.place < ?6 AND l.micros >= ?7
        ORDER BY l.place DESC LIMIT ?8"
    )
}

/// Counts the events since a time, up to `most`. The count limits the search from the end of the
/// log.
fn count_since(connection: &Connection, key: &SessionKey, since: u64, most: i64) -> Result<i64> {
    let time = time::to_text(since);
    // In text order, a time sorts after its own prefix. The shortest form of `since` therefore
    // includes times with fewer digits.
    let time = time.trim_end_matches('0').trim_end_matches('.');
    let row = params![key.app, key.user, key.id, time, most];
    let count = connection.prepare_cached(COUNT_SINCE);
    let count = count.and_then(|mut count| count.query_row(row, |row| row.get(0)));
    count.doing("count the events of a session")
}

const COUNT_SINCE: &str = "SELECT count(*) FROM (SELECT 1 FROM events
    WHERE app_name = ?1 AND user_id = ?2 AND session_id = ?3 AND timestamp >= ?4 LIMIT ?5)";

/// Returns the first place of a log of `len` events, from `start` on, whose event has that time or
/// a later one. Time never runs backwards in a log, so the search halves the log.
fn place_since(
    connection: &Connection,
    number: i64,
    len: u64,
    start: u64,
    since: u64,
) -> Result<u64> {
    let what = "search the events of a session";
    if since == 0 {
        return Ok(start);
    }
    let mut time = connection.prepare_cached(TIME_AT).doing(what)?;
    let (mut low, mut high) = (start, len);
    while low < high {
        let middle = low + (high - low) / 2;
        let micros = time
            .query_row(params![number, middle], |row| row.get::<_, Option<u64>>(0))
            .doing(what)?;
        if micros.is_some_and(|micros| micros >= since) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    Ok(low)
}

const TIME_AT: &str = "SELECT coalesce((SELECT micros FROM adkw_tail
        WHERE session = ?1 AND place = ?2), (SELECT micros FROM adkw_log
        WHERE session = ?1 AND place = ?2))";

/// Returns how many events are still to be read after `found` events. A negative `most`, for all
/// events, stays negative.
fn remaining(most: i64, found: usize) -> i64 {
    (most - i64::try_from(found).unwrap_or(0)).max(most.min(0))
}

/// Reads events of other programs that have no place in the log yet. They are numbered as if they
/// followed the first `len` events.
fn unplaced_events(
    connection: &Connection,
    key: &SessionKey,
    number: i64,
    len: u64,
    part: &EventRange,
) -> Result<Newest> {
    let sql = "SELECT * FROM (SELECT ?9 - 1 + row_number() OVER (ORDER BY timestamp, id) AS place,
            id, invocation_id, timestamp, event_data
            FROM events WHERE app_name = ?2 AND user_id = ?3 AND session_id = ?4
            AND id NOT IN (SELECT event_id FROM adkw_log WHERE session = ?1
                UNION ALL SELECT event_id FROM adkw_tail WHERE session = ?1))
        WHERE place >= ?5 AND place < ?6 AND timestamp >= ?7 ORDER BY place DESC LIMIT ?8";
    let Range { start, end } = part.places;
    let since = time::to_text(part.since);
    select(
        connection,
        key,
        sql,
        params![
            number, key.app, key.user, key.id, start, end, since, part.most, len
        ],
    )
}

fn select(
    connection: &Connection,
    key: &SessionKey,
    sql: &str,
    wanted: &[&dyn ToSql],
) -> Result<Newest> {
    let what = "read the events of a session";
    let mut statement = connection.prepare_cached(sql).doing(what)?;
    let mut rows = statement.query(wanted).doing(what)?;
    let mut all = Vec::new();
    while let Some(row) = rows.next().doing(what)? {
        all.push(event_of(row, key)?);
    }
    Ok(all)
}

/// Parses an event and its place from a row of place, id, run, time and stored form.
fn event_of(row: &Row<'_>, key: &SessionKey) -> Result<(u64, Arc<Event>)> {
    let what = "read the events of a session";
    let text = |column| row.get::<_, String>(column).doing(what);
    let place = row.get(0).doing(what)?;
    let event = match row.get_ref(4).doing(what)? {
        ValueRef::Null => event_without_data(&text(1)?, &text(2)?, &text(3)?)?,
        data => {
            let id = text(1)?;
            let data = data
                .as_str()
                .map_err(|error| key.unreadable_event(&id, place, error))?;
            Event::from_stored(data)
                .map_err(|error| key.unreadable_event(&id, place, error.message()))?
        }
    };
    Ok((place, Arc::new(event)))
}

/// Reads the events of a run in log order: all of them, or those from a place of its session on.
pub(crate) fn run_events(
    connection: &Connection,
    key: &SessionKey,
    run: i64,
    after: Option<(i64, u64)>,
) -> Result<Vec<Filled>> {
    let what = "read the events of a run";
    let mut all = Vec::new();
    for table in TABLES {
        let mut statement = connection
            .prepare_cached(&filled_sql(table, after.is_some()))
            .doing(what)?;
        let mut rows = match after {
            None => statement.query(params![run, key.app, key.user, key.id]),
            Some((session, from)) => {
                statement.query(params![run, key.app, key.user, key.id, session, from])
            }
        }
        .doing(what)?;
        while let Some(row) = rows.next().doing(what)? {
            let (place, event) = event_of(row, key)?;
            let (slot, temp) = (row.get(5).doing(what)?, row.get(6).doing(what)?);
            all.push(Filled {
                place,
                event,
                slot,
                temp,
            });
        }
    }
    all.sort_by_key(|filled| filled.place);
    Ok(all)
}

fn filled_sql(table: &str, from_a_place: bool) -> String {
    let condition = if from_a_place {
        "+l.run = ?1 AND l.session = ?5 AND l.place >= ?6"
    } else {
        "l.run = ?1"
    };
    format!(
        "SELECT l.place, e.id, e.invocation_id, e.timestamp, e.event_data, l.slot, l.temp
        FROM {table} l
        CROSS JOIN events e ON e.id = l.event_id AND e.app_name = ?2 AND e.user_id = ?3
            AND e.session_id = ?4
        WHERE {condition}"
    )
}

/// Returns an event with only an id, a run and a time. ADK permits rows without event data.
fn event_without_data(id: &str, run: &str, text: &str) -> Result<Event> {
    let micros = time::from_text(text)
        .ok_or_else(|| corrupt_error(format!("event `{id}` has the time `{text}`")))?;
    Event::from_columns(id, run, micros)
}

/// The row of a session, with the length of its log.
struct Head {
    number: i64,
    /// Number of events that have a place in the log.
    len: u64,
    /// Number of events of other programs that have no place in the log yet.
    unplaced: u64,
    updated: u64,
    own: StoredState,
}

const HEAD: &str = "SELECT s.state, s.create_time, s.update_time, coalesce(n.number, -1),
        coalesce(t.place, l.place), coalesce(t.micros, l.micros) FROM sessions s
    LEFT JOIN adkw_sessions n ON n.app_name = s.app_name AND n.user_id = s.user_id AND n.id = s.id
    LEFT JOIN adkw_log l ON l.session = n.number
        AND l.place = (SELECT max(place) FROM adkw_log WHERE session = n.number)
    LEFT JOIN adkw_tail t ON t.session = n.number
        AND t.place = (SELECT max(place) FROM adkw_tail WHERE session = n.number)
    WHERE s.app_name = ?1 AND s.user_id = ?2 AND s.id = ?3";

fn head(connection: &Connection, key: &SessionKey) -> Result<Option<Head>> {
    let what = "read a session";
    let mut found = connection.prepare_cached(HEAD).doing(what)?;
    let mut found = found.query([&key.app, &key.user, &key.id]).doing(what)?;
    let Some(row) = found.next().doing(what)? else {
        return Ok(None);
    };
    let text = |column| row.get::<_, String>(column).doing(what);
    let own = state_of(row.get_ref(0).doing(what)?, key, Scope::Session);
    let (created, updated) = (time::from_text(&text(1)?), time::from_text(&text(2)?));
    let number = row.get(3).doing(what)?;
    let last = row.get::<_, Option<u64>>(4).doing(what)?;
    let micros = row.get::<_, Option<u64>>(5).doing(what)?;
    // Each program that appends an event also updates the time in the session's row.
    let len = last.map_or(0, |last| last + 1);
    let unplaced = if micros.or(created) == updated {
        0
    } else {
        count(connection, key)?.saturating_sub(len)
    };
    let updated = updated.unwrap_or_default();
    Ok(Some(Head {
        number,
        len,
        unplaced,
        updated,
        own,
    }))
}

/// Counts the events of a session, including those without a place in the log.
pub(crate) fn count(connection: &Connection, key: &SessionKey) -> Result<u64> {
    let sql =
        "SELECT count(*) FROM events WHERE app_name = ?1 AND user_id = ?2 AND session_id = ?3";
    let row = [&key.app, &key.user, &key.id];
    let count = connection
        .prepare_cached(sql)
        .and_then(|mut count| count.query_row(row, |row| row.get(0)));
    count.doing("count the events of a session")
}

/// Reads a session. Events without a place in the log come last. If there are such events, the
/// session is read only if `is_last` is set.
pub(crate) fn snapshot(
    connection: &Connection,
    key: SessionKey,
    filter: &EventFilter,
    is_last: bool,
) -> Result<Found> {
    let Some(Head {
        number,
        len,
        unplaced,
        updated,
        own,
    }) = head(connection, &key)?
    else {
        return Ok(Found::Nothing);
    };
    if unplaced > 0 && !is_last {
        return Ok(Found::NeedsPlaces);
    }
    let own = own.into_keys()?;
    let all = row(connection, &key, number, len, updated, own)?.into_state();
    let whole = usize::try_from(len + unplaced).unwrap_or(usize::MAX);
    let mut places = filter.places_of(whole);
    let (most, since) = (
        filter.most().and_then(|most| i64::try_from(most).ok()),
        filter.since_micros(),
    );
    let mut most = most.unwrap_or(-1);
    if let Some(first) = filter.most_from_first() {
        let start = place_since(connection, number, len, places.start as u64, since)?;
        let start = usize::try_from(start).unwrap_or(usize::MAX).min(places.end);
        places = start..start.saturating_add(first).min(places.end);
    } else if since > 0 {
        most = count_since(connection, &key, since, most)?;
    }
    let range = places.start as u64..places.end as u64;
    let mut part = EventRange {
        places: range,
        since,
        most,
    };
    let mut found = Vec::new();
    if unplaced > 0 && most != 0 {
        found = unplaced_events(connection, &key, number, len, &part)?;
        part.most = remaining(most, found.len());
    }
    if part.most != 0 {
        found.extend(placed_events(connection, &key, number, &part)?);
    }
    found.reverse();
    let first = found.first().map_or(places.end, |(place, _)| {
        usize::try_from(*place).unwrap_or(usize::MAX)
    });
    let events = found.into_iter().map(|(_, event)| event).collect();
    let session = SessionSnapshot::new(key, all, whole, updated);
    Ok(Found::Session(session.with_events(first, events)))
}

/// Reads a session for a list, with the readable parts of its state.
pub(crate) fn listed_session(
    connection: &Connection,
    key: SessionKey,
) -> Result<Option<SessionSnapshot>> {
    let Some(Head {
        len,
        unplaced,
        updated,
        own,
        ..
    }) = head(connection, &key)?
    else {
        return Ok(None);
    };
    let (user, app) = (user_state(connection, &key)?, app_state(connection, &key)?);
    let states = [own, user, app].map(StoredState::into_keys);
    let len = usize::try_from(len + unplaced).unwrap_or(usize::MAX);
    Ok(Some(SessionSnapshot::listed(key, states, len, updated)))
}

/// Reads the states that a session shares with its user and its app.
pub(crate) fn row(
    connection: &Connection,
    key: &SessionKey,
    number: i64,
    len: u64,
    updated: u64,
    own: Map<String, Value>,
) -> Result<SessionRow> {
    let user = user_state(connection, key)?.into_keys()?;
    let app = app_state(connection, key)?.into_keys()?;
    let len = usize::try_from(len).unwrap_or(usize::MAX);
    Ok(SessionRow {
        number,
        len,
        updated,
        own,
        user,
        app,
    })
}

/// The log of an open session.
pub(crate) struct Shelf {
    pub(crate) reader: Arc<Reader>,
    pub(crate) key: SessionKey,
    pub(crate) number: i64,
}

impl Pages for Shelf {
    fn load(&self, places: Range<usize>) -> BoxFuture<'_, Result<Vec<Arc<Event>>>> {
        let (key, number) = (self.key.clone(), self.number);
        let places = places.start as u64..places.end as u64;
        Box::pin(
            self.reader
                .read(move |connection| events(connection, &key, number, places)),
        )
    }
}

#[cfg(test)]
mod tests;
