//! [`Cache`]: rows of sessions and runs that stay valid until another connection writes.

use crate::tail::Tail;
use adk_journal::session::SessionKey;
use adk_model::RunId;
use serde_json::{Map, Value};
use std::collections::HashMap;

/// Maximum number of cached sessions and of cached runs.
const MOST: usize = 4096;

/// The rows of a session.
#[derive(Clone, Debug)]
pub(crate) struct CachedSession {
    /// Row id in ADK's `sessions` table.
    pub(crate) row: i64,
    /// Number in `adkw_sessions`.
    pub(crate) number: i64,
    /// Number of events in the log.
    pub(crate) len: u64,
    /// Time of the last write, in microseconds.
    pub(crate) latest: u64,
    /// State of the session without the keys of its user and its app.
    pub(crate) own: Map<String, Value>,
}

/// Rows as the open transaction sees them.
#[derive(Debug, Default)]
pub(crate) struct Cache {
    version: i64,
    pub(crate) sessions: HashMap<SessionKey, CachedSession>,
    /// Runs that this process drives. Each has its number in `adkw_runs`, and the epoch of its
    /// claim.
    pub(crate) runs: HashMap<RunId, (i64, u64)>,
    /// State of the log's tail.
    pub(crate) tail: Tail,
    /// Whether the open transaction contains only one job.
    pub(crate) alone: bool,
}

impl Cache {
    pub(crate) fn clear(&mut self) {
        self.sessions.clear();
        self.runs.clear();
        self.tail.forget();
    }

    /// Clears the cache when it is too large, or when SQLite's `data_version` shows a write of
    /// another connection.
    pub(crate) fn at_version(&mut self, version: i64) {
        if self.version != version || self.sessions.len() > MOST || self.runs.len() > MOST {
            self.clear();
            self.version = version;
        }
    }
}
