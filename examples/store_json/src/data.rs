//! [`Data`]: everything that the store keeps, and [`Change`]: what a transaction does to it.

use adk_journal::engine::{ClaimId, Done, RunRecord, RunStatus, Waiting, refuse};
use adk_journal::memory::{MemoryEntry, MemoryMark};
use adk_journal::session::{Scope, SessionKey, SessionRow, now_micros, split};
use adk_journal::{Event, StateDelta};
use adk_model::model::Usage;
use adk_model::{Result, RunId};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

/// One change of the data.
#[derive(Serialize, Deserialize)]
pub(crate) enum Change {
    /// Creates a session at this time; `None` deletes it with its runs.
    Session(SessionKey, Option<(StateDelta, u64)>),
    /// Appends an event, in its stored form.
    Event(SessionKey, String),
    /// Inserts or replaces a run.
    Run(Box<Run>),
    /// Binds a request key to a target and a digest until this time; `None` frees it.
    Key([String; 3], Option<([String; 2], u64)>),
    /// Adds memories of a session, and its mark: the number of events, and the last id.
    Memory(SessionKey, Vec<MemoryEntry>, (usize, String)),
}

#[derive(Default)]
pub(crate) struct SessionData {
    /// The number that distinguishes it from an earlier session of the same key.
    pub(crate) number: i64,
    pub(crate) updated: u64,
    own: Map<String, Value>,
    pub(crate) events: Vec<Arc<Event>>,
}

/// A run with its journal. Each change of a run writes all of it, which is simple, and slow for long
/// runs.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Run {
    pub(crate) record: RunRecord,
    pub(crate) status: RunStatus,
    pub(crate) updated: u64,
    pub(crate) usage: Option<Usage>,
    /// The number of the current claim: every write of a run must carry it.
    pub(crate) epoch: u64,
    /// The process that holds the claim; `@` for an engine above the store.
    pub(crate) owner: Option<String>,
    /// The places and `temp:` keys of its events, by slot.
    pub(crate) slots: BTreeMap<String, (usize, StateDelta)>,
    pub(crate) steps: HashMap<String, Value>,
    pub(crate) done: Vec<Done>,
    pub(crate) waits: Vec<WaitData>,
}

#[derive(Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct WaitData {
    pub(crate) waiting: Waiting,
    /// The answer, if there is one. JSON cannot tell `Some(null)` from `None`, but a list can.
    pub(crate) answer: Vec<Value>,
    /// Whether the run has been driven with the answer.
    pub(crate) is_seen: bool,
}

#[derive(Default)]
pub(crate) struct UserMemory {
    /// Entries with the ids of their sessions.
    pub(crate) entries: Vec<(String, MemoryEntry)>,
    pub(crate) marks: HashMap<String, MemoryMark>,
}

/// Everything that the store keeps.
#[derive(Default)]
pub(crate) struct Data {
    pub(crate) sessions: BTreeMap<SessionKey, SessionData>,
    /// The number of sessions that were ever created.
    numbers: i64,
    users: HashMap<(String, String), Map<String, Value>>,
    apps: HashMap<String, Map<String, Value>>,
    pub(crate) runs: BTreeMap<RunId, Run>,
    pub(crate) keys: BTreeMap<[String; 3], ([String; 2], u64)>,
    pub(crate) memories: HashMap<(String, String), UserMemory>,
}

impl Data {
    /// Applies a change, which fits, because it was decided on the same data. Returns an appended
    /// event.
    pub(crate) fn apply(&mut self, change: Change) -> Result<Option<(SessionKey, Arc<Event>)>> {
        match change {
            Change::Session(key, Some((state, updated))) => {
                self.numbers += 1;
                let (number, own, events) = (self.numbers, Map::new(), Vec::new());
                let session = SessionData {
                    number,
                    updated,
                    own,
                    events,
                };
                self.sessions.insert(key.clone(), session);
                self.write(&key, &state);
            }
            Change::Session(key, None) => {
                self.sessions.remove(&key);
                self.runs.retain(|_, run| run.record.session != key);
            }
            Change::Event(key, text) => {
                let event = Arc::new(Event::from_stored(&text)?);
                self.write(&key, &event.actions.state_delta);
                if let Some(session) = self.sessions.get_mut(&key) {
                    session.updated = session.updated.max(event.timestamp);
                    session.events.push(event.clone());
                }
                return Ok(Some((key, event)));
            }
            Change::Run(run) => drop(self.runs.insert(run.record.run_id, *run)),
            Change::Key(key, Some(bound)) => drop(self.keys.insert(key, bound)),
            Change::Key(key, None) => drop(self.keys.remove(&key)),
            Change::Memory(key, entries, (events, last)) => {
                let user = self.memories.entry((key.app, key.user)).or_default();
                let entries = entries.into_iter().map(|entry| (key.id.clone(), entry));
                user.entries.extend(entries);
                user.marks.insert(key.id, MemoryMark { events, last });
            }
        }
        Ok(None)
    }

    /// Writes keys to the state of the session, of its user and of its app.
    fn write(&mut self, key: &SessionKey, delta: &StateDelta) {
        let [own, user, app] = split(delta);
        let set = |state: &mut Map<String, Value>, part: Vec<(&str, &Arc<Value>)>| {
            let part = part.into_iter();
            state.extend(part.map(|(name, value)| (name.to_owned(), Value::clone(value))));
        };
        if let Some(session) = self.sessions.get_mut(key) {
            set(&mut session.own, own);
        }
        let owner = (key.app.clone(), key.user.clone());
        set(self.users.entry(owner).or_default(), user);
        set(self.apps.entry(key.app.clone()).or_default(), app);
    }

    /// Returns a session with its state, in the form in which it is opened.
    pub(crate) fn row(&self, key: &SessionKey) -> Option<SessionRow> {
        let session = self.sessions.get(key)?;
        let user = self.users.get(&(key.app.clone(), key.user.clone()));
        Some(SessionRow {
            number: session.number,
            len: session.events.len(),
            updated: session.updated,
            own: session.own.clone(),
            user: user.cloned().unwrap_or_default(),
            app: self.apps.get(&key.app).cloned().unwrap_or_default(),
        })
    }

    /// Returns the value of a key with its prefix.
    pub(crate) fn value(&self, key: &SessionKey, name: &str) -> Option<&Value> {
        let owner = || (key.app.clone(), key.user.clone());
        match Scope::of(name) {
            Scope::Session => self.sessions.get(key)?.own.get(name),
            Scope::User => self.users.get(&owner())?.get(name.strip_prefix("user:")?),
            Scope::App => self.apps.get(&key.app)?.get(name.strip_prefix("app:")?),
            Scope::Temp => None,
        }
    }

    pub(crate) fn run(&self, id: RunId) -> Result<&Run> {
        self.runs.get(&id).ok_or_else(|| refuse::unknown_run(id))
    }

    /// Returns the run of a claim. A process that has lost its run must not write any more, so the
    /// writes of a claim that is not the current one are refused.
    pub(crate) fn claimed(&self, claim: ClaimId) -> Result<&Run> {
        match self.run(claim.run_id)? {
            run if run.is_claimed(claim) => Ok(run),
            _ => Err(refuse::fenced(claim.run_id)),
        }
    }
}

impl Run {
    pub(crate) fn new(record: RunRecord, claim: ClaimId, owner: String) -> Self {
        let status = if record.is_queued {
            RunStatus::Queued
        } else {
            RunStatus::Running
        };
        Self {
            status,
            updated: record.time,
            record,
            epoch: claim.epoch,
            owner: Some(owner),
            usage: None,
            slots: BTreeMap::new(),
            steps: HashMap::new(),
            done: Vec::new(),
            waits: Vec::new(),
        }
    }

    pub(crate) fn is_claimed(&self, claim: ClaimId) -> bool {
        self.epoch == claim.epoch && self.owner.is_some()
    }

    /// Sets the status. A run that has ended has no open waits.
    pub(crate) fn set_status(&mut self, status: RunStatus) {
        if !status.is_open() {
            self.waits.retain(|wait| !wait.answer.is_empty());
        }
        (self.status, self.updated) = (status, now_micros());
    }

    pub(crate) fn open_waits(&self) -> impl Iterator<Item = &Waiting> {
        let open = self.waits.iter().filter(|wait| wait.answer.is_empty());
        open.map(|wait| &wait.waiting)
    }
}
