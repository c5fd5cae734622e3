//! Rows of sessions.

use crate::sql::{Connection, Query, all};
use adk_journal::session::{Scope, SessionKey, SessionSnapshot};
use adk_model::Result;
use serde_json::{Map, Value};
use std::fmt::Display;

/// The result of reading a session.
#[derive(Debug)]
pub enum Found {
    /// The session does not exist.
    Nothing,
    /// Some events of other programs have no place in the log. The store gives places to them, and
    /// reads again.
    NeedsPlaces,
    /// The session.
    Session(SessionSnapshot),
}

impl Found {
    /// Returns the session, if it was read.
    pub fn session(self) -> Option<SessionSnapshot> {
        match self {
            Self::Session(session) => Some(session),
            Self::Nothing | Self::NeedsPlaces => None,
        }
    }
}

/// Returns the first text that sorts after all texts with this prefix; `None` if there is no such
/// text. Texts sort by their characters.
pub fn prefix_end(prefix: &str) -> Option<String> {
    let mut end = prefix.to_owned();
    while let Some(last) = end.pop() {
        if let Some(next) = (last..=char::MAX).nth(1) {
            end.push(next);
            return Some(end);
        }
    }
    None
}

/// Lists the apps that have sessions, each by one search of the index.
///
/// # Errors
/// When the database fails.
pub async fn apps<C: Connection>(connection: &mut C) -> Result<Vec<String>> {
    let text = "WITH RECURSIVE apps (name) AS (
            SELECT CAST(min(app_name) AS TEXT) FROM sessions
            UNION ALL SELECT (SELECT CAST(min(s.app_name) AS TEXT) FROM sessions s
                WHERE s.app_name > a.name) FROM apps a WHERE a.name IS NOT NULL)
        SELECT name FROM apps WHERE name IS NOT NULL";
    let query = Query::new(C::DIALECT, text);
    all(connection, "list the apps", query, |row| row.text(0)).await
}

/// The state column of a session, a user or an app: its keys, or the error of a text that cannot be
/// read. A list shows a session without the states that cannot be read.
#[derive(Debug)]
pub struct StoredState(Result<Map<String, Value>>);

impl StoredState {
    /// Makes the state of a row. `keys` fails if the text cannot be read.
    pub fn new<E: Display>(
        key: &SessionKey,
        scope: Scope,
        keys: Result<Map<String, Value>, E>,
    ) -> Self {
        Self(keys.map_err(|error| key.unreadable_state(scope, error)))
    }

    /// Returns the keys with their values.
    ///
    /// # Errors
    /// When the text cannot be read.
    pub fn into_keys(self) -> Result<Map<String, Value>> {
        self.0
    }
}

/// The state of a missing row.
impl Default for StoredState {
    fn default() -> Self {
        Self(Ok(Map::new()))
    }
}

/// Returns the statements that create the tables of ADK's schema version 1, as google-adk 2.13
/// creates them (`sessions/schemas/v1.py`), with the types of JSON and of times.
pub fn adk_tables(json: &str, time: &str) -> String {
    ADK.replace("JSON", json)
        .replace("TIME ", &format!("{time} "))
}

const ADK: &str = "
CREATE TABLE IF NOT EXISTS adk_internal_metadata (
    key VARCHAR(128) NOT NULL, value VARCHAR(256) NOT NULL, PRIMARY KEY (key));
CREATE TABLE IF NOT EXISTS sessions (
    app_name VARCHAR(128) NOT NULL, user_id VARCHAR(128) NOT NULL, id VARCHAR(128) NOT NULL,
    state JSON NOT NULL, create_time TIME NOT NULL, update_time TIME NOT NULL,
    PRIMARY KEY (app_name, user_id, id));
CREATE TABLE IF NOT EXISTS app_states (
    app_name VARCHAR(128) NOT NULL, state JSON NOT NULL, update_time TIME NOT NULL,
    PRIMARY KEY (app_name));
CREATE TABLE IF NOT EXISTS user_states (
    app_name VARCHAR(128) NOT NULL, user_id VARCHAR(128) NOT NULL, state JSON NOT NULL,
    update_time TIME NOT NULL, PRIMARY KEY (app_name, user_id));
CREATE TABLE IF NOT EXISTS events (
    id VARCHAR(128) NOT NULL, app_name VARCHAR(128) NOT NULL, user_id VARCHAR(128) NOT NULL,
    session_id VARCHAR(128) NOT NULL, invocation_id VARCHAR(256) NOT NULL,
    timestamp TIME NOT NULL, event_data JSON, PRIMARY KEY (id, app_name, user_id, session_id),
    FOREIGN KEY(app_name, user_id, session_id)
        REFERENCES sessions (app_name, user_id, id) ON DELETE CASCADE);
CREATE INDEX IF NOT EXISTS idx_events_app_user_session_ts_id
    ON events (app_name, user_id, session_id, timestamp DESC, id DESC);
INSERT INTO adk_internal_metadata VALUES ('schema_version', '1') ON CONFLICT DO NOTHING;
";
