//! What agents were told of the log, kept so that their next request costs what is new.

use crate::Name;
use crate::content::Content;
use crate::models::model::Contents;
use crate::store::event::ConcurrentBlock;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// As many agents are remembered, those of different branches apart. Then all are forgotten: what is here is made again from the
/// log.
const MOST: usize = 64;

/// All that is remembered of a session.
#[derive(Debug, Default)]
pub(crate) struct Told {
    agents: Vec<(Listener, Heard)>,
    /// The reports of what agents said to others, by the places of their events.
    pub(crate) reports: HashMap<usize, Arc<Content>>,
}

/// Whose requests they are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Listener {
    /// The agent's name.
    pub(crate) agent: Name,
    /// Its branch, which decides what it sees.
    pub(crate) branch: Option<Arc<str>>,
    /// How many turns of the user it sees, 0 for the current turn alone; `None` for all.
    pub(crate) turns: Option<u32>,
}

/// What it was told.
#[derive(Debug, Default)]
pub(crate) struct Heard {
    /// How many events of the log were looked at.
    pub(crate) events: usize,
    /// They as messages.
    pub(crate) contents: Contents,
    /// The ids of the calls in them.
    pub(crate) call_ids: HashSet<String>,
    /// Whether the agent was told how to read reports.
    pub(crate) is_explained: bool,
    /// The last block of which it was told something.
    pub(crate) block: Option<ConcurrentBlock>,
}

impl Heard {
    /// Forgets all, but not the room for it.
    pub(crate) fn clear(&mut self) {
        self.contents.clear();
        self.call_ids.clear();
        (self.events, self.is_explained, self.block) = (0, false, None);
    }
}

impl Told {
    /// Takes out what an agent was told; nothing when it has not asked before.
    pub(crate) fn take(&mut self, listener: &Listener) -> Heard {
        let found = self.agents.iter().rposition(|(other, _)| other == listener);
        found.map(|at| self.agents.swap_remove(at).1).unwrap_or_default()
    }

    /// Keeps it for the next time. Of two that were made at once the later stays.
    pub(crate) fn keep(&mut self, listener: Listener, heard: Heard) {
        if let Some((_, other)) = self.agents.iter_mut().find(|(other, _)| *other == listener) {
            *other = heard;
            return;
        }
        match self.agents.len() {
            MOST => *self = Self::default(),
            // Most sessions have one agent.
            0 => self.agents.reserve_exact(1),
            _ => {}
        }
        self.agents.push((listener, heard));
    }
}
