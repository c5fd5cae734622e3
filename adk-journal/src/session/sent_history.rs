//! [`SentHistories`]: the parts of the log that agents were sent already. They are kept so that the
//! cost of the next request depends only on new events.

use crate::Content;
use crate::Name;
use crate::event::ConcurrentBlock;
use crate::model::Contents;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// The largest number of agents; an agent in two branches counts twice. Above it, all entries are
/// dropped, because they can be rebuilt from the log.
const MOST: usize = 64;

/// The sent histories of a session.
#[derive(Debug, Default)]
pub struct SentHistories {
    agents: Vec<(HistoryKey, SentHistory)>,
    /// Messages of other agents, rewritten as reports for an agent, by the places of their events
    /// in the log.
    pub reports: HashMap<usize, Arc<Content>>,
}

/// The agent whose requests contain a history.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HistoryKey {
    /// The agent's name.
    pub agent: Name,
    /// The branch, which decides the visible events.
    pub branch: Option<Arc<str>>,
    /// The number of the user's turns that it sees, 0 for only the current turn; `None` for all.
    pub turns: Option<u32>,
}

/// The history that an agent was sent.
#[derive(Debug, Default)]
pub struct SentHistory {
    /// The number of events of the log that were read.
    pub events: usize,
    /// The events as messages.
    pub contents: Contents,
    /// The ids of the calls in the messages.
    pub call_ids: HashSet<String>,
    /// Whether the messages include the explanation of how to read reports.
    pub is_explained: bool,
    /// The last concurrent block in the messages.
    pub block: Option<ConcurrentBlock>,
    /// The sources of text that strangers wrote and of private data among the events; `None`
    /// outside of workflows with guards.
    pub marks: Option<Box<[Option<Name>; 2]>>,
}

impl SentHistory {
    /// Clears the history, but keeps its allocation.
    pub fn clear(&mut self) {
        self.contents.clear();
        self.call_ids.clear();
        (self.events, self.is_explained, self.block) = (0, false, None);
        self.marks = None;
    }
}

impl SentHistories {
    /// Removes the history of an agent and returns it; it is empty for a new agent.
    pub fn take(&mut self, key: &HistoryKey) -> SentHistory {
        let found = self.agents.iter().rposition(|(other, _)| other == key);
        found
            .map(|at| self.agents.swap_remove(at).1)
            .unwrap_or_default()
    }

    /// Keeps a history for the next request. It replaces a history that a concurrent request has
    /// kept.
    pub fn keep(&mut self, key: HistoryKey, history: SentHistory) {
        if let Some((_, other)) = self.agents.iter_mut().find(|(other, _)| *other == key) {
            *other = history;
            return;
        }
        match self.agents.len() {
            MOST => *self = Self::default(),
            // Most sessions have one agent.
            0 => self.agents.reserve_exact(1),
            _ => {}
        }
        self.agents.push((key, history));
    }
}
