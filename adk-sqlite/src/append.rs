//! [`append`]: adds an event to the rows of a session. Places events of other programs first.

use crate::cache::{Cache, CachedSession};
use crate::error::{Doing, corrupt_error, sqlite_error};
use crate::reader;
use crate::tail::{Place, TABLES};
use crate::time;
use crate::writer::Db;
use adk_journal::Event;
use adk_journal::engine::to_text;
use adk_journal::session::{Scope, SessionKey, split};
use adk_model::Result;
use adk_store::sessions::StoredState;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, ErrorCode, OptionalExtension, params};
use serde_json::{Map, Value};
use std::collections::HashSet;

/// Maximum number of microseconds by which an event of another program is expected to be older than
/// events before it in the log.
const SKEW: u64 = 600_000_000;

/// The slot that an event fills in its run, and the data stored with the slot.
#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) slot: String,
    pub(crate) temp: Option<String>,
    /// Agents that have finished, as a JSON list.
    pub(crate) done: Option<String>,
}

/// An event to append.
pub(crate) struct Row<'a> {
    pub(crate) event: &'a Event,
    /// The stored form of the event.
    pub(crate) data: &'a str,
    /// The number of the event's run in the registry, and the slot of the event.
    pub(crate) entry: Option<(i64, &'a Entry)>,
}

/// Parses the state column of a session, a user or an app.
pub(crate) fn state_of(row: ValueRef<'_>, key: &SessionKey, scope: Scope) -> StoredState {
    match row.as_bytes() {
        Ok(text) => StoredState::new(key, scope, serde_json::from_slice(text)),
        Err(error) => StoredState::new(key, scope, Err(error)),
    }
}

/// Returns the cached rows of a session, or reads them. Returns `None` when the session does not
/// exist.
pub(crate) fn session_rows<'a>(
    db: &'a mut Db,
    key: &SessionKey,
) -> Result<Option<&'a mut CachedSession>> {
    if !db.cache.sessions.contains_key(key) {
        let Some(known) = read_session_rows(&db.connection, &mut db.cache, key)? else {
            return Ok(None);
        };
        db.cache.sessions.insert(key.clone(), known);
    }
    Ok(db.cache.sessions.get_mut(key))
}

fn read_session_rows(
    connection: &Connection,
    cache: &mut Cache,
    key: &SessionKey,
) -> Result<Option<CachedSession>> {
    let what = "look for a session";
    let mut statement = connection
        .prepare_cached(
            "SELECT state, create_time, update_time, rowid FROM sessions
             WHERE app_name = ?1 AND user_id = ?2 AND id = ?3",
        )
        .doing(what)?;
    let row = |row: &rusqlite::Row<'_>| {
        let text = |column| row.get::<_, String>(column);
        let own = state_of(row.get_ref(0)?, key, Scope::Session);
        Ok((own, text(1)?, text(2)?, row.get::<_, i64>(3)?))
    };
    let found = statement
        .query_row([&key.app, &key.user, &key.id], row)
        .optional()
        .doing(what)?;
    let Some((own, created, updated, row)) = found else {
        return Ok(None);
    };
    let own = own.into_keys()?;
    let (number, last) = session_number(connection, key)?;
    let micros = |text: &str| {
        time::from_text(text)
            .ok_or_else(|| corrupt_error(format!("session `{key}` has the time `{text}`")))
    };
    let (created, updated) = (micros(&created)?, micros(&updated)?);
    let mut known = CachedSession {
        row,
        number,
        len: last.map_or(0, |(place, _)| place + 1),
        latest: updated,
        own,
    };
    // Each program that appends an event also updates the time in the session's row.
    let last = last.map_or(created, |(_, micros)| micros);
    if last != updated {
        adopt(connection, cache, key, &mut known, last)?;
    }
    Ok(Some(known))
}

/// Returns the number of a session in the tables of this crate, and the place (its index in the
/// log) and time of its last log entry. Inserts the number if it does not exist.
fn session_number(connection: &Connection, key: &SessionKey) -> Result<(i64, Option<(u64, u64)>)> {
    let what = "look for a session";
    let find = "SELECT number FROM adkw_sessions WHERE app_name = ?1 AND user_id = ?2 AND id = ?3";
    let find = || {
        connection
            .prepare_cached(find)?
            .query_row([&key.app, &key.user, &key.id], |row| row.get(0))
    };
    let number = match find().optional().doing(what)? {
        Some(number) => number,
        None => {
            let make = "INSERT INTO adkw_sessions (app_name, user_id, id) VALUES (?1, ?2, ?3)";
            let made = connection
                .prepare_cached(make)
                .and_then(|mut s| s.insert([&key.app, &key.user, &key.id]));
            made.doing(what)?
        }
    };
    for table in TABLES {
        let last = format!(
            "SELECT place, micros FROM {table} WHERE session = ?1 ORDER BY place DESC LIMIT 1"
        );
        let last = connection.prepare_cached(&last).and_then(|mut statement| {
            statement
                .query_row([number], |row| Ok((row.get(0)?, row.get(1)?)))
                .optional()
        });
        if let Some(last) = last.doing(what)? {
            return Ok((number, Some(last)));
        }
    }
    Ok((number, None))
}

/// Gives places in the log to events that another program has appended. `last` is the time of the
/// last event in the log.
fn adopt(
    connection: &Connection,
    cache: &mut Cache,
    key: &SessionKey,
    known: &mut CachedSession,
    last: u64,
) -> Result<()> {
    let count = reader::count(connection, key)?;
    // Most such events are near the end of the log, so the first round searches only there. The
    // second round searches all of it.
    for since in [last.saturating_sub(SKEW), 0] {
        place_events(connection, cache, key, known, since)?;
        if known.len >= count {
            break;
        }
    }
    Ok(())
}

fn place_events(
    connection: &Connection,
    cache: &mut Cache,
    key: &SessionKey,
    known: &mut CachedSession,
    since: u64,
) -> Result<()> {
    let what = "read events of another program";
    let mut there = connection
        .prepare_cached(
            "SELECT event_id FROM adkw_log WHERE session = ?1 AND micros >= ?2
             UNION ALL SELECT event_id FROM adkw_tail WHERE session = ?1 AND micros >= ?2",
        )
        .doing(what)?;
    let there = there
        .query_map(params![known.number, since], |row| row.get::<_, String>(0))
        .doing(what)?;
    let there: HashSet<String> = there.collect::<rusqlite::Result<_>>().doing(what)?;
    let mut rows = connection
        .prepare_cached(
            "SELECT id, timestamp FROM events
             WHERE app_name = ?1 AND user_id = ?2 AND session_id = ?3
             AND timestamp >= ?4 ORDER BY timestamp, id",
        )
        .doing(what)?;
    let since = time::to_text(since);
    let rows = rows
        .query_map([&key.app, &key.user, &key.id, &since], |row| {
            Ok((row.get::<_, String>(0)?, row.get::<_, String>(1)?))
        })
        .doing(what)?;
    for row in rows {
        let (id, text) = row.doing(what)?;
        if there.contains(&id) {
            continue;
        }
        let Some(micros) = time::from_text(&text) else {
            return Err(corrupt_error(format!(
                "event `{id}` of session `{key}` has the time `{text}`"
            )));
        };
        let row = Place {
            session: known.number,
            place: known.len,
            event: &id,
            micros,
            run: None,
            slot: None,
            temp: None,
            done: None,
        };
        cache.tail.add(connection, &row, cache.alone).doing(what)?;
        known.len += 1;
    }
    Ok(())
}

/// Appends an event that has an id and a time, applies its state changes and returns its place.
/// Returns `None`, without a write, when the slot is already filled.
pub(crate) fn append(db: &mut Db, key: &SessionKey, new: &Row<'_>) -> Result<Option<u64>> {
    let what = "append an event";
    let Some(known) = session_rows(db, key)? else {
        return Err(key.missing());
    };
    let (number, place, session) = (known.number, known.len, known.row);
    let Row { event, data, entry } = *new;
    let delta = &event.actions.state_delta;
    let [own, user, app] = split(delta);
    for (name, value) in &own {
        known.own.insert((*name).to_owned(), Value::clone(value));
    }
    let state = (!own.is_empty()).then(|| to_text(&known.own)).transpose()?;
    (known.len, known.latest) = (place + 1, event.timestamp);
    let connection = &db.connection;
    let (id, time) = (event.id.to_string(), time::to_text(event.timestamp));

    let stored = entry.map(|(_, entry)| entry);
    let row = Place {
        session: number,
        place,
        event: &id,
        micros: event.timestamp,
        run: entry.map(|(run, _)| run),
        slot: stored.map(|entry| &*entry.slot),
        temp: stored.and_then(|entry| entry.temp.as_deref()),
        done: stored.and_then(|entry| entry.done.as_deref()),
    };
    if !db
        .cache
        .tail
        .add(connection, &row, db.cache.alone)
        .doing(what)?
    {
        db.cache.sessions.remove(key);
        return Ok(None);
    }
    let mut statement = connection
        .prepare_cached(
            "INSERT INTO events
                 (id, app_name, user_id, session_id, invocation_id, timestamp, event_data)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
        )
        .doing(what)?;
    let row = params![
        id,
        key.app,
        key.user,
        key.id,
        event.invocation_id.to_string(),
        time,
        data
    ];
    statement
        .execute(row)
        .map_err(|error| match error.sqlite_error_code() {
            Some(ErrorCode::ConstraintViolation) => key.twice(event),
            _ => sqlite_error(what, &error),
        })?;
    match state {
        Some(state) => {
            let sql = "UPDATE sessions SET update_time = ?2, state = ?3 WHERE rowid = ?1";
            connection
                .prepare_cached(sql)
                .doing(what)?
                .execute(params![session, time, state])
        }
        None => {
            let sql = "UPDATE sessions SET update_time = ?2 WHERE rowid = ?1";
            connection
                .prepare_cached(sql)
                .doing(what)?
                .execute(params![session, time])
        }
    }
    .doing(what)?;
    share(connection, key, &user, &app, &time)?;
    Ok(Some(place))
}

/// Returns the value of a key of an existing session, as the open transaction sees it.
pub(crate) fn value(db: &mut Db, key: &SessionKey, name: &str) -> Result<Option<Value>> {
    let in_scope = |prefix| name.strip_prefix(prefix).unwrap_or(name);
    Ok(match Scope::of(name) {
        Scope::User => user_state(&db.connection, key)?
            .into_keys()?
            .shift_remove(in_scope("user:")),
        Scope::App => app_state(&db.connection, key)?
            .into_keys()?
            .shift_remove(in_scope("app:")),
        Scope::Session | Scope::Temp => {
            session_rows(db, key)?.and_then(|known| known.own.get(name).cloned())
        }
    })
}

/// Keys without their prefix, with their values.
type Part<'a> = [(&'a str, &'a std::sync::Arc<Value>)];

/// Writes the changed keys of the user and of the app. ADK requires their rows before it appends;
/// `sessions::create` inserts the empty rows.
pub(crate) fn share(
    connection: &Connection,
    key: &SessionKey,
    user: &Part<'_>,
    app: &Part<'_>,
    time: &str,
) -> Result<()> {
    let what = "write the state of a user or an app";
    if !user.is_empty() {
        let old = user_state(connection, key)?.into_keys()?;
        let sql = "INSERT INTO user_states (app_name, user_id, state, update_time)
            VALUES (?1, ?2, ?3, ?4)
            ON CONFLICT DO UPDATE SET state = excluded.state, update_time = excluded.update_time";
        let mut statement = connection.prepare_cached(sql).doing(what)?;
        statement
            .execute(params![key.app, key.user, merge_state(old, user), time])
            .doing(what)?;
    }
    if !app.is_empty() {
        let old = app_state(connection, key)?.into_keys()?;
        let sql = "INSERT INTO app_states (app_name, state, update_time) VALUES (?1, ?2, ?3)
            ON CONFLICT DO UPDATE SET state = excluded.state, update_time = excluded.update_time";
        connection
            .prepare_cached(sql)
            .doing(what)?
            .execute(params![key.app, merge_state(old, app), time])
            .doing(what)?;
    }
    Ok(())
}

fn merge_state(mut old: Map<String, Value>, new: &Part<'_>) -> String {
    for (name, value) in new {
        old.insert((*name).to_owned(), Value::clone(value));
    }
    Value::Object(old).to_string()
}

/// Reads the state of the user. Its keys lack the prefix `user:`.
pub(crate) fn user_state(connection: &Connection, key: &SessionKey) -> Result<StoredState> {
    let what = "read the state of a user";
    let sql = "SELECT state FROM user_states WHERE app_name = ?1 AND user_id = ?2";
    let mut statement = connection.prepare_cached(sql).doing(what)?;
    let row = |row: &rusqlite::Row<'_>| Ok(state_of(row.get_ref(0)?, key, Scope::User));
    let found = statement.query_row([&key.app, &key.user], row).optional();
    Ok(found.doing(what)?.unwrap_or_default())
}

/// Reads the state of the app. Its keys lack the prefix `app:`.
pub(crate) fn app_state(connection: &Connection, key: &SessionKey) -> Result<StoredState> {
    let what = "read the state of an app";
    let sql = "SELECT state FROM app_states WHERE app_name = ?1";
    let mut statement = connection.prepare_cached(sql).doing(what)?;
    let row = |row: &rusqlite::Row<'_>| Ok(state_of(row.get_ref(0)?, key, Scope::App));
    let found = statement.query_row([&key.app], row).optional();
    Ok(found.doing(what)?.unwrap_or_default())
}
