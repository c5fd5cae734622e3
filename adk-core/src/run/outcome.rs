//! How a run ended.

use crate::model::Usage;
use crate::session::Session;
use crate::{Error, ErrorKind, Path, Result, RunId};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::sync::Arc;

/// A finished run.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Outcome<T> {
    /// What the workflow declared as its output.
    pub output: T,
    /// Each loop that ended, in the order in which they did.
    pub loops: Vec<LoopEnd>,
    /// Tokens and model calls of all agents together.
    pub usage: Usage,
    /// The run.
    pub run_id: RunId,
    pub(crate) session: Arc<Session>,
}

impl<T> Outcome<T> {
    /// The value of a state key as it is now; `None` when it was never written.
    ///
    /// # Errors
    /// When the value is not of that type.
    pub fn get<V: DeserializeOwned>(&self, key: &str) -> Result<Option<V>> {
        let Some(value) = self.session.get(key) else { return Ok(None) };
        V::deserialize(&*value).map(Some).map_err(|error| {
            let message = format!("state key `{key}` holds a value of another type: {error}");
            Error::new(ErrorKind::KeyType, message)
        })
    }

    /// The session that the run worked on.
    pub fn session(&self) -> &Arc<Session> {
        &self.session
    }
}

/// A loop that ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct LoopEnd {
    /// The path of the loop, without its own round.
    pub path: Path,
    /// How many rounds were begun.
    pub rounds: u32,
    /// Why it ended.
    pub reason: LoopEndReason,
}

/// Why a loop ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum LoopEndReason {
    /// It had run its most rounds.
    Max,
    /// Its `until` key was true.
    Until,
    /// A `break`.
    Break,
    /// An agent ended it.
    Escalated {
        /// The path of that agent.
        by: Path,
    },
}

/// A value that a paused run waits for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Waiting {
    /// What to answer by.
    pub id: String,
    /// The run.
    pub run_id: RunId,
    /// Who waits.
    pub path: Path,
}
