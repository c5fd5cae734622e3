//! [`Data`]: everything that the store keeps, and [`Change`]: what a transaction does to it.

use adk_journal::engine::{KeyBinding, RequestKey, Runs, StoredRun};
use adk_journal::memory::{InMemoryMemoryService, MemoryEntry, MemoryMark};
use adk_journal::session::{MemoryStore, Session, SessionKey, now_micros};
use adk_journal::{Event, StateDelta};
use adk_model::{Result, RunId};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::sync::Arc;

/// One change of the data.
#[derive(Serialize, Deserialize)]
pub(crate) enum Change {
    /// Creates a session with a state, at this time.
    Create(SessionKey, StateDelta, u64),
    /// Deletes a session with its runs.
    Delete(SessionKey),
    /// Appends an event, in its stored form.
    Event(SessionKey, String),
    /// Inserts or replaces a run with its journal, which is simple, and slow for long runs.
    Run(Box<StoredRun>),
    /// Deletes runs, and the request keys whose time is over.
    Prune(Vec<RunId>),
    /// Binds a request key until this time.
    Key(RequestKey, KeyBinding, u64),
    /// Adds memories of a session.
    Memory(SessionKey, Vec<MemoryEntry>, MemoryMark),
}

/// Everything that the store keeps. The sessions are those that the runs of this process share.
#[derive(Default)]
pub(crate) struct Data {
    pub(crate) sessions: Arc<MemoryStore>,
    pub(crate) runs: Runs,
    pub(crate) keys: HashMap<RequestKey, (KeyBinding, u64)>,
    pub(crate) memory: Arc<InMemoryMemoryService>,
}

impl Data {
    pub(crate) fn session(&self, key: &SessionKey) -> Result<Arc<Session>> {
        self.sessions.find(key).ok_or_else(|| key.missing())
    }

    /// Applies a change, which fits, because it was decided on the same data. The session
    /// `delivered` gets its event in another way.
    pub(crate) fn apply(&mut self, change: Change, delivered: Option<&Arc<Session>>) -> Result<()> {
        match change {
            Change::Create(key, state, time) => drop(self.sessions.insert(key, &state, time)?),
            Change::Delete(key) => {
                self.sessions.remove(&key);
                self.runs.remove_session(&key);
            }
            Change::Event(key, text) => {
                let session = self.session(&key)?;
                if delivered.is_none_or(|delivered| !Arc::ptr_eq(delivered, &session)) {
                    session.append_stored(Arc::new(Event::from_stored(&text)?));
                }
            }
            Change::Run(run) => self.runs.insert(*run),
            Change::Prune(runs) => {
                let now = now_micros();
                self.keys.retain(|_, (_, end)| *end > now);
                self.runs.remove(&runs);
            }
            Change::Key(key, binding, end) => {
                let now = now_micros();
                self.keys.retain(|_, (_, end)| *end > now);
                self.keys.insert(key, (binding, end));
            }
            Change::Memory(key, entries, until) => self.memory.add(&key, entries, until),
        }
        Ok(())
    }
}
