//! What is known of the rows of sessions without asking, as long as nobody else writes.

use crate::tail::Tail;
use adk_core::RunId;
use adk_core::session::SessionKey;
use serde_json::{Map, Value};
use std::collections::HashMap;

/// So many sessions are remembered.
const MOST: usize = 4096;

/// The rows of a session.
#[derive(Clone, Debug)]
pub(crate) struct Known {
    /// Where its row is in ADK's table.
    pub(crate) row: i64,
    /// Its number in our tables.
    pub(crate) number: i64,
    /// How many events its log has.
    pub(crate) len: u64,
    /// When it was last written.
    pub(crate) latest: u64,
    /// Its own state.
    pub(crate) own: Map<String, Value>,
}

/// The rows of sessions, as they are in the transaction that is open.
#[derive(Debug, Default)]
pub(crate) struct Cache {
    version: i64,
    pub(crate) sessions: HashMap<SessionKey, Known>,
    /// Runs that this process drives, with their numbers and those of their claims.
    pub(crate) runs: HashMap<RunId, (i64, u64)>,
    /// What of the log is still to be moved.
    pub(crate) tail: Tail,
    /// Whether one job has the transaction for itself.
    pub(crate) alone: bool,
}

impl Cache {
    pub(crate) fn clear(&mut self) {
        self.sessions.clear();
        self.runs.clear();
        self.tail.forget();
    }

    /// SQLite counts what other connections have written: when that changes, nothing here can be trusted.
    pub(crate) fn at_version(&mut self, version: i64) {
        if self.version != version || self.sessions.len() > MOST || self.runs.len() > MOST {
            self.clear();
            self.version = version;
        }
    }
}
