//! Reading beside the thread that writes: connections of their own, on the pool for work that blocks.

use crate::Options;
use crate::append::{app_state, object, user_state};
use crate::error::{Doing, closed, corrupt, of_file};
use crate::time;
use adk_core::session::{EventFilter, Pages, SessionKey, SessionRow, SessionSnapshot};
use adk_core::{BoxFuture, Event, Result};
use rusqlite::{Connection, OpenFlags, params};
use serde_json::{Map, Value};
use std::ops::Range;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

pub(crate) struct Reader {
    path: PathBuf,
    options: Options,
    free: Mutex<Vec<Connection>>,
}

impl Reader {
    pub(crate) fn new(path: PathBuf, options: Options) -> Self {
        Self { path, options, free: Mutex::default() }
    }

    pub(crate) async fn read<T: Send + 'static>(
        self: &Arc<Self>,
        work: impl FnOnce(&Connection) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let this = self.clone();
        let read = move || {
            let connection = this.connection()?;
            let result = work(&connection);
            this.free.lock().unwrap_or_else(PoisonError::into_inner).push(connection);
            result
        };
        let read = tokio::task::spawn_blocking(read).await.map_err(|error| closed().with_source(error))?;
        read.map_err(|error| of_file(&self.path, error))
    }

    fn connection(&self) -> Result<Connection> {
        if let Some(connection) = self.free.lock().unwrap_or_else(PoisonError::into_inner).pop() {
            return Ok(connection);
        }
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(&self.path, flags);
        let connection = connection.doing("open the file to read")?;
        connection.busy_timeout(self.options.busy_timeout).doing("open the file to read")?;
        Ok(connection)
    }
}

/// The events at places of the log of a session.
pub(crate) fn events(
    connection: &Connection,
    key: &SessionKey,
    number: i64,
    places: Range<u64>,
) -> Result<Vec<Arc<Event>>> {
    let filter = EventFilter::new();
    let rows = select(connection, key, number, places, &filter)?;
    Ok(rows.into_iter().map(|(_, event)| event).collect())
}

/// Those of them that a filter wants, with their places.
fn select(
    connection: &Connection,
    key: &SessionKey,
    number: i64,
    places: Range<u64>,
    filter: &EventFilter,
) -> Result<Vec<(u64, Arc<Event>)>> {
    let what = "read the events of a session";
    // From the end: the newest are what is wanted as a rule.
    let sql = "SELECT l.place, e.id, e.invocation_id, e.timestamp, e.event_data FROM adkw_log l
        CROSS JOIN events e ON e.id = l.event_id AND e.app_name = ?2 AND e.user_id = ?3 AND e.session_id = ?4
        WHERE l.session = ?1 AND l.place >= ?5 AND l.place < ?6 AND l.micros >= ?7 ORDER BY l.place DESC LIMIT ?8";
    let most = filter.most().and_then(|most| i64::try_from(most).ok()).unwrap_or(-1);
    let since = i64::try_from(filter.since_micros()).unwrap_or(i64::MAX);
    let mut statement = connection.prepare_cached(sql).doing(what)?;
    let wanted = params![number, key.app, key.user, key.id, places.start, places.end, since, most];
    let mut rows = statement.query(wanted).doing(what)?;
    let mut all = Vec::new();
    while let Some(row) = rows.next().doing(what)? {
        let of = |column| row.get::<_, String>(column).doing(what);
        let data = row.get::<_, Option<String>>(4).doing(what)?;
        let event = match data {
            Some(data) => Event::from_stored(&data)?,
            None => bare(&of(1)?, &of(2)?, &of(3)?)?,
        };
        all.push((row.get(0).doing(what)?, Arc::new(event)));
    }
    all.reverse();
    Ok(all)
}

/// ADK allows a row without the event.
fn bare(id: &str, run: &str, text: &str) -> Result<Event> {
    let micros =
        time::from_text(text).ok_or_else(|| corrupt(format!("the event {id} has the time `{text}`")))?;
    Event::from_columns(id, run, micros)
}

/// A session as it is.
pub(crate) fn snapshot(
    connection: &Connection,
    key: SessionKey,
    number: i64,
    len: u64,
    filter: &EventFilter,
) -> Result<Option<SessionSnapshot>> {
    let what = "read a session";
    let found = connection.prepare_cached(
        "SELECT state, update_time FROM sessions WHERE app_name = ?1 AND user_id = ?2 AND id = ?3",
    );
    let mut found = found.doing(what)?;
    let mut found = found.query([&key.app, &key.user, &key.id]).doing(what)?;
    let Some(found) = found.next().doing(what)? else { return Ok(None) };
    let state = object(&found.get::<_, String>(0).doing(what)?, &format!("the state of session `{key}`"))?;
    let updated = found.get::<_, String>(1).doing(what)?;
    let updated = time::from_text(&updated).unwrap_or_default();
    let all = row(connection, &key, number, len, updated, state)?.into_state();
    let whole = usize::try_from(len).unwrap_or(usize::MAX);
    let places = filter.places_of(whole);
    let found = match filter.most() {
        Some(0) => Vec::new(),
        _ => select(connection, &key, number, places.start as u64..places.end as u64, filter)?,
    };
    let first = found.first().map_or(places.end, |(place, _)| usize::try_from(*place).unwrap_or(usize::MAX));
    let events = found.into_iter().map(|(_, event)| event).collect();
    Ok(Some(SessionSnapshot::new(key, all, whole, updated).with_events(first, events)))
}

/// The rows of a session, with those that it shares.
pub(crate) fn row(
    connection: &Connection,
    key: &SessionKey,
    number: i64,
    len: u64,
    updated: u64,
    own: Map<String, Value>,
) -> Result<SessionRow> {
    let user = user_state(connection, key)?.unwrap_or_default();
    let app = app_state(connection, key)?.unwrap_or_default();
    let len = usize::try_from(len).unwrap_or(usize::MAX);
    Ok(SessionRow { number, len, updated, own, user, app })
}

/// The log of a session that is open.
pub(crate) struct Shelf {
    pub(crate) reader: Arc<Reader>,
    pub(crate) key: SessionKey,
    pub(crate) number: i64,
}

impl Pages for Shelf {
    fn load(&self, places: Range<usize>) -> BoxFuture<'_, Result<Vec<Arc<Event>>>> {
        let (key, number) = (self.key.clone(), self.number);
        let places = places.start as u64..places.end as u64;
        Box::pin(self.reader.read(move |connection| events(connection, &key, number, places)))
    }
}
