//! Reads of sessions with their shared state, and of events by their places.

use crate::Shared;
use crate::connection::PgConnection;
use crate::error::{Doing, closed_error};
use crate::exact;
use crate::log::places;
use crate::types::{Jsonb, Micros};
use adk_journal::Event;
use adk_journal::session::{EventFilter, Pages, Scope, SessionKey, SessionRow, SessionSnapshot};
use adk_model::{BoxFuture, Result};
use adk_store::runs::Filled;
use adk_store::sessions::{Found, StoredState};
use sqlx::Row as _;
use sqlx::postgres::PgRow;
use std::ops::Range;
use std::sync::{Arc, Weak};

/// Query for sessions with all parts of their state.
macro_rules! rows {
    ($which:literal) => {
        concat!(
            "SELECT s.user_id, s.id, n.number, n.len, s.update_time, s.state, n.exact, u.state,
                ux.exact, a.state, ax.exact, n.seen IS NOT DISTINCT FROM s.update_time
            FROM sessions s
            LEFT JOIN adkw_sessions n ON n.app_name = s.app_name AND n.user_id = s.user_id
                AND n.id = s.id
            LEFT JOIN user_states u ON u.app_name = s.app_name AND u.user_id = s.user_id
            LEFT JOIN app_states a ON a.app_name = s.app_name
            LEFT JOIN adkw_shared ux ON ux.app_name = s.app_name AND ux.scope = 'user'
                AND ux.user_id = s.user_id
            LEFT JOIN adkw_shared ax ON ax.app_name = s.app_name AND ax.scope = 'app'
                AND ax.user_id = ''
            WHERE s.app_name = $1 AND ",
            $which
        )
    };
}

/// Reads the rows of a session, as the transaction sees them. Returns `None` if the session does
/// not exist.
pub(crate) async fn row(
    connection: &mut PgConnection,
    key: &SessionKey,
) -> Result<Option<SessionRow>> {
    Ok(row_with_places(connection, key).await?.map(|(row, _)| row))
}

/// Reads the rows of a session, and whether all of its events have places in the log.
pub(crate) async fn row_with_places(
    connection: &mut PgConnection,
    key: &SessionKey,
) -> Result<Option<(SessionRow, bool)>> {
    let what = "read a session";
    let query = sqlx::query(rows!("s.user_id = $2 AND s.id = $3"))
        .bind(&key.app)
        .bind(&key.user)
        .bind(&key.id);
    let found = query.fetch_optional(connection).await.doing(what)?;
    let Some(row) = found else { return Ok(None) };
    let [own, user, app] = states(&row, key)?;
    Ok(Some((
        SessionRow {
            own: own.into_keys()?,
            user: user.into_keys()?,
            app: app.into_keys()?,
            ..head(&row)?
        },
        row.try_get(11).doing(what)?,
    )))
}

/// Reads the row of a session without its state.
fn head(row: &PgRow) -> Result<SessionRow> {
    let what = "read a session";
    let len = row.try_get::<Option<i64>, _>(3).doing(what)?.unwrap_or(0);
    Ok(SessionRow {
        number: row.try_get::<Option<i64>, _>(2).doing(what)?.unwrap_or(-1),
        len: usize::try_from(len).unwrap_or(0),
        updated: row.try_get::<Micros, _>(4).doing(what)?.0,
        ..SessionRow::default()
    })
}

/// Reads the states of the session, its user and its app.
fn states(row: &PgRow, key: &SessionKey) -> Result<[StoredState; 3]> {
    let what = "read a session";
    let state = |at: usize, scope: Scope| -> Result<StoredState> {
        let shown: Option<Jsonb> = row.try_get(at).doing(what)?;
        let exact: Option<Jsonb> = row.try_get(at + 1).doing(what)?;
        let Some(shown) = shown else {
            return Ok(StoredState::default());
        };
        let state = exact::state(&shown.0, exact.as_ref().map(|exact| &*exact.0));
        Ok(StoredState::new(key, scope, state))
    };
    Ok([
        state(5, Scope::Session)?,
        state(7, Scope::User)?,
        state(9, Scope::App)?,
    ])
}

/// Lists the sessions of an app or of a user, in the order of their last change.
pub(crate) async fn list(
    connection: &mut PgConnection,
    app: &str,
    user: Option<&str>,
    prefix: &str,
) -> Result<Vec<SessionSnapshot>> {
    let what = "list the sessions";
    // There are two conditions, because one for both cases might scan all sessions of the app.
    let sql = match user {
        Some(_) => {
            rows!(
                r#"s.user_id = $2 AND starts_with(s.id, $3)
                ORDER BY s.update_time, s.user_id COLLATE "C", s.id COLLATE "C""#
            )
        }
        None => {
            rows!(
                r#"$2::text IS NULL AND starts_with(s.id, $3)
                ORDER BY s.update_time, s.user_id COLLATE "C",
                s.id COLLATE "C""#
            )
        }
    };
    let found = sqlx::query(sql)
        .bind(app)
        .bind(user)
        .bind(prefix)
        .fetch_all(connection)
        .await
        .doing(what)?;
    let read = |row: &PgRow| {
        let (user, id): (String, String) =
            (row.try_get(0).doing(what)?, row.try_get(1).doing(what)?);
        let key = SessionKey::new(app, user, id);
        let (states, head) = (states(row, &key)?, head(row)?);
        let states = states.map(StoredState::into_keys);
        Ok(SessionSnapshot::listed(key, states, head.len, head.updated))
    };
    found.iter().map(read).collect()
}

/// Reads a session with the events that a filter selects.
pub(crate) async fn snapshot(
    connection: &mut PgConnection,
    key: &SessionKey,
    filter: &EventFilter,
) -> Result<Found> {
    let Some((row, is_seen)) = row_with_places(connection, key).await? else {
        return Ok(Found::Nothing);
    };
    if !is_seen {
        return Ok(Found::NeedsPlaces);
    }
    let (number, len, updated) = (row.number, row.len, row.updated);
    let mut places = filter.places_of(len);
    if let Some(first) = filter.most_from_first() {
        let start = place_since(connection, number, places.clone(), filter.since_micros()).await?;
        places = start..start.saturating_add(first).min(places.end);
    }
    let wanted = places.start as u64..places.end as u64;
    let found = match count_since(connection, key, filter).await? {
        Some(0) => Vec::new(),
        most => select(connection, key, number, wanted, filter.since_micros(), most).await?,
    };
    let first = found.first().map_or(places.end, |(place, _)| {
        usize::try_from(*place).unwrap_or(usize::MAX)
    });
    let events = found.into_iter().map(|(_, event)| event).collect();
    let snapshot = SessionSnapshot::new(key.clone(), row.into_state(), len, updated);
    Ok(Found::Session(snapshot.with_events(first, events)))
}

/// Reads the events at places of a session's log.
pub(crate) async fn events(
    connection: &mut PgConnection,
    key: &SessionKey,
    number: i64,
    places: Range<u64>,
) -> Result<Vec<Arc<Event>>> {
    let rows = select(connection, key, number, places, 0, None).await?;
    Ok(rows.into_iter().map(|(_, event)| event).collect())
}

/// Returns the largest number of events that a filter can select: the number of events since its
/// time. The search from the end of the log stops after that number.
async fn count_since(
    connection: &mut PgConnection,
    key: &SessionKey,
    filter: &EventFilter,
) -> Result<Option<i64>> {
    let most = filter.most().and_then(|most| i64::try_from(most).ok());
    // The oldest events are selected by their places.
    if filter.since_micros() == 0 || most == Some(0) || filter.most_from_first().is_some() {
        return Ok(most);
    }
    let sql = "SELECT count(*) FROM (SELECT 1 FROM events
        WHERE app_name = $1 AND user_id = $2 AND session_id = $3 AND timestamp >= $4 LIMIT $5) e";
    let query = sqlx::query_scalar(sql)
        .bind(&key.app)
        .bind(&key.user)
        .bind(&key.id);
    let query = query.bind(time(filter.since_micros())).bind(most);
    query
        .fetch_one(connection)
        .await
        .doing("count the events of a session")
        .map(Some)
}

/// Returns the first of these places of a log whose event has that time or a later one. Time never
/// runs backwards in a log, so the query halves the log.
async fn place_since(
    connection: &mut PgConnection,
    number: i64,
    within: Range<usize>,
    since: u64,
) -> Result<usize> {
    if since == 0 {
        return Ok(within.start);
    }
    let sql = "WITH RECURSIVE halves (low, high) AS (SELECT $2::bigint, $3::bigint
            UNION ALL SELECT CASE WHEN m.is_before THEN m.place + 1 ELSE h.low END,
                CASE WHEN m.is_before THEN h.high ELSE m.place END
            FROM halves h CROSS JOIN LATERAL (
                SELECT l.place, l.time < $4 AS is_before FROM adkw_log l
                WHERE l.session = $1 AND l.place = h.low + (h.high - h.low) / 2) m
            WHERE h.low < h.high)
        SELECT max(low) FROM halves";
    let query = sqlx::query_scalar(sql)
        .bind(number)
        .bind(places(within.start as u64))
        .bind(places(within.end as u64))
        .bind(time(since));
    let found: i64 = query
        .fetch_one(connection)
        .await
        .doing("search the events of a session")?;
    Ok(usize::try_from(found)
        .unwrap_or(within.end)
        .clamp(within.start, within.end))
}

/// Clamps a time to the range of Postgres.
fn time(micros: u64) -> Micros {
    Micros(micros.min(u64::try_from(i64::MAX).unwrap_or(0)))
}

/// Reads the newest `most` events since a time, with their places, in log order.
async fn select(
    connection: &mut PgConnection,
    key: &SessionKey,
    number: i64,
    wanted: Range<u64>,
    since: u64,
    most: Option<i64>,
) -> Result<Vec<(u64, Arc<Event>)>> {
    let what = "read the events of a session";
    // The query starts at the end, because most readers want the newest events. `OFFSET 0` forces a
    // lookup of each event by its id: before the first `ANALYZE` the planner considers ADK's index
    // equally good, and would scan the whole session for each event.
    let sql = "SELECT l.place, e.id, e.invocation_id, e.timestamp, e.event_data, l.exact
        FROM adkw_log l
        CROSS JOIN LATERAL (SELECT * FROM events WHERE id = l.event_id OFFSET 0) e
        WHERE e.app_name = $2 AND e.user_id = $3 AND e.session_id = $4
        AND l.session = $1 AND l.place >= $5 AND l.place < $6 AND l.time >= $7
        ORDER BY l.place DESC LIMIT $8";
    let query = sqlx::query(sql)
        .bind(number)
        .bind(&key.app)
        .bind(&key.user)
        .bind(&key.id);
    let query = query
        .bind(places(wanted.start))
        .bind(places(wanted.end))
        .bind(time(since))
        .bind(most);
    let rows = query.fetch_all(connection).await.doing(what)?;
    rows.iter().rev().map(|row| event_of(row, key)).collect()
}

/// Parses an event and its place from a row of place, id, run, time, stored form and exact text.
fn event_of(row: &PgRow, key: &SessionKey) -> Result<(u64, Arc<Event>)> {
    let what = "read the events of a session";
    let place = u64::try_from(row.try_get::<i64, _>(0).doing(what)?).unwrap_or(0);
    let id = row.try_get::<String, _>(1).doing(what)?;
    let (data, exact) = (
        row.try_get::<Option<Jsonb>, _>(4),
        row.try_get::<Option<String>, _>(5),
    );
    let event = match data.doing(what)? {
        Some(data) => exact::event(&data.0, exact.doing(what)?.as_deref())
            .map_err(|error| key.unreadable_event(&id, place, error.message()))?,
        // ADK permits rows without event data.
        None => Event::from_columns(
            &id,
            &row.try_get::<String, _>(2).doing(what)?,
            row.try_get::<Micros, _>(3).doing(what)?.0,
        )?,
    };
    Ok((place, Arc::new(event)))
}

/// Query for events of a run with their slots.
macro_rules! filled {
    ($which:literal) => {
        concat!(
            "SELECT l.place, e.id, e.invocation_id, e.timestamp, e.event_data, l.exact, l.slot,
                l.temp FROM adkw_log l
            CROSS JOIN LATERAL (SELECT * FROM events WHERE id = l.event_id OFFSET 0) e
            WHERE e.app_name = $2 AND e.user_id = $3 AND e.session_id = $4 AND ",
            $which,
            " ORDER BY l.place"
        )
    };
}

/// Reads the events of a run in log order: all of them, or those from a place in the session's log
/// on.
pub(crate) async fn run_events(
    connection: &mut PgConnection,
    key: &SessionKey,
    run: &str,
    after: Option<(i64, u64)>,
) -> Result<Vec<Filled>> {
    let what = "read the events of a run";
    let query = match after {
        None => sqlx::query(filled!("l.run = $1")).bind(run),
        // The concatenation with an empty text keeps the planner from using the index of `run`, by
        // which it would scan all events of the run.
        Some(_) => sqlx::query(filled!(
            "l.run || '' = $1 AND l.session = $5 AND l.place >= $6"
        ))
        .bind(run),
    };
    let mut query = query.bind(&key.app).bind(&key.user).bind(&key.id);
    if let Some((session, from)) = after {
        query = query.bind(session).bind(places(from));
    }
    let rows = query.fetch_all(connection).await.doing(what)?;
    let read = |row: &PgRow| {
        let (place, event) = event_of(row, key)?;
        let (slot, temp) = (row.try_get(6).doing(what)?, row.try_get(7).doing(what)?);
        Ok(Filled {
            place,
            event,
            slot,
            temp,
        })
    };
    rows.iter().map(read).collect()
}

/// The log of an open session.
pub(crate) struct Shelf {
    pub(crate) shared: Weak<Shared>,
    pub(crate) key: SessionKey,
    pub(crate) number: i64,
}

impl Pages for Shelf {
    fn load(&self, places: Range<usize>) -> BoxFuture<'_, Result<Vec<Arc<Event>>>> {
        let places = places.start as u64..places.end as u64;
        Box::pin(async move {
            let shared = self.shared.upgrade().ok_or_else(closed_error)?;
            let wanted = (self.key.clone(), self.number, places);
            let read = shared.call_with(wanted, |connection, (key, number, places)| {
                Box::pin(events(connection, key, *number, places.clone()))
            });
            read.await
        })
    }
}
