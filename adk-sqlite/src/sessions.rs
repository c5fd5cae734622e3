//! [`SessionStore`] of [`SqliteStore`].

use crate::append::{Row, append, session_rows, share};
use crate::error::{Doing, closed_error};
use crate::reader::{self, Reader, Shelf, listed_session, row, snapshot};
use crate::writer::{Db, Job};
use crate::{SqliteStore, time};
use adk_journal::session::{
    EventFilter, Location, OpenSessions, Session, SessionKey, SessionRow, SessionSnapshot,
    SessionStore, forget_temp, now_micros, split,
};
use adk_journal::{Event, StateDelta};
use adk_model::{BoxFuture, ErrorKind, Result, StoreErrorKind};
use adk_store::sessions::{Found, prefix_end};
use rusqlite::types::Value as SqlValue;
use rusqlite::{Connection, OptionalExtension, params};
use serde_json::{Map, Value};
use std::sync::Arc;
use tokio::sync::oneshot;

impl SessionStore for SqliteStore {
    fn location(&self) -> Location {
        self.database()
    }

    fn create(&self, key: SessionKey, state: StateDelta) -> BoxFuture<'_, Result<Arc<Session>>> {
        Box::pin(async move {
            key.check()?;
            state.check_depth()?;
            self.open_session(key, Some(state))
                .await?
                .ok_or_else(closed_error)
        })
    }

    fn get<'a>(&'a self, key: &'a SessionKey) -> BoxFuture<'a, Result<Option<Arc<Session>>>> {
        Box::pin(self.open_session(key.clone(), None))
    }

    fn read<'a>(
        &'a self,
        key: &'a SessionKey,
        filter: &'a EventFilter,
    ) -> BoxFuture<'a, Result<Option<SessionSnapshot>>> {
        Box::pin(async move {
            let read = |is_last| {
                let (key, filter) = (key.clone(), filter.clone());
                self.0
                    .reader
                    .read(move |connection| snapshot(connection, key, &filter, is_last))
            };
            let found = read(false).await?;
            if !matches!(found, Found::NeedsPlaces) {
                return Ok(found.session());
            }
            // Events of other programs get their places in the log now. If the file is locked or
            // full, they stay without.
            let wanted = key.clone();
            if let Err(error) = self
                .0
                .writer
                .write(move |db: &mut Db| session_rows(db, &wanted).map(drop))
                .await
                && !matches!(
                    error.kind(),
                    ErrorKind::Store(StoreErrorKind::Locked | StoreErrorKind::Full)
                )
            {
                return Err(error);
            }
            Ok(read(true).await?.session())
        })
    }

    fn append<'a>(
        &'a self,
        key: &'a SessionKey,
        mut events: Vec<Event>,
    ) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move {
            events.iter().try_for_each(Event::check_depth)?;
            forget_temp(&mut events);
            let target = key.clone();
            let write = move |db: &mut Db| {
                if session_rows(db, &target)?.is_none() {
                    return Err(target.missing());
                }
                events.iter().try_for_each(|event| {
                    let data = event.to_stored()?;
                    append(
                        db,
                        &target,
                        &Row {
                            event,
                            data: &data,
                            entry: None,
                        },
                    )
                    .map(drop)
                })
            };
            self.0.writer.write(write).await?;
            // If this process has the session open, the open session receives the events now.
            if self.0.live.is_open(key) {
                self.open_session(key.clone(), None).await.map(drop)
            } else {
                Ok(())
            }
        })
    }

    fn list<'a>(
        &'a self,
        app: &'a str,
        user: Option<&'a str>,
        prefix: &'a str,
    ) -> BoxFuture<'a, Result<Vec<SessionSnapshot>>> {
        let (app, user) = (app.to_owned(), user.map(str::to_owned));
        let prefix = prefix.to_owned();
        Box::pin(
            self.0
                .reader
                .read(move |connection| list(connection, &app, user.as_deref(), &prefix)),
        )
    }

    fn delete<'a>(&'a self, key: &'a SessionKey) -> BoxFuture<'a, Result<bool>> {
        Box::pin(async move {
            self.0.live.remove(key);
            let key = key.clone();
            let delete = move |db: &mut Db| {
                db.cache.clear();
                delete(&db.connection, &key)
            };
            self.0.writer.write(delete).await
        })
    }
}

/// Lists the sessions of an app or of a user whose ids begin with a prefix.
pub(crate) fn list(
    connection: &Connection,
    app: &str,
    user: Option<&str>,
    prefix: &str,
) -> Result<Vec<SessionSnapshot>> {
    let what = "list the sessions";
    // An empty blob sorts after every text.
    let end = prefix_end(prefix).map_or_else(|| SqlValue::Blob(Vec::new()), SqlValue::Text);
    let mut statement = connection
        .prepare_cached(list_sql(user.is_some()))
        .doing(what)?;
    let rows = statement.query_map(params![app, user, prefix, end], |row| {
        let (user, id): (String, String) = (row.get(0)?, row.get(1)?);
        Ok(SessionKey::new(app, user, id))
    });
    let mut all = Vec::new();
    for row in rows.doing(what)? {
        all.extend(listed_session(connection, row.doing(what)?)?);
    }
    Ok(all)
}

/// Returns the query for the sessions of an app or of a user. There are two queries, because one
/// condition for both would scan all sessions of the app.
pub(crate) fn list_sql(of_user: bool) -> &'static str {
    if of_user {
        "SELECT user_id, id FROM sessions WHERE app_name = ?1 AND user_id = ?2 AND id >= ?3 AND id < ?4
            ORDER BY update_time, user_id, id"
    } else {
        "SELECT user_id, id FROM sessions WHERE app_name = ?1 AND ?2 IS NULL AND id >= ?3 AND id < ?4
            ORDER BY update_time, user_id, id"
    }
}

impl SqliteStore {
    /// Opens a session. If `create` is given, creates the session first, with this state.
    async fn open_session(
        &self,
        key: SessionKey,
        create: Option<StateDelta>,
    ) -> Result<Option<Arc<Session>>> {
        let (reply, result) = oneshot::channel();
        let (reader, live) = (self.0.reader.clone(), self.0.live.clone());
        let job = Open {
            key,
            create,
            reader,
            live,
            found: None,
            reply,
        };
        self.0
            .writer
            .post(Box::new(job))
            .map_err(|_| closed_error())?;
        result.await.map_err(|_| closed_error())?
    }
}

struct Open {
    key: SessionKey,
    create: Option<StateDelta>,
    reader: Arc<Reader>,
    live: OpenSessions,
    found: Option<SessionRow>,
    reply: oneshot::Sender<Result<Option<Arc<Session>>>>,
}

impl Job for Open {
    fn run(&mut self, db: &mut Db) -> Result<()> {
        if let Some(state) = &self.create {
            create(db, &self.key, state)?;
        }
        self.found = match session_rows(db, &self.key)? {
            None => None,
            Some(known) => {
                let known = known.clone();
                Some(row(
                    &db.connection,
                    &self.key,
                    known.number,
                    known.len,
                    known.latest,
                    known.own,
                )?)
            }
        };
        Ok(())
    }

    /// The writer calls `done` of jobs in order, so the session is opened before the next event is
    /// delivered to it.
    fn done(mut self: Box<Self>, result: Result<()>, db: &mut Db) {
        let found = self.found.take();
        let opened = result.and_then(|()| found.map(|found| self.open(found, db)).transpose());
        let _ = self.reply.send(opened);
    }
}

impl Open {
    fn open(&self, row: SessionRow, db: &Db) -> Result<Arc<Session>> {
        if let Some(session) = self.live.find(&self.key, row.number) {
            catch_up(&session, db, row.number, row.len as u64)?;
        }
        let shelf = Shelf {
            reader: self.reader.clone(),
            key: self.key.clone(),
            number: row.number,
        };
        Ok(self.live.open(&self.key, row, Arc::new(shelf)))
    }
}

/// Appends to an open session the events that other writers have added to its log.
pub(crate) fn catch_up(session: &Session, db: &Db, number: i64, len: u64) -> Result<()> {
    let here = session.len() as u64;
    if here < len {
        let missing = reader::events(&db.connection, session.key(), number, here..len)?;
        missing
            .into_iter()
            .for_each(|event| session.append_stored(event));
    }
    Ok(())
}

/// Deletes a session and its rows in all tables, because foreign keys are off for this connection.
fn delete(connection: &Connection, key: &SessionKey) -> Result<bool> {
    let what = "delete a session";
    let number =
        "SELECT number FROM adkw_sessions WHERE app_name = ?1 AND user_id = ?2 AND id = ?3";
    let number = connection.query_row(number, [&key.app, &key.user, &key.id], |row| {
        row.get::<_, i64>(0)
    });
    if let Some(number) = number.optional().doing(what)? {
        for sql in [
            "DELETE FROM adkw_waits WHERE run IN (SELECT id FROM adkw_runs WHERE session = ?1)",
            "DELETE FROM adkw_steps WHERE run IN (SELECT id FROM adkw_runs WHERE session = ?1)",
            "DELETE FROM adkw_done WHERE run IN (SELECT id FROM adkw_runs WHERE session = ?1)",
            "DELETE FROM adkw_runs WHERE session = ?1",
            "DELETE FROM adkw_tail WHERE session = ?1",
            "DELETE FROM adkw_log WHERE session = ?1",
            "DELETE FROM adkw_sessions WHERE number = ?1",
        ] {
            connection.execute(sql, [number]).doing(what)?;
        }
    }
    let row = [&key.app, &key.user, &key.id];
    let artifacts = "DELETE FROM adkw_artifacts
        WHERE app_name = ?1 AND user_id = ?2 AND ifnull(session_id, '') = ?3
        AND session_id IS NOT NULL";
    connection.execute(artifacts, row).doing(what)?;
    let events = "DELETE FROM events WHERE app_name = ?1 AND user_id = ?2 AND session_id = ?3";
    connection.execute(events, row).doing(what)?;
    let session = "DELETE FROM sessions WHERE app_name = ?1 AND user_id = ?2 AND id = ?3";
    Ok(connection.execute(session, row).doing(what)? > 0)
}

fn create(db: &mut Db, key: &SessionKey, state: &StateDelta) -> Result<()> {
    let what = "make a session";
    let time = time::to_text(now_micros());
    let [own, user, app] = split(state);
    let own: Map<_, _> = own
        .into_iter()
        .map(|(key, value)| (key.to_owned(), Value::clone(value)))
        .collect();
    let connection = &db.connection;
    let made = connection
        .prepare_cached(
            "INSERT OR IGNORE INTO sessions (app_name, user_id, id, state, create_time, update_time)
             VALUES (?1, ?2, ?3, ?4, ?5, ?5)",
        )
        .and_then(|mut statement| {
            let own = Value::Object(own).to_string();
            statement.execute(params![key.app, key.user, key.id, own, time])
        });
    if made.doing(what)? == 0 {
        return Err(key.exists());
    }
    let rows = [
        ("INSERT OR IGNORE INTO app_states VALUES (?1, '{}', ?3)"),
        ("INSERT OR IGNORE INTO user_states VALUES (?1, ?2, '{}', ?3)"),
    ];
    for sql in rows {
        let made = connection.prepare_cached(sql);
        made.doing(what)?
            .execute(params![key.app, key.user, time])
            .doing(what)?;
    }
    share(connection, key, &user, &app, &time)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by a panic")]

    use super::*;

    #[test]
    fn sessions_of_a_user_are_found_by_an_index() {
        let connection = Connection::open_in_memory().unwrap();
        crate::schema::prepare(&connection).unwrap();
        for (of_user, found) in [
            (true, "(app_name=? AND user_id=? AND id>? AND id<?)"),
            (false, "(app_name=?)"),
        ] {
            let sql = format!("EXPLAIN QUERY PLAN {}", list_sql(of_user));
            let mut statement = connection.prepare(&sql).unwrap();
            let steps = statement
                .query_map(["app", "u", "", ""], |row| row.get::<_, String>(3))
                .unwrap();
            let steps: Vec<_> = steps.map(Result::unwrap).collect();
            assert!(
                steps[0].starts_with("SEARCH sessions") && steps[0].ends_with(found),
                "{steps:?}"
            );
        }
    }
}
